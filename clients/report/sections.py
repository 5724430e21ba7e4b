"""The parts of the report that need no script, as HTML: headline, tables, legend."""

from collections.abc import Iterable
from html import escape
from typing import Any

from galloon.clients.replay.curves import fifths
from galloon.clients.replay.names import GALLOON, UNIFORM, VOTE
from galloon.clients.replay.results import Results
from galloon.clients.scores.systems import SystemScores
from galloon.learners.combiners.spec import ALGORITHMS
from galloon.learners.evaluation.bootstrap import Interval

SHOWN = {VOTE: "majority vote", UNIFORM: "random engine per slot"}


def headline(results: Results) -> str:
    """The figures that a reader came for."""
    metric, unit = results.metric.upper(), results.unit
    best = results.best_engine
    cards = [
        _card(GALLOON, results.main, unit, "main"),
        _card("majority vote", results.vote, unit, ""),
        _card(f"best engine, {best.name}", best, unit, ""),
    ]
    sentences = [
        _sentence("the vote", results.vote, results.against(results.vote), results),
        _sentence(f"the best engine ({best.name})", best, results.against(best), results),
    ]
    note = f"{metric} in percent, with its 95 % interval"
    return f'<div class="cards">{"".join(cards)}</div><p class="note">{note}</p>{"".join(sentences)}'


def facts(results: Results) -> str:
    """What was played, in one line."""
    spec, played = results.played.opened.spec, results.played
    parts = [
        f"{len(results.scored):,} utterances",
        f"unit {spec.unit}",
        f"normalizer {spec.normalizer}",
        f"learner {spec.algorithm}",
        f"setting {spec.setting or ALGORITHMS[spec.algorithm].value}",
        f"decide {spec.decide}",
        f"seed {spec.seed}",
        f"{len(played.rounds) / max(1e-9, played.seconds):,.0f} utterances a second",
    ]
    if spec.labels:
        parts.insert(4, f"context {', '.join(spec.labels)}")
    if played.opened.lessons:
        parts.append(f"{played.opened.lessons:,} lessons before")
    return " · ".join(escape(part) for part in parts)


def summary_table(results: Results, styles: dict[str, str]) -> str:
    """All systems with their rates and kinds of error."""
    unit = results.unit
    rows = []
    for system in results.systems:
        errors, interval = system.total(unit), system.interval(unit)
        mark = ' class="main"' if system.name == GALLOON else ""
        rows.append(
            f'<tr{mark}><th scope="row"><i class="dot {styles[system.name]}"></i>'
            f"{escape(SHOWN.get(system.name, system.name))}</th>"
            + _cells(f"{system.wer:.2f}", f"{system.cer:.2f}")
            + _cells(f"{errors.insertions:,}", f"{errors.deletions:,}", f"{errors.substitutions:,}")
            + _cells(f"{interval.low:.2f}–{interval.high:.2f}")
            + "</tr>"
        )
    for name, oracle in results.oracles.items():
        rows.append(
            f'<tr class="faint"><th scope="row">{name}, in hindsight</th>'
            + _cells(f"{oracle.wer:.2f}", f"{oracle.cer:.2f}", "", "", "", "")
            + "</tr>"
        )
    heads = ("", "WER", "CER", "ins", "del", "sub", f"95 % of {results.metric.upper()}")
    return _table(heads, rows)


def learning_table(results: Results, styles: dict[str, str]) -> str:
    """The first and the last fifth of the file: what learning changed."""
    rows = []
    for system in (*results.galloon.values(), results.vote, results.best_engine, results.uniform):
        ends = fifths(system.of(results.unit))
        change = 100 * (ends.last - ends.first) / ends.first if ends.first else 0.0
        rows.append(
            f'<tr><th scope="row"><i class="dot {styles[system.name]}"></i>'
            f"{escape(SHOWN.get(system.name, system.name))}</th>"
            + _cells(f"{ends.first:.2f}", f"{ends.last:.2f}", f"{_signed(change, 0)} %")
            + "</tr>"
        )
    return _table((f"{results.metric.upper()} in the", "first fifth", "last fifth", "change"), rows)


def guarantee(results: Results) -> str:
    """Gain, regret and bound, where the learner knows them."""
    statistics, played = results.played.statistics, results.played
    pairs = [("gain", f"{played.gain:,.1f}")]
    if statistics.regret is not None:
        pairs.append(("regret", f"{statistics.regret:,.1f}"))
    if statistics.regret_estimate is not None:
        pairs.append(("regret, estimated", f"{statistics.regret_estimate:,.1f}"))
    if statistics.bound is not None:
        pairs.append(("bound on regret", f"{statistics.bound:,.1f}"))
    if statistics.guarantee:
        pairs.append(("guarantee", statistics.guarantee))
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in pairs)


def domain_table(domains: dict[str, dict[str, Any]], results: Results, by: str) -> str:
    """The rate of every system in each domain; the best one of each row is marked."""
    if not domains:
        return f'<p class="note">No utterance has the field {escape(by)}.</p>'
    # What a reader looks for stands first: a phone shows only a few columns.
    names = [*results.galloon, VOTE, *results.engines, UNIFORM]
    rows = []
    for value, row in domains.items():
        rates = row[results.metric]
        least = min(rates.values())
        cells = "".join(_domain_cell(rates[name], name, least) for name in names)
        rows.append(f'<tr><th scope="row">{escape(value)}</th><td>{row["utterances"]:,}</td>{cells}</tr>')
    return _table((by, "lines", *(SHOWN.get(name, name) for name in names)), rows)


def expert_styles(engines: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """A CSS class for every name: engines by their place, everything else by what it is."""
    styles = {name: f"e{place % 8 + 1}" for place, name in enumerate(engines)}
    fixed = {GALLOON: "galloon", VOTE: "vote", UNIFORM: "uniform"}
    for name in others:
        styles.setdefault(name, fixed.get(name, "beside" if name.startswith(GALLOON) else "derived"))
    return styles


def _card(name: str, system: SystemScores, unit: Any, kind: str) -> str:
    interval = system.interval(unit)
    return (
        f'<div class="card {kind}"><b>{system.total(unit).rate:.2f}</b><span>{_breakable(name)}</span>'
        f"<small>{interval.low:.2f} to {interval.high:.2f}</small></div>"
    )


def _sentence(name: str, other: SystemScores, interval: Interval, results: Results) -> str:
    base = other.total(results.unit).rate
    share = f"{100 * abs(interval.value) / base:.0f} % " if base else ""
    word = "fewer" if interval.value < 0 else "more"
    sure = "" if interval.excludes_zero else " This may be chance: the interval holds zero."
    return (
        f"<p>Galloon makes <b>{share}{word} errors</b> than {escape(name)}: {_signed(interval.value)} points, "
        f"95 % interval of the paired difference {_signed(interval.low)} to {_signed(interval.high)}.{sure}</p>"
    )


def _domain_cell(rate: float, name: str, least: float) -> str:
    marks = [mark for mark, on in (("best", rate == least), ("own", name == GALLOON)) if on]
    return f'<td class="{" ".join(marks)}">{rate:.1f}</td>' if marks else f"<td>{rate:.1f}</td>"


def _signed(value: float, digits: int = 2) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def _breakable(name: str) -> str:
    """Names of engines are one long word: let them break where people would."""
    return escape(name).replace("_", "_<wbr>")


def _cells(*texts: str) -> str:
    return "".join(f"<td>{text}</td>" for text in texts)


def _table(heads: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )
