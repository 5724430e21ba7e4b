"""Compose file and Kubernetes manifests: they parse, fit the image and the daemon, and give away no rights."""

import re
from typing import Any

import pytest

from galloon.daemon.config import KNOWN
from galloon.daemon.http.server import OPEN_PATHS
from tests.deploy.real_prometheus import DEPLOY
from tests.deploy.yaml_file import read_yaml
from tests.system import needs

pytestmark = needs("python3")
DOCKERFILE = (DEPLOY.parent / "Dockerfile").read_text(encoding="utf-8")


def compose() -> dict[str, Any]:
    (found,) = read_yaml(DEPLOY / "compose.yaml")
    return found


def manifests() -> dict[tuple[str, str], dict[str, Any]]:
    """All resources of the kustomization, by kind and name."""
    (customization,) = read_yaml(DEPLOY / "kubernetes" / "kustomization.yaml")
    listed = set(customization["resources"])
    there = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")} - {"kustomization.yaml"}
    assert listed == there
    found = [entry for name in sorted(listed) for entry in read_yaml(DEPLOY / "kubernetes" / name)]
    return {(entry["kind"], entry["metadata"]["name"]): entry for entry in found}


def daemon_options(names: list[str]) -> set[str]:
    """Variables GALLOON_<SECTION>_<KEY> as options."""
    return {"{}.{}".format(*name.removeprefix("GALLOON_").lower().split("_", 1)) for name in names}


def test_variables_of_image_compose_and_pod_are_options_of_the_daemon():
    pod = manifests()["StatefulSet", "galloon"]["spec"]["template"]["spec"]["containers"][0]
    names = [*re.findall(r"\b(GALLOON_\w+)=", DOCKERFILE), *compose()["services"]["galloon"]["environment"]]
    names += [entry["name"] for entry in pod["env"]]
    assert len(names) > 5
    assert daemon_options(names) <= KNOWN.keys()


@pytest.mark.parametrize("service", ["galloon", "prometheus", "grafana"])
def test_compose_publishes_on_loopback_alone_and_drops_all_rights(service: str):
    found = compose()["services"][service]
    assert all(port.startswith("127.0.0.1:") for port in found["ports"])
    assert found["cap_drop"] == ["ALL"]
    assert found["security_opt"] == ["no-new-privileges:true"]


def test_compose_mounts_files_that_exist_and_keeps_data_in_volumes():
    found = compose()
    for service in found["services"].values():
        for mount in service["volumes"]:
            source = mount.split(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in found["volumes"], mount
    daemon = found["services"]["galloon"]
    assert daemon["read_only"] is True
    assert "galloon-data:/data" in daemon["volumes"]
    assert "VOLUME /data" in DOCKERFILE


def test_the_pod_runs_as_the_user_of_the_image_with_a_read_only_root_and_no_rights():
    spec = manifests()["StatefulSet", "galloon"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    user, group = re.search(r"^USER (\d+):(\d+)$", DOCKERFILE, re.MULTILINE).groups()
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == int(user)
    assert spec["securityContext"]["runAsGroup"] == spec["securityContext"]["fsGroup"] == int(group)
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_probes_ask_paths_that_need_no_token_on_ports_that_the_image_opens():
    (container,) = manifests()["StatefulSet", "galloon"]["spec"]["template"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    exposed = re.search(r"^EXPOSE (.+)$", DOCKERFILE, re.MULTILINE)[1].split()
    assert sorted(map(str, ports.values())) == exposed
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["path"] in OPEN_PATHS
        assert asked["port"] in ports


def test_every_selector_finds_the_pod_and_every_mount_its_volume():
    everything = manifests()
    workload = everything["StatefulSet", "galloon"]["spec"]
    labels = workload["template"]["metadata"]["labels"]
    selectors = [
        workload["selector"]["matchLabels"],
        everything["Service", "galloon"]["spec"]["selector"],
        everything["Service", "galloon-pods"]["spec"]["selector"],
        everything["NetworkPolicy", "galloon"]["spec"]["podSelector"]["matchLabels"],
        everything["PodMonitor", "galloon"]["spec"]["selector"]["matchLabels"],
    ]
    assert all(selector.items() <= labels.items() for selector in selectors)
    assert ("Service", workload["serviceName"]) in everything
    spec = workload["template"]["spec"]
    volumes = {volume["name"] for volume in spec["volumes"]}
    volumes |= {claim["metadata"]["name"] for claim in workload["volumeClaimTemplates"]}
    assert {mount["name"] for mount in spec["containers"][0]["volumeMounts"]} == volumes


def test_the_network_policy_lets_nothing_out_and_names_who_comes_in():
    policy = manifests()["NetworkPolicy", "galloon"]["spec"]
    assert sorted(policy["policyTypes"]) == ["Egress", "Ingress"]
    assert policy["egress"] == []
    assert all(rule["from"] and rule["ports"] for rule in policy["ingress"])


def test_the_monitor_scrapes_the_http_port_under_the_job_that_the_alerts_name():
    (endpoint,) = manifests()["PodMonitor", "galloon"]["spec"]["podMetricsEndpoints"]
    assert (endpoint["port"], endpoint["path"]) == ("http", "/metrics")
    assert {"targetLabel": "job", "replacement": "galloon"} in endpoint["relabelings"]


def test_grafana_finds_its_data_source_and_its_dashboard():
    (sources,) = read_yaml(DEPLOY / "grafana" / "provisioning" / "datasources" / "prometheus.yml")
    (providers,) = read_yaml(DEPLOY / "grafana" / "provisioning" / "dashboards" / "galloon.yml")
    grafana = compose()["services"]["grafana"]
    assert sources["datasources"][0]["url"] == "http://prometheus:9090"
    path = providers["providers"][0]["options"]["path"]
    assert f"./grafana/galloon.json:{path}/galloon.json:ro" in grafana["volumes"]
