"""Learners for people and for programs: `listing` and `details` as tables, `learner_to_json` as an object."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.table import Table

from galloon.clients.commands.estimates import ESTIMATES
from galloon.codec.learner import LearnerInfo, Statistics
from galloon.learners.combiners.spec import CombinerSpec


def learner_to_json(learner: LearnerInfo) -> dict[str, Any]:
    """Everything that is known, error rates in percent."""
    value: dict[str, Any] = {
        "name": learner.name,
        "spec": json.loads(learner.spec.to_json()),
        "experts": list(learner.experts),
    }
    if learner.daemon:
        value["daemon"] = learner.daemon
    if learner.statistics is not None:
        value |= {
            "statistics": statistics_to_json(learner.statistics),
            "digest": learner.digest,
            "state_digest": learner.state_digest,
        }
    return value


def statistics_to_json(statistics: Statistics) -> dict[str, Any]:
    value = asdict(statistics)
    value["error_rates"] = {
        name: {"wer": rate.wer, "cer": rate.cer, **asdict(rate)}
        for name, rate in statistics.error_rates.items()
    }
    return value


def listing(learners: Iterable[LearnerInfo]) -> Table:
    """One line each; whose they are is shown where several daemons are asked about."""
    shown = list(learners)
    several = any(learner.daemon for learner in shown)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in (
        "name",
        *(("daemon",) if several else ()),
        "algorithm",
        "gain",
        "setting",
        "unit",
        "experts",
    ):
        table.add_column(column, overflow="fold")
    for learner in shown:
        spec = learner.spec
        experts = ", ".join(learner.experts) if learner.experts else "(explicit automaton)"
        whose = (learner.daemon or "nobody's now",) if several else ()
        words = (spec.algorithm, gain_in_words(spec), spec.setting or "own", spec.unit.name)
        table.add_row(learner.name, *whose, *words, experts)
    return table


def details(learner: LearnerInfo) -> Table:
    """One learner, a line for each figure; what is not known is left out."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    spec = learner.spec
    rows: list[tuple[str, Any]] = [
        ("name", learner.name),
        ("algorithm", f"{spec.algorithm}, {spec.setting or 'its own'} setting, decide {spec.decide}"),
        ("gain", gain_in_words(spec)),
        ("unit", f"{spec.unit}, normalizer {spec.normalizer}, windows of {spec.window}"),
        ("experts", ", ".join(learner.experts) or "(explicit automaton)"),
    ]
    if learner.statistics is not None:
        rows += _standing(learner.statistics)
        rows += [("digest", learner.digest), ("state digest", learner.state_digest)]
    for name, value in rows:
        table.add_row(name, str(value))
    return table


def gain_in_words(spec: CombinerSpec) -> str:
    fields = ", ".join(f"{name}={value}" for name, value in spec.gain.items() if name != "kind")
    return f"{spec.gain['kind']}({fields})" if fields else str(spec.gain["kind"])


def in_bytes(size: float) -> str:
    """12.3 MB and the like."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _standing(now: Statistics) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = [
        (
            "rounds",
            f"{now.rounds_started:,} ({now.rounds_pending:,} pending, {now.rounds_expired:,} expired)",
        ),
        ("lessons", f"{now.lessons:,}"),
        ("gain", f"{now.gain:,.2f}"),
    ]
    for name, value in (
        ("regret", now.regret),
        ("regret, estimated", now.regret_estimate),
        ("bound", now.bound),
    ):
        if value is not None:
            rows.append((name, f"{value:,.2f}"))
    if now.guarantee:
        rows.append(("guarantee", now.guarantee))
    age = "" if now.snapshot_age_s is None else f", {now.snapshot_age_s:,.0f} s old"
    rows += [
        ("A", f"{now.expert_states:,} states, {now.expert_transitions:,} transitions"),
        ("A'", f"{now.context_states:,} states, {now.context_transitions:,} transitions"),
        ("state", in_bytes(now.state_bytes)),
        ("journal", f"{now.journal_entries:,} entries since the last snapshot"),
        ("snapshot", f"{in_bytes(now.snapshot_bytes)}{age}" if now.snapshot_bytes else "none yet"),
        ("streams", now.streams),
    ]
    for name, entry in (now.extra.get("changes") or {}).items():
        said = f"{entry['times']:.0f} times, last noticed at lesson {entry['last_lesson']:,.0f}"
        rows.append((f"change in the errors of {name}", said))
    for name, entry in (now.extra.get(ESTIMATES) or {}).items():
        said = f"{entry['error_rate']:.2f} % of words ({entry['low']:.2f} to {entry['high']:.2f})"
        copies = f", copies {entry['repeats']}" if entry["repeats"] else ""
        said += f", dropping it costs {entry['dropping_costs']:+.2f}{copies}"
        rows.append((f"estimate of {name}, without any truth", said))
    for name, rate in now.error_rates.items():
        if rate.wer is not None and rate.cer is not None:
            part = (
                f", in {rate.corrections:,} of {now.lessons:,} lessons"
                if rate.corrections < now.lessons
                else ""
            )
            said = f"{rate.wer:.2f} % of words, {rate.cer:.2f} % of characters{part}"
            rows.append((f"errors of {name}", said))
    return rows
