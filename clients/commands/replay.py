"""`galloon replay`: play a file to a daemon, line by line, and show what learning was worth."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from galloon.clients.api.client import Client
from galloon.clients.api.errors import WrongUsage
from galloon.clients.commands.learner_options import learner_options
from galloon.clients.commands.local_daemon import reached
from galloon.clients.commands.options import OutputFile
from galloon.clients.commands.server_option import ServerOption, failing_well, own_daemon_options
from galloon.clients.replay.material import Input, Material, read_material
from galloon.clients.replay.session import Order, Session, replay_session
from galloon.learners.paths.protocol import Setting

_OUT = OutputFile()


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@learner_options
@click.option(
    "--also",
    multiple=True,
    type=click.Choice([s.value for s in Setting]),
    help="Play the file in this setting too, by another learner, to compare. Repeatable.",
)
@click.option(
    "--input",
    "most",
    type=click.Choice([entry.value for entry in Input]),
    default=Input.LATTICE.value,
    show_default=True,
    help="How much of what each engine said is sent.",
)
@click.option("--limit", type=click.IntRange(1), help="Play the first so many utterances.")
@click.option(
    "--state", type=_OUT, help="Go on with the learner in this file, if it is there, and write it back."
)
@own_daemon_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--report", type=_OUT, help="Write an HTML page with curves and alignments.")
@click.option("--plot", type=_OUT, help="Write the learning curves as PNG or SVG, by the ending.")
@click.option("--by", default="domain", show_default=True, help="Field that divides the report into parts.")
@click.option("--explain", metavar="ID", help="Say why each token of this utterance was chosen.")
def replay(
    file: Path,
    given: dict[str, Any],
    also: tuple[str, ...],
    most: str,
    limit: int | None,
    state: Path | None,
    name: str | None,
    server: ServerOption | None,
    as_json: bool,
    report: Path | None,
    plot: Path | None,
    by: str,
    explain: str | None,
) -> None:
    """Play an utterance FILE (JSON lines with true texts): predict, then learn, line by line.

    Each line is combined by a daemon before its true text is shown to it, as in real use from a cold start. The
    table compares every engine, the majority vote and galloon. Without --server a daemon is started for the run.

    \b
    Examples:
      galloon replay lines.jsonl
      galloon replay lines.jsonl --labels domain --report lines.html
      galloon replay monday.jsonl --state press.galloon && galloon replay tuesday.jsonl --state press.galloon
      galloon replay lines.jsonl --setting bandit --plot curve.png
    """  # noqa: D301  # the command line library wants the character itself
    with failing_well():
        if name is not None and server is None:
            raise WrongUsage(
                "--learner: a daemon started for this run keeps no learners; name one with --server"
            )
        if name is not None and state is not None:
            raise WrongUsage("--state and --learner both say where the learner is: give one of them")
        _check_ending(plot)
        with reached(server) as client:
            material = read_material(file, given.get("engines", ()), limit, Input(most))
            _tell_notes(file, material)
            order = Order(
                *(material, given, also, state, name),
                shared=server is not None,
                alternatives=report is not None,
                explained=explain,
            )
            if explain is not None and all(entry.id != explain for entry in material.utterances):
                raise WrongUsage(f"--explain {explain}: no utterance of {file} has this id")
            session = asyncio.run(_play(client, order))
        # Only now: scoring needs compiled code, and the daemon was warming up its own meanwhile.
        from galloon.clients.replay.results import score_runs

        spec = session.spec
        results = score_runs(str(file), session.utterances, spec, session.runs)
        if report is not None:
            from galloon.clients.report.page import write_report

            write_report(results, by, report)
        if plot is not None:
            from galloon.clients.replay.curve_plot import plot_curves

            plot_curves(results, plot)
    if as_json:
        from galloon.clients.replay.summary import summary

        print(json.dumps(summary(results, by, explain), ensure_ascii=False, allow_nan=False))
        return
    from galloon.clients.commands.explanation_view import show_explanation
    from galloon.clients.replay.table import show

    console = Console()
    show(results, console)
    if explain is not None:
        show_explanation(explain, results.explanation_of(explain), console)
        for what, value in results.played.statistics.extra.items():  # whatever the learner tells of itself
            console.print(f"{what.replace('_', ' ')}: {value}", highlight=False)
    for what, path in (("report", report), ("curves", plot), ("learner", state)):
        if path is not None:
            console.print(f"{what}: {path}", highlight=False)


async def _play(connect: Callable[[], Client], order: Order) -> Session:
    async with connect() as client:
        return await play_with_progress(client, order)


async def play_with_progress(client: Client, order: Order) -> Session:
    """Play what was ordered, with a progress bar where somebody looks."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    quiet = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=quiet, transient=True) as progress:
        total = len(order.material.utterances) * (1 + len(order.also))
        task = progress.add_task("predict, then learn", total=total)
        return await replay_session(client, order, lambda: progress.advance(task))


def _tell_notes(file: Path, material: Material) -> None:
    for note in material.notes:
        click.echo(f"{file}: {note}", err=True)


def _check_ending(plot: Path | None) -> None:
    if plot is not None and plot.suffix not in {".png", ".svg"}:
        raise WrongUsage(f"--plot {plot}: the name must end in .png or .svg")
