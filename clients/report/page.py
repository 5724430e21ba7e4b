"""Puts the report together: `write_report`. The page, its style and its script lie beside this file."""

import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path

from galloon import __version__
from galloon.clients.replay.curves import learning_curves
from galloon.clients.replay.results import Results
from galloon.clients.replay.summary import domains
from galloon.clients.report import sections
from galloon.clients.report.chart import curve_chart
from galloon.clients.report.lines import lines


def write_report(results: Results, by: str, path: Path) -> None:
    """Write one HTML file; `by` is the label that divides utterances into domains."""
    path.write_text(report(results, by), encoding="utf-8")


def report(results: Results, by: str) -> str:
    """The page as text."""
    drawn, every = learning_curves(results), lines(results, by)
    systems = [system.name for system in results.systems]
    styles = sections.expert_styles(results.engines, (*systems, *every.experts))
    by_domain = domains(results, by)
    metric = results.metric.upper()
    title = Path(results.file).name
    parts = {
        "title": escape(title),
        "facts": sections.facts(results),
        "headline": sections.headline(results),
        "summary": sections.summary_table(results, styles),
        "guarantee": sections.guarantee(results),
        "rolling": curve_chart(drawn, "rolling", f"{metric} of the last {drawn.window} utterances", styles),
        "cumulative": curve_chart(drawn, "cumulative", f"{metric} of all utterances so far", styles),
        "metric": metric,
        "window": f"{drawn.window:,}",
        "off_scale": _off_scale(drawn.off_scale),
        "learning": sections.learning_table(results, styles),
        "by": escape(by),
        "domains": sections.domain_table(by_domain, results, by),
        "version": __version__,
        "style": _beside("page.css"),
        "script": _beside("page.js"),
        "data": _json(
            {
                "unit": results.unit.name,
                "engines": len(results.engines),
                "experts": every.experts,
                "styles": [styles[name] for name in every.experts],
                "domains": list(by_domain),
                "best": results.best_engine.name,
                "lines": every.records,
            }
        ),
    }
    # In one pass: whatever a file's texts hold, they are never searched for names again.
    return re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], _beside("page.html"))


def _off_scale(rates: Mapping[str, float]) -> str:
    if not rates:
        return ""
    listed = ", ".join(f"{sections.SHOWN.get(name, name)} {rate:.0f}" for name, rate in rates.items())
    return f"Off the scale: {escape(listed)}."


def _json(value: object) -> str:
    """Safe inside a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _beside(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
