"""The files of several engines, brought together into utterances: `gather`.

Each input is an engine: a file, or a folder with a file per line of text. Lines of different engines are
joined by their ids, or by their order; with `whole`, each file becomes one long line first, for recognisers
that cut a recording at different places. An utterance file among the inputs brings its own engines, targets
and labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.limits import DEFAULT_LIMITS, ReadLimits
from galloon.clients.formats.notes import Note, NoteBook
from galloon.clients.formats.registry import detect, format_named, format_of
from galloon.clients.formats.sample import sample_of_file
from galloon.clients.formats.source import open_source, stem_of
from galloon.clients.formats.utterances import NAME as UTTERANCES
from galloon.clients.formats.utterances import read_utterances, sniff_utterances
from galloon.learners.observation import ExpertOutput, Utterance

WHOLE_ID = "document"


class Join(StrEnum):
    """How lines of different engines find each other."""

    ID = "id"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class EngineInput:
    """One engine and where its outputs lie. Without a name, the file's is taken."""

    path: Path
    expert: str | None = None

    @classmethod
    def parse(cls, text: str) -> "EngineInput":
        """`NAME=PATH`, or a path alone (also one that has a = in it and exists)."""
        name, sign, path = text.partition("=")
        if not sign or not name or Path(text).exists():
            return cls(Path(text))
        return cls(Path(path), name)


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file."""

    file: str
    format: str
    expert: str
    lines: int
    words: int
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """The utterances of all inputs together, a report per file, and remarks about the joining."""

    utterances: tuple[Utterance, ...]
    files: tuple[FileReport, ...]
    notes: tuple[Note, ...]


@dataclass(slots=True)
class _Line:
    """One line of one engine, or one utterance of an utterance file."""

    outputs: tuple[ExpertOutput, ...]
    target: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Engine:
    """The lines of all files of one input name."""

    name: str
    lines: dict[str, _Line] = field(default_factory=dict)


def gather(
    inputs: Sequence[EngineInput],
    *,
    format_name: str | None = None,
    join: Join = Join.ID,
    whole: bool = False,
    limits: ReadLimits = DEFAULT_LIMITS,
    symbols: Mapping[str, str] | None = None,
) -> Gathered:
    """Read all inputs and join their lines."""
    book = NoteBook(limits.notes)
    by_name: dict[str, list[Path]] = {}
    divided = set()  # engines with a file per line: the file's name is in the line's id
    for entry in inputs:
        name = entry.expert or stem_of(str(entry.path))
        if entry.path.is_dir() or name in by_name:
            divided.add(name)
        by_name.setdefault(name, []).extend(_files_of(entry.path, format_name))
    engines, reports = [], []
    for name, paths in by_name.items():
        engine = _Engine(name)
        for path in paths:
            prefix = stem_of(str(path)) if name in divided else ""
            reports.append(_read_into(engine, path, prefix, format_name, whole, limits, symbols, book))
        engines.append(engine)
    joined = _by_order(engines) if join is Join.ORDER else _by_id(engines, book)
    return Gathered(tuple(joined), tuple(reports), book.notes())


def _files_of(path: Path, format_name: str | None) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith("."))
    if not files:
        raise FormatError(str(path), None, "the folder holds no files")
    pages: dict[str, list[Path]] = {}
    for file in files:
        pages.setdefault(stem_of(str(file)), []).append(file)
    return [file for page in pages.values() for file in _one_format(path, page, format_name)]


def _one_format(folder: Path, page: list[Path], format_name: str | None) -> list[Path]:
    """An engine may have written one page in several formats, which must not become several pages."""
    if len(page) == 1:
        return page
    found = {file: format_of(sample_of_file(file)) for file in page}
    names = {file: entry.name for file, entry in found.items() if entry is not None}
    if len(set(names.values())) <= 1 and len(names) in {0, len(page)}:
        return page
    chosen = [file for file, name in names.items() if name == format_name]
    if chosen:
        return chosen
    there = ", ".join(f"{file.name} ({names.get(file, 'unknown')})" for file in page)
    raise FormatError(
        str(folder),
        None,
        f"it holds one page in several formats: {there}",
        f"read one of them, for example with --from {next(iter(names.values()))}, or move the others away",
    )


def _read_into(
    engine: _Engine,
    path: Path,
    prefix: str,
    format_name: str | None,
    whole: bool,
    limits: ReadLimits,
    symbols: Mapping[str, str] | None,
    book: NoteBook,
) -> FileReport:
    # Utterance files are streamed and may be larger than what is read whole: recognised by their beginning.
    is_utterances = (
        sniff_utterances(sample_of_file(path)) if format_name is None else format_name == UTTERANCES
    )
    lines: dict[str, _Line]
    chosen = format_named(UTTERANCES)
    if is_utterances:
        own = NoteBook(limits.notes)
        found = read_utterances(path, limits=limits, notes=own)
        lines = {entry.id: _Line(entry.outputs, entry.target, entry.labels) for entry in found}
        notes = own.notes()
    else:
        source = open_source(path, limits)
        source.symbols = symbols
        chosen = detect(source) if format_name is None else format_named(format_name)
        result = chosen.read(source)
        outputs = {key: _renamed(output, engine.name) for key, output in result.outputs.items()}
        notes = result.notes
        if whole and outputs:
            outputs = {WHOLE_ID: _concatenated(engine.name, tuple(outputs.values()), book)}
        lines = {key: _Line((output,)) for key, output in outputs.items()}
    for key, line in lines.items():
        name = key if not prefix else prefix if len(lines) == 1 else f"{prefix}/{key}"
        if name in engine.lines:
            raise FormatError(str(path), None, f"the line {name!r} of {engine.name} is there already")
        engine.lines[name] = line
    words = sum(len(output.words) for line in lines.values() for output in line.outputs)
    return FileReport(str(path), chosen.name, engine.name, len(lines), words, notes)


def _renamed(output: ExpertOutput, name: str) -> ExpertOutput:
    return replace(output, name=name)


def _concatenated(name: str, outputs: tuple[ExpertOutput, ...], book: NoteBook) -> ExpertOutput:
    if len(outputs) == 1:
        return outputs[0]
    if any(output.nbest or output.lattice is not None for output in outputs):
        book.add("alternatives of single lines left out, as the lines were made one")
    return ExpertOutput(name, tuple(word for output in outputs for word in output.words))


def _by_order(engines: list[_Engine]) -> list[Utterance]:
    counts = {engine.name: len(engine.lines) for engine in engines}
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise FormatError(
            found.partition(" ")[0], None, f"lines cannot be joined by order: {found}", "join by id"
        )
    rows = zip(*(engine.lines.items() for engine in engines), strict=True)
    return [_utterance(row[0][0], [line for _, line in row]) for row in rows]


def _by_id(engines: list[_Engine], book: NoteBook) -> list[Utterance]:
    ids = dict.fromkeys(key for engine in engines for key in engine.lines)
    if len(engines) > 1 and not any(all(key in engine.lines for engine in engines) for key in ids):
        book.add("no line id is shared by all inputs: join by order, or make whole documents")
    utterances = []
    for key in ids:
        present = [engine.lines[key] for engine in engines if key in engine.lines]
        for engine in engines:
            if key not in engine.lines:
                book.add(f"line without an output of {engine.name}")
        utterances.append(_utterance(key, present))
    return utterances


def _utterance(key: str, lines: Sequence[_Line]) -> Utterance:
    outputs = {output.name: output for line in lines for output in line.outputs}
    target = next((line.target for line in lines if line.target is not None), None)
    labels = {name: value for line in lines for name, value in line.labels.items()}
    return Utterance(key, tuple(outputs.values()), target, labels)
