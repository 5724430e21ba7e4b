"""One input file on its way into a reader: `Source` holds its name, its bytes, and the limits that bind it.

`open_source` reads a file, or a gzipped one, and never more than `ReadLimits.file_bytes` of it.
"""

import gzip
import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from galloon.clients.api.errors import FormatError, LimitExceeded
from galloon.clients.formats.encoding import decode
from galloon.clients.formats.limits import DEFAULT_LIMITS, ReadLimits
from galloon.clients.formats.notes import NoteBook

GZIP_MAGIC = b"\x1f\x8b"


@dataclass(slots=True)
class Source:
    """The bytes of one file, decompressed. `stem` is the file's name without folder and endings."""

    name: str
    data: bytes
    limits: ReadLimits = DEFAULT_LIMITS
    notebook: NoteBook = field(default_factory=NoteBook)
    folder: Path | None = None  # where the file lies, for formats that name other files
    symbols: Mapping[str, str] | None = None  # from label to word, for lattices of numbers
    words_read: int = 0

    @property
    def stem(self) -> str:
        return stem_of(self.name)

    def text(self) -> str:
        """The file as text: UTF-8, or UTF-16 where a byte order mark says so."""
        return decode(self.data, self.name)

    def rows(self) -> Iterator[tuple[int, str]]:
        """The lines of the text with their numbers, one at a time: a list of millions would take too much."""
        text, start, number = self.text(), 0, 0
        while start < len(text):
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            number += 1
            yield number, text[start:end].rstrip("\r")
            start = end + 1

    def error(self, line: int | None, what: str, advice: str = "") -> FormatError:
        return FormatError(self.name, line, what, advice)

    def note(self, what: str, line: int | None = None) -> None:
        self.notebook.add(what, line)

    def count_words(self, count: int, line: int | None = None) -> None:
        """Refuse when the file has held more words than the limit, before they are made."""
        self.words_read += count
        if self.words_read > self.limits.words:
            self.check("words", self.words_read, line)

    def check(self, limit: str, value: float, line: int | None = None) -> None:
        """Refuse if `value` is above the limit of that name."""
        allowed = getattr(self.limits, limit)
        if value > allowed:
            raise LimitExceeded(self.name, line, limit, allowed, f"{value:,} is too much")


def open_source(path: str | Path, limits: ReadLimits = DEFAULT_LIMITS) -> Source:
    """Read a file, decompressing gzip, within the limits."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(limits.file_bytes + 1)
    except OSError as problem:
        raise FormatError(str(path), None, f"cannot be read: {problem.strerror}") from problem
    return source_of_bytes(str(path), data, limits, folder=path.parent)


def source_of_bytes(
    name: str, data: bytes, limits: ReadLimits = DEFAULT_LIMITS, folder: Path | None = None
) -> Source:
    """A source of bytes that are already here; gzip is recognised by its first two bytes."""
    source = Source(name, data, limits, NoteBook(limits.notes), folder)
    source.check("file_bytes", len(data))
    if data[:2] == GZIP_MAGIC:
        source.data = _decompress(data, name, limits)
    return source


def stem_of(name: str) -> str:
    """`a/line7.slf.gz` -> `line7`: what is left without folder, compression and kind."""
    base = Path(name).name
    stem = Path(base.removesuffix(".gz")).stem
    return stem or base


def _decompress(data: bytes, name: str, limits: ReadLimits) -> bytes:
    # Read in one bounded call: a gzip bomb costs the limit and no more.
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            out = file.read(limits.file_bytes + 1)
    except (OSError, EOFError, zlib.error) as problem:
        raise FormatError(
            name, None, f"damaged gzip data: {problem}", "copy or make the file again"
        ) from problem
    if len(out) > limits.file_bytes:
        raise LimitExceeded(name, None, "file_bytes", limits.file_bytes, "too large when decompressed")
    return out
