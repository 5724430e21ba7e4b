r"""Galloon's own files, JSON lines: `read_utterances`, `write_utterances`.

One utterance a line; UTF-8; a name ending in `.gz` is compressed:

    {"id": "7", "target": "so sober", "domain": "photo", "experts": {
        "tess": {"text": "so sober", "words": [{"w": "so", "conf": 0.96, "start": 115, "end": 146}, ...]},
        "ocrad": {"text": "s0 sober", "line_conf": 0.7},
        "sphinx": {"text": "...", "nbest": [{"text": "...", "score": -7.1}], "lattice": "lattices/7.slf.gz"}}}

`words` win if they spell `text`; lattice paths are relative to the file's folder and may not leave it.
Scalars beside `id` and `target` become labels. Files are streamed: memory holds one utterance at a time.
"""

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from galloon.clients.api.errors import FormatError, LimitExceeded
from galloon.clients.formats.encoding import check_encoding, decode
from galloon.clients.formats.lattice_files import read_lattice
from galloon.clients.formats.limits import DEFAULT_LIMITS, ReadLimits
from galloon.clients.formats.notes import NoteBook
from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import parse
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.slf_writer import LatticeFolder
from galloon.clients.formats.source import GZIP_MAGIC, Source
from galloon.clients.formats.utterance_json import expert_from_json, utterance_to_json
from galloon.learners.observation import Lattice, Utterance

NAME = "utterances"
_SLOTS = re.compile(r'"slots"\s*:\s*\[')  # inside a JSON text its quotes would be escaped


