"""`galloon combine`: files of several engines in, one text out. No truth is needed, and nothing is taught.

The learner is a new one, which trusts all engines alike, or one that has learned: from a file (--state), or on a
daemon (--server and --name).
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import click
from rich.console import Console

from galloon.clients.api.client import Client
from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.bulk.pools import processes, ray_tasks
from galloon.clients.commands.combine_documents import (
    DocumentJob,
    are_documents,
    are_speech,
    combine_documents,
    matched_utterances,
    sources_of,
)
from galloon.clients.commands.combine_lattices import check_lines, combine_by_risk, lattice_writer
from galloon.clients.commands.estimates import estimates_table
from galloon.clients.commands.explanation_view import explanation_to_json, show_explanation
from galloon.clients.commands.learner_options import check_spec, learner_options, spec_for
from galloon.clients.commands.local_daemon import reached
from galloon.clients.commands.options import OutputPlace
from galloon.clients.commands.server_option import ServerOption, failing_well, own_daemon_options
from galloon.clients.commands.temporary_learner import temporary_learner
from galloon.clients.documents.combining import READ_TWICE
from galloon.clients.documents.matching import MatchSettings
from galloon.clients.documents.page_images import PageImages
from galloon.clients.documents.sources import engine_names, waiting_sources
from galloon.clients.documents.writers import DOCUMENT_WRITERS, document_writer
from galloon.clients.formats.combined_lattice import LATTICE_FORMATS, LatticeWriter
from galloon.clients.formats.gathering import EngineInput, Gathered, Join, gather
from galloon.clients.formats.registry import FORMATS
from galloon.clients.formats.symbols import read_symbols
from galloon.clients.replay.material import same_experts, shown_to_learner
from galloon.clients.report.offers import choice_line
from galloon.codec.answer import Choice, joined_choice
from galloon.codec.explanation import Explanation
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.documents.cutting import LONGEST, pieces
from galloon.learners.observation import Utterance
from galloon.learners.saved_learner import read_saved

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
    type=click.Choice(["match", *(entry.value for entry in Join)]),
    help="Lines belong together by place, time and words (match), by their ids, or by their order. "
    "Default: match, or id where the files are lines with ids, alternatives or lattices.",
)
@click.option(
    "--to",
    "target_format",
    type=click.Choice([*(entry.name for entry in DOCUMENT_WRITERS), *LATTICE_FORMATS]),
    default="text",
    show_default=True,
    help="Format to write pages and recordings in. Of lines joined by id or order: text, or the combined lattices "
    "as HTK SLF (lattice) or for OpenFst (openfst), into the folder of -o.",
)
@click.option(
    "--mbr",
    is_flag=True,
    help="No learner: the words of least expected error (minimum Bayes risk) of all engines' lattices together.",
)
@click.option(
    "--images",
    type=click.Path(exists=True, path_type=Path),
    help="Page images for --to pdf: a folder with images named as the pages, or one file.",
)
@click.option(
    "--text-from",
    metavar="ENGINE",
    help="Take this engine's words as they are, and only places and times of the others.",
)
@click.option(
    "--order-from", metavar="ENGINE", help="Read lines in this engine's order. Else: as most agree."
)
@click.option(
    "--targets",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of true texts, by stem: teach each after its page is combined.",
)
@click.option(
    "--watch",
    is_flag=True,
    help="Go on with what comes into the folders, page by page, until Ctrl-C. Needs -o.",
)
@click.option("--whole", is_flag=True, help="Make one line of each file first.")
@click.option(
    "--longest",
    type=click.IntRange(128, 2048),
    default=LONGEST,
    show_default=True,
    help="Cut lines of more than twice so many tokens where engines agree, and join what comes out.",
)
@click.option("--symbols", type=_FILE, help="Symbol table of lattices whose labels are numbers.")
@learner_options
@click.option("--state", type=_FILE, help="Combine with the learner in this file, as replay saves it.")
@own_daemon_options
@click.option(
    "-o",
    "--output",
    type=OutputPlace(),
    help="A file, or a folder for many documents. Else: standard output.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line, tokens included.")
@click.option("--explain", is_flag=True, help="Say of each token why it was chosen.")
@click.option(
    "--report",
    is_flag=True,
    help="Say at the end, on standard error, how good each engine seems to be, who copies whom, and what dropping "
    "one would cost. No truth is needed.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Combine one large JSON lines file with so many processes; goes on where a killed run was. Needs -o.",
)
@click.option(
    "--ray",
    metavar="ADDRESS",
    help="The same on a Ray cluster that sees the files: its address, auto (the one here) or local (a new one).",
)
def combine(
    inputs: tuple[str, ...],
    source_format: str,
    join: str | None,
    target_format: str,
    mbr: bool,
    images: Path | None,
    text_from: str | None,
    order_from: str | None,
    targets: Path | None,
    watch: bool,
    whole: bool,
    longest: int,
    symbols: Path | None,
    given: dict[str, Any],
    state: Path | None,
    name: str | None,
    server: ServerOption | None,
    output: Path | None,
    as_json: bool,
    explain: bool,
    report: bool,
    workers: int | None,
    ray: str | None,
) -> None:
    """Combine what several OCR or ASR engines made of pages or recordings into one text.

    Each INPUT is a file in any known format, or a folder with a file per page; NAME= says which engine it is.
    Files of different folders belong together by their stems. Lines are brought together by where they stand,
    when they were said, and what they say.

    \b
    Examples:
      galloon combine eng=eng.tsv deu=deu.hocr cloud=page.xml
      galloon combine eng=out/eng/ deu=out/deu/ cloud=out/cloud/ -o combined/ --to alto
      galloon combine boxes=tess.tsv vlm=model.md --text-from vlm --images scan.png --to pdf -o scan.pdf
      galloon combine whisper.json vosk.json --to srt -o talk.srt
      galloon combine lines.jsonl --state press.galloon --json
      galloon combine archive.jsonl --workers 8 -o archive.txt
    """  # noqa: D301  # the command line library wants the character itself
    with failing_well():
        if name is not None and (server is None or state is not None):
            raise WrongUsage("--learner is for a learner on the daemon of --server, and excludes --state")
        if workers is not None or ray is not None:
            if server is not None or explain or targets is not None or whole or join not in (None, "id"):
                raise WrongUsage(
                    "--workers and --ray combine by themselves: leave out --server, --explain, --targets, --whole "
                    "and --join"
                )
            if workers is not None and ray is not None:
                raise WrongUsage("--workers is for this machine, --ray for a cluster: choose one")
            _combine_bulk(inputs, given, state, output, as_json, longest, workers, ray)
            return
        engine_inputs = [EngineInput.parse(text) for text in inputs]
        format_name = None if source_format == "auto" else source_format
        if join is None:
            documents = watch or (not whole and are_documents(engine_inputs, format_name))
            join = "match" if documents else Join.ID.value
        if watch:
            _check_watch(engine_inputs, output, join, as_json or explain)
        check_lines(target_format, mbr, join, output, as_json or explain or report)
        table = None if symbols is None else read_symbols(symbols)
        if mbr:
            gathered = gather(
                engine_inputs, format_name=format_name, join=Join(join), whole=whole, symbols=table
            )
            _tell_notes(gathered)
            combine_by_risk(gathered, given, output)
            return
        with reached(server) as connect:
            if join == "match":
                if watch:  # folders may still be empty
                    sources = tuple(waiting_sources(engine_inputs))
                    experts = tuple(engine_names(engine_inputs))
                else:
                    sources = sources_of(engine_inputs, given.get("engines", ()))
                    experts = tuple(dict.fromkeys(engine for source in sources for engine in source.files))
                writer = document_writer(target_format)
                if writer.needs_images and images is None:
                    raise WrongUsage(f"--to {target_format} needs the page images: give --images FOLDER")
                for option, engine in (("--text-from", text_from), ("--order-from", order_from)):
                    if engine is not None and engine not in experts:
                        raise WrongUsage(f"{option} {engine}: the engines are {', '.join(experts)}")
                if text_from is not None and (targets is not None or as_json or explain):
                    raise WrongUsage(
                        "--text-from chooses nothing: it excludes --targets, --json and --explain"
                    )
                job = DocumentJob(
                    sources,
                    experts,
                    MatchSettings(format_name, order_from, symbols=table),
                    writer,
                    output,
                    any(entry.path.is_dir() for entry in engine_inputs),
                    targets,
                    {
                        "inputs": inputs,
                        "to": target_format,
                        "from": order_from,
                        "state": state,
                        "given": given,
                        "images": images,
                        "text": text_from,
                    },
                    None if images is None else PageImages(images),
                    text_from,
                    tuple(engine_inputs) if watch else (),
                )
                if not as_json and not explain:
                    order = _Order(
                        *((), experts, given, state, name, as_json, explain, server is not None, longest),
                        report,
                        are_speech(sources, format_name),
                    )
                    try:
                        raise SystemExit(asyncio.run(_combine_documents(connect, order, job)))
                    except KeyboardInterrupt:
                        if watch:  # the only way to end it
                            raise SystemExit(0) from None
                        raise
                utterances = matched_utterances(job)
            else:
                gathered = gather(
                    engine_inputs, format_name=format_name, join=Join(join), whole=whole, symbols=table
                )
                _tell_notes(gathered)
                utterances, experts = same_experts(gathered.utterances, given.get("engines", ()))
            if not utterances:
                raise FormatError(inputs[0], None, "there are no lines in it")
            order = _Order(
                utterances, experts, given, state, name, as_json, explain, server is not None, longest, report
            )
            if target_format in LATTICE_FORMATS and output is not None:
                lattices = LatticeWriter(output, target_format)
                asyncio.run(_combine(connect, replace(order, alternatives=True), lattice_writer(lattices)))
                lattices.close()
                return
            with click.open_file("-" if output is None else output, "w", encoding="utf-8") as file:
                asyncio.run(_combine(connect, order, _writer(file, as_json)))


def _combine_bulk(
    inputs: tuple[str, ...],
    given: dict[str, Any],
    state: Path | None,
    output: Path | None,
    as_json: bool,
    longest: int,
    workers: int | None,
    ray: str | None,
) -> None:
    """One large file of utterances, without a daemon."""
    from galloon.clients.bulk.run import combine_file  # late: it loads the learners, compiled code too

    path = Path(inputs[0])
    if len(inputs) != 1 or not path.is_file():
        raise WrongUsage("--workers and --ray take one file of JSON lines: make one with galloon convert")
    if output is None:
        raise WrongUsage("--workers and --ray write to a file: name it with -o")
    with ray_tasks(ray) if ray is not None else processes(workers or 1) as pool:
        count = combine_file(
            pool,
            path,
            output,
            partial(_bulk_spec, given, state),
            state=state,
            as_json=as_json,
            longest=longest,
            given=given,
        )
    click.echo(f"{count:,} lines in {output}", err=True)


def _bulk_spec(given: dict[str, Any], state: Path | None, engines: tuple[str, ...]) -> CombinerSpec:
    if state is None:
        chosen = given.get("engines") or engines
        return spec_for({"normalizer": "none", "decide": "best", **given}, chosen, ())
    spec = read_saved(state.read_bytes()).spec
    check_spec(given, spec, str(state))
    return spec


def _check_watch(inputs: list[EngineInput], output: Path | None, join: str, looked_at: bool) -> None:
    if join != "match" or looked_at or output is None or not all(entry.path.is_dir() for entry in inputs):
        raise WrongUsage(
            "--watch combines pages of folders into a folder: give folders and -o OUT/, without --json, --explain "
            "and --join"
        )


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
    longest: int
    report: bool
    speech: bool = False  # recordings


async def _combine_documents(connect: Callable[[], Client], order: _Order, job: DocumentJob) -> int:
    async with (
        connect() as client,
        temporary_learner(client, "combine", name=order.name, shared=order.shared) as name,
    ):
        status = await combine_documents(
            client, name, lambda: _learner(client, order, name), job, own=order.name is None
        )
        if order.report:
            await _report(client, name)
        return status


async def _combine(
    connect: Callable[[], Client],
    order: _Order,
    write: Callable[[Utterance, Choice, tuple[str, ...], Explanation | None], None],
) -> None:
    async with (
        connect() as client,
        temporary_learner(client, "combine", name=order.name, shared=order.shared) as name,
    ):
        create = await _learner(client, order, name)
        async with client.stream(name, create=create, alternatives=order.alternatives) as stream:
            opened = stream.opened
            utterances, _ = same_experts(order.utterances, opened.spec.engines)
            # A learner that has played before may know the same ids: they would get their old answers.
            mark = f"@{opened.rounds_started}" if opened.rounds_started else ""
            unit = opened.spec.unit
            cut = [
                pieces(shown_to_learner(u, u.id + mark, opened.spec.labels), unit, order.longest)
                for u in utterances
            ]
            if create is not None and not order.explain and len(cut) <= READ_TWICE:
                # A new learner reads all lines once, so that it knows the engines when it answers the first.
                first = (replace(piece, id=f"{piece.id}@first") for line in cut for piece in line)
                async for _ in stream.choose_each(first):
                    pass
            lines = zip(utterances, map(len, cut), strict=True)
            answered: list[Choice] = []
            utterance, wanted = next(lines)
            async for choice in stream.choose_each(piece for line in cut for piece in line):
                answered.append(choice)
                if order.explain:  # piece by piece
                    write(utterance, choice, opened.experts, await client.explain(name, choice.id))
                elif len(answered) == wanted:
                    write(utterance, joined_choice(answered), opened.experts, None)
                if len(answered) == wanted:
                    answered, (utterance, wanted) = [], next(lines, (utterance, 0))
        if order.report:
            await _report(client, name)


async def _report(client: Client, name: str) -> None:
    """What the learner estimates of each engine."""
    statistics = (await client.get_learner(name)).statistics
    table = None if statistics is None else estimates_table(statistics.extra)
    Console(stderr=True).print("nothing is estimated yet" if table is None else table)


async def _learner(client: Client, order: _Order, name: str) -> CombinerSpec | None:
    """The spec to create the learner from; None where it is there."""
    if order.state is not None:
        info = await client.import_learner(name, order.state.read_bytes())
        check_spec(order.given, info.spec, str(order.state))
        return None
    if order.name is not None:
        info = await client.get_learner(name)
        check_spec(order.given, info.spec, f"the daemon under the name {name}")
        return None
    # Nobody compares this text with a true one, or learns from it: as the engines wrote it, and nothing drawn. In
    # speech capitals and marks are no reason to call words different; they are shown as an engine wrote them.
    rule = "basic-speech" if order.speech else "none"
    return spec_for({"normalizer": rule, "decide": "best", **order.given}, order.experts, order.utterances)


def _writer(
    file: IO[str], as_json: bool
) -> Callable[[Utterance, Choice, tuple[str, ...], Explanation | None], None]:
    console = Console(file=file, highlight=False)

    def write(
        utterance: Utterance, choice: Choice, experts: tuple[str, ...], why: Explanation | None
    ) -> None:
        if as_json and why is None:
            file.write(choice_line(utterance.id, choice, experts))
        elif as_json and why is not None:
            # The id comes first and is the file's: on the daemon it may carry a mark.
            record = {"id": "", "text": choice.text, **explanation_to_json(why)} | {"id": utterance.id}
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
