"""What `galloon top` shows of a `Status`: a line on the daemon, a table of learners; `to_json` for programs.

Columns are dropped, the least important first, until the table fits the terminal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from galloon.clients.commands.learner_tables import in_bytes, statistics_to_json
from galloon.clients.top.status import Followed, Status
from galloon.codec.learner import Statistics

BLOCKS = "▁▂▃▄▅▆▇█"
BAR = 8
NOTHING = "-"


def view(status: Status, console: Console) -> RenderableType:
    """The whole screen."""
    lines: list[RenderableType] = [_headline(status)]
    if status.problem:
        lines.append(Text(f"no news: {status.problem}", style="bold red"))
    lines += [Text(), _table(status.learners, console)]
    hidden = status.learner_count - len(status.learners)
    if hidden > 0:
        lines.append(Text(f"and {hidden:,} more: --most shows more of them, --prefix chooses", style="dim"))
    return Group(*lines)


def to_json(status: Status) -> dict[str, Any]:
    return {
        "address": status.address,
        "learner_count": status.learner_count,
        "problem": status.problem,
        "latencies": {
            name: {"p50_s": latency.p50_s, "p99_s": latency.p99_s}
            for name, latency in status.latencies.items()
        },
        "learners": [
            {
                "name": followed.info.name,
                "algorithm": followed.info.spec.algorithm,
                "rounds_per_s": _rate(followed),
                "lessons_per_s": followed.lessons_rate,
                "statistics": None
                if followed.statistics is None
                else statistics_to_json(followed.statistics),
            }
            for followed in status.learners
        ],
    }


def _headline(status: Status) -> Text:
    rounds = sum(_rate(followed) or 0.0 for followed in status.learners)
    lessons = sum(followed.lessons_rate for followed in status.learners)
    streams = sum(now.streams for now in _known(status))
    line = Text.assemble(
        ("galloon ", "bold"),
        f"{status.address}   {status.learner_count:,} learners   {streams:,} streams   ",
        (f"{rounds:,.0f}", "bold"),
        " rounds/s   ",
        (f"{lessons:,.0f}", "bold"),
        " lessons/s",
    )
    for name, latency in status.latencies.items():
        line.append(f"   {name} ")
        line.append(_milliseconds(latency.p50_s), "bold")
        line.append(f" (p99 {_milliseconds(latency.p99_s)}) ms")
    return line


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table; the larger `rank`, the sooner it goes when the terminal is narrow."""

    title: str
    rank: int
    width: int
    cell: Callable[[Followed, Statistics], str | Text]
    right: bool = True


def _table(learners: Sequence[Followed], console: Console) -> RenderableType:
    if not learners:
        return Text("no learners yet: galloon learners create --help", style="dim")
    name_width = min(32, max(7, *(len(followed.info.name) for followed in learners)))
    columns = _columns_that_fit(console.width - name_width, fancy=_is_fancy(console))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("learner", no_wrap=True, max_width=name_width)
    for column in columns:
        table.add_column(column.title, justify="right" if column.right else "left", no_wrap=True)
    for followed in learners:
        now = followed.statistics
        cells = [NOTHING if now is None else column.cell(followed, now) for column in columns]
        table.add_row(followed.info.name, *cells)
    return table


def _columns_that_fit(width: int, *, fancy: bool) -> list[Column]:
    columns = [column for column in _COLUMNS if fancy or column.title != "trend"]
    while len(columns) > 1 and sum(column.width + 2 for column in columns) > width:
        columns.remove(max(columns, key=lambda column: column.rank))
    return columns


def _is_fancy(console: Console) -> bool:
    return "utf" in console.encoding.lower()


def _regret(_: Followed, now: Statistics) -> str:
    if now.regret is not None:
        return f"{now.regret:,.1f}"
    return NOTHING if now.regret_estimate is None else f"~{now.regret_estimate:,.1f}"


def _share(_: Followed, now: Statistics) -> Text:
    """How much of what the theorem allows has been used up."""
    regret = now.regret if now.regret is not None else now.regret_estimate
    if regret is None or not now.bound:
        return Text(NOTHING)
    share = max(0.0, regret / now.bound)
    full = min(BAR, round(share * BAR))
    colour = "green" if share < 0.5 else "yellow" if share <= 1.0 else "red"
    return Text.assemble(("#" * full, colour), ("." * (BAR - full), "dim"), f" {100 * share:4.0f}%")


def _trend(followed: Followed, _: Statistics) -> str:
    rates = list(followed.rounds_rates)
    most = max(rates, default=0.0)
    if most <= 0:
        return ""
    return "".join(BLOCKS[min(len(BLOCKS) - 1, int(rate / most * len(BLOCKS)))] for rate in rates)


def _error_rate(_: Followed, now: Statistics) -> str:
    rate = now.error_rates.get("galloon")
    return NOTHING if rate is None or rate.wer is None else f"{rate.wer:.2f}"


def _best_engine(_: Followed, now: Statistics) -> str:
    rates = [
        (rate.wer, name)
        for name, rate in now.error_rates.items()
        if name != "galloon" and rate.wer is not None
    ]
    return f"{min(rates)[0]:.2f} {min(rates)[1]}" if rates else NOTHING


def _rate(followed: Followed) -> float | None:
    return followed.rounds_rates[-1] if followed.rounds_rates else None


def _rate_text(followed: Followed, _: Statistics) -> str:
    rate = _rate(followed)
    return NOTHING if rate is None else f"{rate:,.0f}"


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.2f}" if seconds < 0.01 else f"{1000 * seconds:.0f}"


def _known(status: Status) -> list[Statistics]:
    return [followed.statistics for followed in status.learners if followed.statistics is not None]


_COLUMNS = (
    Column("algorithm", 6, 16, lambda followed, _: followed.info.spec.algorithm, right=False),
    Column("rounds", 0, 10, lambda _, now: f"{now.rounds_started:,}"),
    Column("per s", 1, 7, _rate_text),
    Column("trend", 9, 24, _trend, right=False),
    Column("pending", 5, 7, lambda _, now: f"{now.rounds_pending:,}"),
    Column("gain/lesson", 4, 11, lambda _, now: f"{now.gain / now.lessons:.3f}" if now.lessons else NOTHING),
    Column("regret", 2, 10, _regret),
    Column("bound", 8, 10, lambda _, now: NOTHING if now.bound is None else f"{now.bound:,.1f}"),
    Column("of the bound", 3, 14, _share, right=False),
    Column("WER %", 7, 6, _error_rate),
    Column("best engine", 12, 16, _best_engine, right=False),
    Column("state", 11, 8, lambda _, now: in_bytes(now.state_bytes)),
    Column("journal", 13, 8, lambda _, now: f"{now.journal_entries:,}"),
    Column("streams", 10, 7, lambda _, now: f"{now.streams:,}"),
)
