"""`galloon teach`: corrections in bulk, for rounds that a daemon has answered a minute or a month ago."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from galloon.clients.api.errors import AlreadyExists, Refused
from galloon.clients.api.stream import CombineStream
from galloon.clients.commands.server_option import ServerOption, connection_options, failing_well
from galloon.clients.commands.teach_documents import teach_folder
from galloon.clients.formats.corrections import Correction, edited_lines, read_corrections
from galloon.codec.answer import Lesson
from galloon.codec.feedback import Withdrawn
from galloon.learners.combiners.contract import TrueText

AHEAD = 64  # corrections on their way at once: many share one sync of the daemon's disk
SHOWN = 20  # refusals that are printed one by one
_PATH = click.Path(exists=True, allow_dash=True, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("learner")
@click.argument("corrections", type=_PATH)
@click.option(
    "--lines-of",
    type=_FILE,
    metavar="UTTERANCES",
    help="CORRECTIONS is plain text with a line for each utterance of this file, as combine wrote it, edited.",
)
@click.option(
    "--changed-from",
    type=_FILE,
    metavar="COMBINED",
    help="With --lines-of: teach only lines that differ from this file, which combine wrote. Default: all lines.",
)
@click.option(
    "--replace", is_flag=True, help="Put these in the place of other feedback that was given before."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
@connection_options
def teach(
    learner: str,
    corrections: Path,
    lines_of: Path | None,
    changed_from: Path | None,
    replace: bool,
    as_json: bool,
    server: ServerOption,
) -> None:
    """Teach LEARNER true texts by the ids of utterances that it has answered.

    CORRECTIONS has a line for each: JSON objects {"id": ..., "true_text": ...}, or an id, a tab and the text; - is
    standard input. With --replace a JSON line {"id": ..., "withdrawn": true} takes back what was taught. Every
    round of the daemon's history can be taught, in any order; what it knows already changes nothing, so the same
    file may be sent again.

    Texts that were edited beside the combined ones are corrections too: of an utterance file with --lines-of, and
    of documents as a folder with a file for each, of any format, named like the document.

    \b
    Examples:
      galloon teach ocr/lines corrections.jsonl
      galloon teach ocr/lines corrections.tsv --replace
      galloon teach ocr/lines edited.txt --lines-of lines.jsonl.gz --changed-from combined.txt
      galloon teach ocr/pages corrected/
    """  # noqa: D301  # the command line library wants the character itself
    if changed_from is not None and lines_of is None:
        raise click.UsageError("--changed-from goes with --lines-of: whose lines are they?")
    if corrections.is_dir():
        if lines_of is not None or replace:
            raise click.UsageError("a folder of documents takes neither --lines-of nor --replace")
        teach_folder(learner, corrections, as_json, server)
        return
    with failing_well():
        if lines_of is not None:
            wanted = edited_lines(corrections, lines_of, changed_from)
        else:
            wanted = read_corrections(corrections)
        outcomes, refusals = asyncio.run(_teach_all(server, learner, wanted, replace, as_json))
    refused = {utterance_id: str(refusal) for utterance_id, refusal in refusals.items()}
    if as_json:
        click.echo(json.dumps({**outcomes, "refused": refused}, ensure_ascii=False))
    else:
        for utterance_id, why in list(refused.items())[:SHOWN]:
            click.echo(f"{utterance_id}: {why}", err=True)
        if len(refused) > SHOWN:
            click.echo(f"... and {len(refused) - SHOWN:,} more; --json lists all", err=True)
        if not replace and any(isinstance(refusal, AlreadyExists) for refusal in refusals.values()):
            click.echo("--replace puts these in the place of what was taught before", err=True)
        told = ", ".join(f"{outcomes[kind]:,} {kind}" for kind in ("learned", "amended", "known already"))
        click.echo(f"{len(wanted):,} corrections: {told}, {len(refused):,} refused")
    if refused:
        raise SystemExit(1)


async def _teach_all(
    server: ServerOption, learner: str, wanted: list[Correction], replace: bool, quiet: bool
) -> tuple[Counter[str], dict[str, Refused]]:
    outcomes: Counter[str] = Counter()
    refused: dict[str, Refused] = {}
    columns = (TextColumn("teaching"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        bar = progress.add_task("teaching", total=len(wanted))
        async with server.client() as client, client.stream(learner) as stream:
            for start in range(0, len(wanted), AHEAD):
                some = wanted[start : start + AHEAD]
                sent = [await _send(stream, each, replace) for each in some]
                for each, answer in zip(
                    some, await asyncio.gather(*sent, return_exceptions=True), strict=True
                ):
                    if isinstance(answer, Lesson):
                        outcomes[_outcome(answer)] += 1
                    elif isinstance(answer, Refused):
                        refused[each.id] = answer
                    else:
                        raise answer
                progress.advance(bar, len(some))
    return outcomes, refused


async def _send(stream: CombineStream, correction: Correction, replace: bool) -> "asyncio.Future[Lesson]":
    feedback = Withdrawn() if correction.text is None else TrueText(correction.text)
    return await stream.send_feedback(correction.id, feedback, replace=replace)


def _outcome(lesson: Lesson) -> str:
    return "known already" if lesson.repeated_answer else "amended" if lesson.amended else "learned"
