"""`galloon convert`: engine outputs from any known format into another, mostly into utterance files."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click

from galloon.clients.api.errors import ClientError, FormatError
from galloon.clients.commands.options import OutputFile
from galloon.clients.formats.gathering import EngineInput, Gathered, Join, gather
from galloon.clients.formats.limits import DEFAULT_LIMITS, ReadLimits
from galloon.clients.formats.notes import Note
from galloon.clients.formats.registry import FORMATS, read_file
from galloon.clients.formats.symbols import read_symbols
from galloon.clients.formats.writers import WRITERS, Writer, write_file, writer_named
from galloon.learners.observation import Utterance


@click.command()
@click.argument("inputs", nargs=-1, metavar="[NAME=]INPUT...")
@click.option(
    "--from",
    "source_format",
    type=click.Choice(["auto", *(entry.name for entry in FORMATS)]),
    default="auto",
    show_default=True,
    help="Format of the inputs; auto looks into each file.",
)
@click.option(
    "--to",
    "target_format",
    type=click.Choice([entry.name for entry in WRITERS]),
    default="utterances",
    show_default=True,
    help="Format to write.",
)
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    help="File to write. Else: standard output.",
)
@click.option(
    "--join",
    type=click.Choice([entry.value for entry in Join]),
    default=Join.ID.value,
    show_default=True,
    help="Whether lines of different engines belong together by their ids or by their order.",
)
@click.option(
    "--whole", is_flag=True, help="Make one line of each file, where engines cut a recording differently."
)
@click.option("--expert", help="Write only this engine. Needed for text and ctm if there are several.")
@click.option(
    "--targets",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="True texts, one a line, in order.",
)
@click.option(
    "--symbols",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Symbol table (words.txt) of lattices whose labels are numbers.",
)
@click.option(
    "--limit",
    "raised",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Raise a limit of the readers. Repeatable.",
)
@click.option("--formats", "list_formats", is_flag=True, help="List the formats and leave.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print a report for programs on standard output; needs -o."
)
def convert(
    inputs: tuple[str, ...],
    source_format: str,
    target_format: str,
    output: Path | None,
    join: str,
    whole: bool,
    expert: str | None,
    targets: Path | None,
    symbols: Path | None,
    raised: tuple[str, ...],
    list_formats: bool,
    as_json: bool,
) -> None:
    """Convert what OCR and ASR engines wrote, and bring several engines together.

    Each INPUT is a file, or a folder with a file per line of text; NAME= says which engine it comes from,
    else the file's name does. What a reader could not use is said on standard error.

    \b
    Examples:
      galloon convert page.hocr --to text
      galloon convert eng=eng.tsv deu=deu.tsv -o page.jsonl
      galloon convert a=engine_a/ b=engine_b/ --targets true.txt -o lines.jsonl.gz
      galloon convert whisper.json vosk.json --whole -o talk.jsonl
    """  # noqa: D301  the command line library wants the character itself
    if list_formats:
        _print_formats(as_json)
        return
    if not inputs:
        raise click.UsageError("no INPUT is given")
    if as_json and output is None:
        raise click.UsageError(
            "--json prints the report on standard output, so the data needs a file: -o FILE"
        )
    writer = writer_named(target_format)
    limits = _limits(raised)
    try:
        gathered = gather(
            [EngineInput.parse(text) for text in inputs],
            format_name=None if source_format == "auto" else source_format,
            join=Join(join),
            whole=whole,
            limits=limits,
            symbols=None if symbols is None else read_symbols(symbols, limits),
        )
        utterances = _with_targets(_of_expert(gathered.utterances, expert, writer), targets, limits)
        write_file(writer, utterances, output)
    except ClientError as problem:
        raise click.ClickException(str(problem)) from problem
    except BrokenPipeError:
        raise  # as in `failing_well`
    except OSError as problem:
        raise click.ClickException(f"{output}: cannot be written: {problem.strerror}") from problem
    _report(gathered, utterances, output, target_format, as_json)


def _of_expert(utterances: tuple[Utterance, ...], expert: str | None, writer: Writer) -> list[Utterance]:
    names = dict.fromkeys(output.name for utterance in utterances for output in utterance.outputs)
    if expert is not None:
        if expert not in names:
            raise click.UsageError(f"no engine is called {expert!r}; there are {', '.join(names)}")
        return [
            replace(utterance, said=tuple(entry for entry in utterance.outputs if entry.name == expert))
            for utterance in utterances
        ]
    if writer.one_engine and len(names) > 1:
        raise click.UsageError(f"{writer.name} holds one engine: choose with --expert {'|'.join(names)}")
    return list(utterances)


def _with_targets(utterances: list[Utterance], targets: Path | None, limits: ReadLimits) -> list[Utterance]:
    if targets is None:
        return utterances
    texts = [output.text for output in read_file(targets, "text", limits=limits).outputs.values()]
    if len(texts) != len(utterances):
        what = f"{len(texts)} true texts for {len(utterances)} utterances"
        raise FormatError(str(targets), None, what, "write one text a line, in the order of the utterances")
    return [replace(entry, target=text) for entry, text in zip(utterances, texts, strict=True)]


def _limits(raised: tuple[str, ...]) -> ReadLimits:
    known = {field.name for field in fields(ReadLimits)}
    changes = {}
    for text in raised:
        name, _, number = text.partition("=")
        if name not in known or not number.isdecimal() or int(number) < 1:
            raise click.UsageError(
                f"--limit {text}: write NAME=NUMBER with one of {', '.join(sorted(known))}"
            )
        changes[name] = int(number)
    return replace(DEFAULT_LIMITS, **changes)


def _report(
    gathered: Gathered, utterances: list[Utterance], output: Path | None, target_format: str, as_json: bool
) -> None:
    if as_json:
        report = {
            "output": str(output),
            "format": target_format,
            "utterances": len(utterances),
            "files": [
                {
                    "file": entry.file,
                    "format": entry.format,
                    "expert": entry.expert,
                    "lines": entry.lines,
                    "words": entry.words,
                    "notes": [_note_to_json(note) for note in entry.notes],
                }
                for entry in gathered.files
            ],
            "notes": [_note_to_json(note) for note in gathered.notes],
        }
        click.echo(json.dumps(report, ensure_ascii=False))
        return
    for entry in gathered.files:
        for note in entry.notes:
            click.echo(f"{entry.file}: {note}", err=True)
    for note in gathered.notes:
        click.echo(str(note), err=True)
    if output is not None:
        lines = sum(entry.lines for entry in gathered.files)
        found = ", ".join(dict.fromkeys(entry.format for entry in gathered.files))
        click.echo(f"{output}: {len(utterances)} utterances from {lines} lines ({found})", err=True)


def _note_to_json(note: Note) -> dict[str, Any]:
    return {"what": note.what, "count": note.count, "first_line": note.first_line}


def _print_formats(as_json: bool) -> None:
    if as_json:
        table = {
            "read": [{"name": f.name, "title": f.title, "patterns": list(f.patterns)} for f in FORMATS],
            "write": [{"name": w.name, "title": w.title} for w in WRITERS],
        }
        click.echo(json.dumps(table))
        return
    click.echo("Read (--from):")
    for entry in FORMATS:
        click.echo(f"  {entry.name:<14} {entry.title} ({' '.join(entry.patterns)})")
    click.echo("Write (--to):")
    for writer in WRITERS:
        click.echo(f"  {writer.name:<14} {writer.title}")
