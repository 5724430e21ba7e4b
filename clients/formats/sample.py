"""The beginning of a file, by which formats recognise their own: `Sample`."""

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.encoding import encoding_of
from galloon.clients.formats.source import GZIP_MAGIC, Source

SAMPLE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Sample:
    """The first bytes of a file, also as text (with anything unreadable replaced), and its name."""

    name: str
    data: bytes
    text: str

    @property
    def lines(self) -> list[str]:
        """The first lines that hold something, without the last one, which may be cut."""
        lines = self.text.split("\n")
        whole = lines[:-1] if len(self.data) >= SAMPLE_BYTES else lines
        return [line.rstrip("\r") for line in whole if line.strip()][:50]

    @property
    def is_json(self) -> bool:
        return self.text.lstrip()[:1] in {"{", "["}


def sample_of(source: Source) -> Sample:
    return _sample(source.name, source.data[:SAMPLE_BYTES])


def sample_of_file(path: Path) -> Sample:
    """The beginning of a file, of which no more is read."""
    try:
        with path.open("rb") as raw:
            compressed = raw.read(2) == GZIP_MAGIC
            raw.seek(0)
            stream: IO[bytes] = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if compressed else raw
            return _sample(str(path), stream.read(SAMPLE_BYTES))
    except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
        raise FormatError(
            str(path), None, f"damaged gzip data: {problem}", "make the file again"
        ) from problem
    except OSError as problem:
        raise FormatError(str(path), None, f"cannot be read: {problem.strerror}") from problem


def _sample(name: str, data: bytes) -> Sample:
    return Sample(name, data, data.decode(encoding_of(data), "replace"))