def read_utterances(
    path: str | Path,
    *,
    limits: ReadLimits = DEFAULT_LIMITS,
    notes: NoteBook | None = None,
    lattices: bool = True,
) -> Iterator[Utterance]:
    """The utterances of a file, in order. `notes` collects what could not be used."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            yield from utterances_of(
                file, str(path), path.parent, limits=limits, notes=notes, lattices=lattices
            )
    except OSError as problem:
        raise FormatError(str(path), None, f"cannot be read: {problem.strerror or problem}") from problem


def utterances_of(
    file: IO[bytes],
    name: str,
    folder: Path | None,
    *,
    limits: ReadLimits = DEFAULT_LIMITS,
    notes: NoteBook | None = None,
    lattices: bool = True,
) -> Iterator[Utterance]:
    """The utterances of an open file; without a `folder`, lattice paths are refused."""
    source = Source(name, b"", limits, notes if notes is not None else NoteBook(limits.notes), folder)
    seen: dict[str, int] = {}
    for at, line in _lines(file, source):
        utterance = utterance_of_line(line, source, at, lattices=lattices)
        if utterance.id in seen:
            raise source.error(at, f"the id {utterance.id!r} was used in line {seen[utterance.id]}")
        seen[utterance.id] = at
        yield utterance


def utterance_of_line(line: str, source: Source, at: int, *, lattices: bool = True) -> Utterance:
    """The utterance of one line of a file."""
    source.words_read = 0  # the limit is of one utterance: the file is a stream without end
    record = parse(line, source, at)
    if not isinstance(record, dict):
        raise source.error(at, "an utterance is a JSON object", 'such as {"id": "1", "experts": {}}')
    return _utterance(record, source, at, lattices=lattices)


def write_utterances(path: str | Path, utterances: Iterable[Utterance]) -> int:
    """Write a file, compressed if its name ends in `.gz`; gives the number of utterances.

    Lattices are written beside it as SLF, in `<name>.lattices/<expert>/<id>.slf.gz`.
    """
    path = Path(path)
    lattices = LatticeFolder(path)
    count = 0
    # No time stamp and no file name in the gzip header: equal utterances make equal bytes.
    with path.open("wb") as raw, _compressed(raw, path) as file:
        for utterance in utterances:
            paths = {
                output.name: lattices.write(output.name, utterance.id, output.lattice)
                for output in utterance.outputs
                if output.lattice is not None
            }
            record = utterance_to_json(utterance, paths)
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n")
            count += 1
    return count


def utterance_lines(utterances: Iterable[Utterance]) -> Iterator[str]:
    """The lines of a file without lattices, for standard output."""
    for utterance in utterances:
        yield json.dumps(utterance_to_json(utterance), ensure_ascii=False, allow_nan=False) + "\n"


def sniff_utterances(sample: Sample) -> bool:
    known = '"experts"' in sample.text and '"id"' in sample.text
    return sample.is_json and known and not sniff_combined(sample)


def sniff_combined(sample: Sample) -> bool:
    """What `galloon combine --json` prints: a text, and slots whose offers name experts. It holds no engines."""
    return sample.is_json and '"text"' in sample.text and _SLOTS.search(sample.text) is not None


def read_utterance_outputs(source: Source) -> ReadResult:
    """All outputs of a file under `id/expert`, for those who treat every format alike."""
    lines = Lines(source)
    found = utterances_of(
        io.BytesIO(source.data), source.name, source.folder, limits=source.limits, notes=source.notebook
    )
    for utterance in found:
        for output in utterance.outputs:
            lines.add(f"{utterance.id}/{output.name}", output)
    return lines.result(NAME)


def _compressed(raw: IO[bytes], path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)  # type: ignore[return-value]  # an IO in all we use
    return raw


def _lines(file: IO[bytes], source: Source) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers, within the limits."""
    limits = source.limits
    magic = file.read(2)
    file.seek(0)
    stream: Any = gzip.GzipFile(fileobj=file) if magic == GZIP_MAGIC else file
    total = at = 0
    while True:
        at += 1
        try:
            line = stream.readline(limits.line_bytes + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
            raise source.error(
                at, f"damaged gzip data: {problem}", "copy or make the file again"
            ) from problem
        if not line:
            return
        if at == 1:
            check_encoding(line, source.name, only_utf8=True)
        total += len(line)
        if len(line) > limits.line_bytes:
            raise LimitExceeded(source.name, at, "line_bytes", limits.line_bytes, "the line is too long")
        if total > limits.stream_bytes:
            raise LimitExceeded(source.name, at, "stream_bytes", limits.stream_bytes, "the file is too long")
        if not line.isspace():
            yield at, decode(line, source.name, at)


def _utterance(record: dict[str, Any], source: Source, at: int, *, lattices: bool) -> Utterance:
    identity, target, experts = record.get("id"), record.get("target"), record.get("experts")
    if isinstance(identity, bool) or not isinstance(identity, str | int) or identity == "":
        raise source.error(at, '"id" must be a string or a whole number')
    if target is not None and not isinstance(target, str):
        raise source.error(at, '"target" must be a string')
    if not isinstance(experts, dict):
        raise source.error(at, '"experts" must be an object: {"engine": {"text": "..."}}')
    outputs = []
    for name, said in experts.items():
        lattice = None
        if lattices and isinstance(said, dict) and said.get("lattice") is not None:
            lattice = _lattice(said["lattice"], name, source, at)
        outputs.append(expert_from_json(name, said, lattice, source, at))
    return Utterance(str(identity), tuple(outputs), target, _labels(record, source, at))


def _labels(record: dict[str, Any], source: Source, at: int) -> dict[str, str]:
    labels = {}
    for key, value in record.items():
        if key in {"id", "target", "experts", "meta"} or value is None:
            continue
        if isinstance(value, str):
            labels[key] = value
        elif isinstance(value, bool | int | float):
            labels[key] = json.dumps(value)
        else:
            source.note(f'the field "{key}" is not a scalar, so it is no label', at)
    return labels


def _lattice(relative: object, expert: str, source: Source, at: int) -> Lattice:
    if not isinstance(relative, str) or not relative or "\0" in relative:
        raise source.error(at, f'{expert}: "lattice" must be a path, relative to the folder of the file')
    if source.folder is None:
        raise source.error(at, f"{expert}: a lattice path needs a file, and this is not read from one")
    pure = PurePosixPath(relative)
    # A file from elsewhere must not make us read whatever it names.
    if pure.is_absolute() or ".." in pure.parts:
        raise source.error(at, f"{expert}: the lattice path {relative!r} leaves the folder of the file")
    try:
        return read_lattice(source.folder / pure, source.limits)
    except FormatError as problem:
        raise source.error(at, f"{expert}: {problem}") from problem
