"""Alert rules: valid, tested one by one by Prometheus's own tool, and each says what to do."""

import subprocess

from tests.deploy.real_prometheus import DEPLOY
from tests.deploy.yaml_file import read_yaml
from tests.system import needs

FOLDER = DEPLOY / "prometheus"


def promtool(*arguments: str) -> None:
    done = subprocess.run(["promtool", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs("promtool")
def test_the_configuration_and_its_rules_are_valid():
    promtool("check", "config", "--lint-fatal", "prometheus.yml")


@needs("promtool")
def test_the_unit_tests_of_the_rules_pass():
    promtool("test", "rules", "galloon.rules.test.yml")


@needs("python3")
def test_every_alert_fires_in_a_unit_test_and_has_a_name_for_what_is_wrong_and_what_to_do():
    (rules,) = read_yaml(FOLDER / "galloon.rules.yml")
    (tests,) = read_yaml(FOLDER / "galloon.rules.test.yml")
    alerts = [rule for group in rules["groups"] for rule in group["rules"] if "alert" in rule]
    fired = {
        case["alertname"] for test in tests["tests"] for case in test["alert_rule_test"] if case["exp_alerts"]
    }
    assert {alert["alert"] for alert in alerts} == fired
    for alert in alerts:
        assert alert["annotations"].keys() == {"summary", "description"}, alert["alert"]
        assert alert["labels"]["severity"] in {"critical", "warning", "info"}, alert["alert"]
