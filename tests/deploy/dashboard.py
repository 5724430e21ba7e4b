"""The dashboard as tests see it: its panels, and its expressions with Grafana's variables filled in."""

import json
from typing import Any

from tests.deploy.real_prometheus import DEPLOY

DASHBOARD = DEPLOY / "grafana" / "galloon.json"
VARIABLES = {"$__rate_interval": "1m", "$window": "5m", "$instance": ".+", "$learner": ".+"}


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return found


def panels() -> list[dict[str, Any]]:
    """All that show data."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def expressions() -> list[tuple[str, str]]:
    """Title of the panel and expression, for each query of each panel."""
    found = []
    for panel in panels():
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in VARIABLES.items():
                expression = expression.replace(name, value)
            found.append((panel["title"], expression))
    return found
