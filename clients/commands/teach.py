"""`galloon teach`: corrections in bulk, for rounds that a daemon has answered a minute or a month ago."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from galloon.clients.api.errors import FormatError, Refused
from galloon.clients.api.stream import CombineStream
from galloon.clients.commands.server_option import ServerOption, connection_options, failing_well
from galloon.clients.commands.teach_documents import teach_folder
from galloon.clients.formats.utterances import read_utterances
from galloon.codec.answer import Lesson
from galloon.codec.feedback import Withdrawn
from galloon.learners.combiners.contract import TrueText

AHEAD = 64  # corrections on their way at once: many share one sync of the daemon's disk
SHOWN = 20  # refusals that are printed one by one
_PATH = click.Path(exists=True, allow_dash=True, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class Correction:
    """What is true of an utterance; None takes back what was taught."""

    id: str
    text: str | None


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

    CORRECTIONS has a line for each: JSON objects {"id": ..., "true_text": ...}, or an id, a tab and the text. With
    --replace a JSON line {"id": ..., "withdrawn": true} takes back what was taught. Every round of the daemon's
    history can be taught, in any order; what it knows already changes nothing, so the same file may be sent again.

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
            wanted = list(read_corrections(corrections))
        outcomes, refused = asyncio.run(_teach_all(server, learner, wanted, replace, as_json))
    if as_json:
        click.echo(json.dumps({**outcomes, "refused": refused}, ensure_ascii=False))
    else:
        for utterance_id, why in list(refused.items())[:SHOWN]:
            click.echo(f"{utterance_id}: {why}", err=True)
        told = ", ".join(f"{outcomes[kind]:,} {kind}" for kind in ("learned", "amended", "known already"))
        click.echo(f"{len(wanted):,} corrections: {told}, {len(refused):,} refused")
    if refused:
        raise SystemExit(1)


def read_corrections(path: Path) -> Iterator[Correction]:
    """One of each line, of either form."""
    with click.open_file(str(path), encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield _correction(line.rstrip("\r\n"))
                except ValueError as problem:
                    raise FormatError(str(path), number, str(problem)) from problem


def edited_lines(edited: Path, utterances: Path, combined: Path | None) -> list[Correction]:
    """A correction of each utterance by its line; only of those that differ from `combined`, if it is given."""
    ids = [utterance.id for utterance in read_utterances(utterances)]
    texts = _lines(edited, len(ids), utterances)
    before = [None] * len(ids) if combined is None else _lines(combined, len(ids), utterances)
    return [
        Correction(id_, text)
        for id_, text, was in zip(ids, texts, before, strict=True)
        if was is None or was != text
    ]


def _lines(path: Path, count: int, utterances: Path) -> list[str]:
    with click.open_file(str(path), encoding="utf-8") as file:
        lines = [line.rstrip("\r\n") for line in file]
    if len(lines) != count:
        raise FormatError(
            str(path),
            None,
            f"{len(lines):,} lines, but {utterances} has {count:,} utterances: edit lines, but never add, join "
            "or remove one",
        )
    return lines


def _correction(line: str) -> Correction:
    if not line.lstrip().startswith("{"):
        utterance_id, tab, text = line.partition("\t")
        if not tab or not utterance_id:
            raise ValueError("neither a JSON object nor an id, a tab and a text")
        return Correction(utterance_id, text)
    found: dict[str, object] = json.loads(line)
    name, true_text = found.get("id"), found.get("true_text")
    if not isinstance(name, str) or not name:
        raise ValueError('wants "id", a text')
    if found.get("withdrawn") is True:
        return Correction(name, None)
    if not isinstance(true_text, str):
        raise ValueError('wants "true_text", a text, or "withdrawn": true')  # noqa: TRY004  # of a file
    return Correction(name, true_text)


async def _teach_all(
    server: ServerOption, learner: str, wanted: list[Correction], replace: bool, quiet: bool
) -> tuple[Counter[str], dict[str, str]]:
    outcomes: Counter[str] = Counter()
    refused: dict[str, str] = {}
    columns = (TextColumn("teaching"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as progress:
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
                        refused[each.id] = str(answer)
                    else:
                        raise answer
                progress.advance(bar, len(some))
    return outcomes, refused


async def _send(stream: CombineStream, correction: Correction, replace: bool) -> "asyncio.Future[Lesson]":
    feedback = Withdrawn() if correction.text is None else TrueText(correction.text)
    return await stream.send_feedback(correction.id, feedback, replace=replace)


def _outcome(lesson: Lesson) -> str:
    return "known already" if lesson.repeated_answer else "amended" if lesson.amended else "learned"
