"""A file of lines cut into byte ranges: `cut`; and the lines of one of them: `lines_of`.

A line belongs to the range in which it begins. Where a range begins and ends depends on the file alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from galloon.clients.api.errors import FormatError, LimitExceeded
from galloon.clients.formats.limits import DEFAULT_LIMITS
from galloon.clients.formats.source import GZIP_MAGIC


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes from `start` up to `end`, both at the beginning of a line (or at the end of the file)."""

    number: int
    start: int
    end: int


def cut(path: Path, range_bytes: int) -> list[Range]:
    """Ranges of about so many bytes, in order, that together are the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(2) == GZIP_MAGIC:
            raise FormatError(
                str(path), None, "a compressed file cannot be cut", "unpack it first: gunzip -k"
            )
        bounds = [0]
        for place in range(range_bytes, size, range_bytes):
            file.seek(place - 1)
            _line(file, path)  # the rest of a line that began before, or the end of the line before
            if bounds[-1] < file.tell() < size:
                bounds.append(file.tell())
    if not size:
        return []
    return [Range(number, *pair) for number, pair in enumerate(zip(bounds, [*bounds[1:], size], strict=True))]


def lines_of(path: Path, part: Range) -> Iterator[bytes]:
    """The lines of a range, empty ones too; one at a time is in memory."""
    with path.open("rb") as file:
        file.seek(part.start)
        while file.tell() < part.end:
            yield _line(file, path)


def _line(file: object, path: Path) -> bytes:
    line: bytes = file.readline(DEFAULT_LIMITS.line_bytes + 1)  # type: ignore[attr-defined]
    if len(line) > DEFAULT_LIMITS.line_bytes:
        raise LimitExceeded(
            str(path), None, "line_bytes", DEFAULT_LIMITS.line_bytes, "a line of the file is too long"
        )
    return line
