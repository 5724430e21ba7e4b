"""The results of a replay for people: `show` prints the table, and the sentences that go with it."""

from rich.console import Console
from rich.table import Table

from galloon.clients.replay.names import GALLOON
from galloon.clients.replay.results import Results
from galloon.clients.scores.systems import SystemScores
from galloon.learners.evaluation.bootstrap import Interval
from galloon.learners.unit import Unit

ENGINES_SHOWN = 16
NAMES = {"vote": "majority vote", "uniform": "random engine per slot", GALLOON: GALLOON}


def show(results: Results, console: Console) -> None:
    """Print everything that fits on a screen."""
    console.print(_table(results))
    console.print(_facts(results))


def comparison(first: str, second: str, interval: Interval, unit: Unit) -> str:
    """One sentence on a paired difference."""
    points = f"{unit.metric.upper()} {interval.value:+.2f} points"
    verdict = "" if interval.excludes_zero else "; it may be chance"
    between = f"95 % interval {interval.low:+.2f} to {interval.high:+.2f}"
    return f"{first} against {second}: {points}, {between}{verdict}"


def system_row(system: SystemScores, unit: Unit, shown: str | None = None) -> tuple[str, ...]:
    """Name, rates, kinds of error, interval."""
    errors, interval = system.total(unit), system.interval(unit)
    return (
        shown or system.name,
        f"{system.wer:.2f}",
        f"{system.cer:.2f}",
        f"{errors.insertions:,}",
        f"{errors.deletions:,}",
        f"{errors.substitutions:,}",
        f"{interval.low:.2f} – {interval.high:.2f}",
    )


def score_table(title: str, unit: Unit) -> Table:
    """An empty table for `system_row`s."""
    table = Table(title=title, title_justify="left", pad_edge=False)
    table.add_column("")
    kind = unit.plural
    for heading in ("WER", "CER", "ins", "del", "sub", f"95 % of {unit.metric.upper()}"):
        table.add_column(heading, justify="right")
    table.caption = f"percent; insertions, deletions and substitutions count {kind}"
    table.caption_justify = "left"
    return table


def _table(results: Results) -> Table:
    unit = results.unit
    scored = f"{len(results.scored):,} utterances"
    table = score_table(f"{results.file}: {scored}, unit {unit}, normalizer {results.normalizer}", unit)
    # Of hundreds those that ran most often: the others are in --json.
    most = sorted(results.engines.values(), key=lambda system: -system.runs)[:ENGINES_SHOWN]
    for system in results.engines.values() if len(results.engines) <= ENGINES_SHOWN else most:
        table.add_row(*system_row(system, unit))
    if len(results.engines) > len(most):
        table.add_row(f"and {len(results.engines) - len(most):,} engines that ran less often", style="dim")
    table.add_section()
    shown = [results.vote, *results.mbr.values(), *results.galloon.values()]
    if any(played.told_little for played in results.runs.values()):
        shown.insert(0, results.uniform)  # where a learner that is told little begins
    for system in shown:
        style = "bold" if system.name == GALLOON else None
        table.add_row(*system_row(system, unit, NAMES.get(system.name)), style=style)
    table.add_section()
    for name, oracle in results.oracles.items():
        table.add_row(name, f"{oracle.wer:.2f}", f"{oracle.cer:.2f}", "", "", "", "", style="dim")
    return table


def _facts(results: Results) -> str:
    played, best = results.played, results.best_engine
    statistics, spec = played.statistics, played.opened.spec
    lines = [
        comparison(GALLOON, "the vote", results.against(results.vote), results.unit),
        comparison(GALLOON, f"the best engine ({best.name})", results.against(best), results.unit),
    ]
    gain = f"learner {spec.algorithm}: gain {played.gain:,.1f}"
    if statistics.regret is not None:
        gain += f", regret {statistics.regret:,.1f}"
    elif statistics.regret_estimate is not None:
        gain += f", regret (estimated) {statistics.regret_estimate:,.1f}"
    if statistics.bound is not None:
        gain += f", bound {statistics.bound:,.1f} ({statistics.guarantee})"
    elif statistics.guarantee:
        gain += f", guarantee {statistics.guarantee}"
    if played.opened.lessons:
        gain += f", after {played.opened.lessons:,} lessons before this file"
    rate = len(played.rounds) / max(1e-9, played.seconds)
    lines += [gain, f"{played.seconds:.1f} s, {rate:,.0f} utterances a second, learning included"]
    return "\n".join(lines)
