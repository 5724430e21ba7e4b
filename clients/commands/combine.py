"""`galloon combine`: files of several engines in, one text out. No truth is needed, and nothing is taught.

The learner is a new one, which trusts all engines alike, or one that has learned: from a file (--state), or on a
daemon (--server and --name).
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click
from rich.console import Console

from galloon.clients.api.client import GalloonClient
from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.commands.explanation_view import explanation_to_json, show_explanation
from galloon.clients.commands.learner_options import check_spec, learner_options, spec_for
from galloon.clients.commands.local_daemon import reached
from galloon.clients.commands.options import OutputFile
from galloon.clients.commands.server_option import Reach, failing_well, own_daemon_options
from galloon.clients.commands.temporary_learner import guest_learner
from galloon.clients.formats.gathering import EngineInput, Gathered, Join, gather
from galloon.clients.formats.registry import FORMATS
from galloon.clients.formats.symbols import read_symbols
from galloon.clients.replay.material import same_experts, shown_to_learner
from galloon.clients.report.offers import offers_to_json
from galloon.codec.answer import Choice
from galloon.codec.explanation import Explanation
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("inputs", nargs=-1, required=True, metavar="[NAME=]INPUT...")
@click.option(
    "--from",
    "source_format",
    type=click.Choice(["auto", *(entry.name for entry in FORMATS)]),
    default="auto",
    show_default=True,
    help="Format of the inputs; auto looks into each file.",
)
@click.option(
    "--join",
    type=click.Choice([entry.value for entry in Join]),
    default=Join.ID.value,
    show_default=True,
    help="Whether lines of different engines belong together by their ids or by their order.",
)
@click.option("--whole", is_flag=True, help="Make one line of each file first.")
@click.option("--symbols", type=_FILE, help="Symbol table of lattices whose labels are numbers.")
@learner_options
@click.option("--state", type=_FILE, help="Combine with the learner in this file, as replay saves it.")
@click.option("--name", help="With --server: combine with the learner of this name.")
@own_daemon_options
@click.option("-o", "--output", type=OutputFile(), help="Else: standard output.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line, tokens included.")
@click.option("--explain", is_flag=True, help="Say of each token why it was chosen.")
def combine(
    inputs: tuple[str, ...],
    source_format: str,
    join: str,
    whole: bool,
    symbols: Path | None,
    given: dict[str, Any],
    state: Path | None,
    name: str | None,
    reach: Reach | None,
    output: Path | None,
    as_json: bool,
    explain: bool,
) -> None:
    """Combine what several OCR or ASR engines wrote into one text, a line a line.

    Each INPUT is a file in any known format, or a folder with a file per line; NAME= says which engine it is.

    \b
    Examples:
      galloon combine eng=eng.tsv deu=deu.tsv
      galloon combine whisper.json vosk.json --whole
      galloon combine lines.jsonl --state press.galloon --json
    """  # noqa: D301  # the command line library wants the character itself
    with failing_well():
        if name is not None and (reach is None or state is not None):
            raise WrongUsage("--name is for a learner on the daemon of --server, and excludes --state")
        with reached(reach) as connect:
            gathered = gather(
                [EngineInput.parse(text) for text in inputs],
                format_name=None if source_format == "auto" else source_format,
                join=Join(join),
                whole=whole,
                symbols=None if symbols is None else read_symbols(symbols),
            )
            _tell_notes(gathered)
            utterances, experts = same_experts(gathered.utterances, given.get("experts", ()))
            if not utterances:
                raise FormatError(inputs[0], None, "there are no lines in it")
            order = _Order(utterances, experts, given, state, name, as_json, explain, reach is not None)
            with click.open_file("-" if output is None else output, "w", encoding="utf-8") as file:
                asyncio.run(_combine(connect, order, _writer(file, as_json)))


@dataclass(frozen=True, slots=True)
class _Order:
    utterances: tuple[Utterance, ...]
    experts: tuple[str, ...]
    given: dict[str, Any]
    state: Path | None
    name: str | None
    alternatives: bool
    explain: bool
    shared: bool


async def _combine(
    connect: Callable[[], GalloonClient],
    order: _Order,
    write: Callable[[Utterance, Choice, tuple[str, ...], Explanation | None], None],
) -> None:
    async with (
        connect() as client,
        guest_learner(client, "combine", name=order.name, shared=order.shared) as name,
    ):
        create = await _learner(client, order, name)
        async with client.stream(name, create=create, alternatives=order.alternatives) as stream:
            opened = stream.opened
            utterances, _ = same_experts(order.utterances, opened.spec.experts)
            # A learner that has played before may know the same ids: they would get their old answers.
            mark = f"@{opened.rounds_started}" if opened.rounds_started else ""
            questions = (shown_to_learner(u, u.id + mark, opened.spec.labels) for u in utterances)
            place = 0
            async for choice in stream.choose_each(questions):
                why = await client.explain(name, choice.id) if order.explain else None
                write(utterances[place], choice, opened.experts, why)
                place += 1


async def _learner(client: GalloonClient, order: _Order, name: str) -> CombinerSpec | None:
    """The spec to create the learner from; None where it is there."""
    if order.state is not None:
        info = await client.import_learner(name, order.state.read_bytes())
        check_spec(order.given, info.spec, str(order.state))
        return None
    if order.name is not None:
        info = await client.get_learner(name)
        check_spec(order.given, info.spec, f"the daemon under the name {name}")
        return None
    # Nobody compares this text with a true one, or learns from it: as the engines wrote it, and nothing drawn.
    return spec_for({"normalizer": "none", "decide": "best", **order.given}, order.experts, order.utterances)


def _writer(
    file: IO[str], as_json: bool
) -> Callable[[Utterance, Choice, tuple[str, ...], Explanation | None], None]:
    console = Console(file=file, highlight=False)

    def write(
        utterance: Utterance, choice: Choice, experts: tuple[str, ...], why: Explanation | None
    ) -> None:
        if as_json:
            # The id comes first and is the file's: on the daemon it may carry a mark.
            record: dict[str, Any] = {"id": utterance.id, "text": choice.text}
            record |= (
                {"slots": offers_to_json(choice, experts)}
                if why is None
                else {**explanation_to_json(why), "id": utterance.id}
            )
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
        elif why is not None:
            show_explanation(utterance.id, why, console)
        else:
            file.write(choice.text + "\n")

    return write


def _tell_notes(gathered: Gathered) -> None:
    for entry in gathered.files:
        for note in entry.notes:
            click.echo(f"{entry.file}: {note}", err=True)
    for note in gathered.notes:
        click.echo(str(note), err=True)
