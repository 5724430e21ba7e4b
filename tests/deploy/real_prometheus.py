"""A real Prometheus for tests: it scrapes one daemon every second, has the rules that are shipped, and answers."""

import json
import math
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.daemon_process import free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "galloon.rules.yml"
START_S = 60.0


class Prometheus:
    """`series` are the results of an expression now; `rules` all rules with what they last came to."""

    def __init__(self, address: str) -> None:
        self._base = f"http://{address}/api/v1"

    def series(self, expression: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._get("query", query=expression)["result"]
        return found

    def values(self, expression: str) -> list[float]:
        """Those that are numbers: a quantile of nothing is none."""
        return [v for v in (float(s["value"][1]) for s in self.series(expression)) if math.isfinite(v)]

    def rules(self) -> list[dict[str, Any]]:
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def _get(self, verb: str, **parameters: str) -> Any:
        url = f"{self._base}/{verb}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {json.load(error)['error']}") from error


@contextmanager
def running_prometheus(directory: Path, target: str) -> Iterator[Prometheus]:
    """A Prometheus that ends with the block."""
    config = directory / "prometheus.yml"
    # JSON is YAML.
    config.write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(RULES)],
                "scrape_configs": [{"job_name": "galloon", "static_configs": [{"targets": [target]}]}],
            }
        )
    )
    address = f"127.0.0.1:{free_port()}"
    command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory / 'tsdb'}"]
    with (directory / "prometheus.log").open("wb") as log:
        process = subprocess.Popen([*command, f"--web.listen-address={address}"], stdout=log, stderr=log)
    try:
        _wait_until_ready(address, process, directory / "prometheus.log")
        yield Prometheus(address)
    finally:
        process.kill()
        process.wait()


def _wait_until_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            urllib.request.urlopen(f"http://{address}/-/ready", timeout=5).close()
        except OSError:  # nobody there, or not ready yet (503)
            alive = process.poll() is None and time.monotonic() < deadline
            assert alive, f"Prometheus did not start: {log.read_text()}"
            time.sleep(0.1)
        else:
            return
