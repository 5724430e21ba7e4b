"""Where combined documents go: `Output`. In a folder, one file a document, and a record of what is done.

A file is written beside its place and moved there, so that it is whole or not there. The record names each
document with the sizes and times of its inputs, under the settings of the run: the same command run again does
what is left, and another one does everything.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from galloon.clients.api.errors import WrongUsage
from galloon.clients.documents.combined import CombinedDocument
from galloon.clients.documents.sources import DocumentSource
from galloon.clients.documents.writers import DocumentWriter

RECORD = ".galloon-combined.jsonl"


class Output:
    """Standard output, a file, or a folder."""

    def __init__(self, writer: DocumentWriter, place: Path | None, *, many: bool, stdout: TextIO) -> None:
        """`many` documents go to a folder, or one after another to standard output."""
        self._writer, self._stdout = writer, stdout
        self.folder = place if place is not None and (many or place.is_dir()) else None
        self._file = None if self.folder is not None else place
        if self.folder is not None:
            if self.folder.exists() and not self.folder.is_dir():
                raise WrongUsage(f"-o {place}: several documents need a folder, and this is a file")
            self.folder.mkdir(parents=True, exist_ok=True)

    def path_of(self, stem: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{stem}{self._writer.ending}"

    def write(self, document: CombinedDocument) -> None:
        self._check(document)
        if self.folder is not None and self._writer.one_page and len(document.pages) > 1:
            # A file a page, as `book-07.xml`; the format holds no more.
            digits = len(str(len(document.pages)))
            for number, page in enumerate(document.pages, 1):
                self.write(CombinedDocument(f"{document.stem}-{number:0{digits}}", (page,)))
            return
        made = self._writer.write(document)
        path = self.path_of(document.stem) or self._file
        if path is not None:
            write_whole(path, made.encode() if isinstance(made, str) else made)
        elif isinstance(made, bytes):
            if self._stdout.isatty():
                raise WrongUsage(f"--to {self._writer.name} is not for a terminal: give -o FILE")
            self._stdout.buffer.write(made)
            self._stdout.buffer.flush()
        else:
            self._stdout.write(made)
            self._stdout.flush()

    def _check(self, document: CombinedDocument) -> None:
        lines = [line for page in document.pages for line in page.lines]
        has = {
            "": True,
            "boxes": any(line.box for line in lines),
            "times": any(line.start is not None for line in lines),
        }
        if lines and not has[self._writer.needs]:
            raise WrongUsage(
                f"{document.stem}: --to {self._writer.name} needs {self._writer.needs}, and no engine gives any: "
                "write --to text, markdown or json"
            )


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all."""
    descriptor, name = tempfile.mkstemp(prefix=".galloon-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Record:
    """Which documents of a folder are done, under one group of settings."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self._path = folder / RECORD
        text = json.dumps(settings, sort_keys=True, default=str)
        self._settings = hashlib.sha256(text.encode()).hexdigest()
        self._done: dict[str, Any] = {}
        for entry in _lines(self._path):
            if entry.get("settings") != self._settings:
                self._done = {}
                break
            self._done[entry.get("stem", "")] = entry.get("files")
        if not self._done:
            self._path.unlink(missing_ok=True)

    def in_order(self, sources: Sequence[DocumentSource]) -> tuple[DocumentSource, ...]:
        """Those that were written, in the order in which they were, then the others."""
        by_stem = {source.stem: source for source in sources}
        known = [by_stem[stem] for stem in self._done if stem in by_stem and self.has(by_stem[stem])]
        return (*known, *(source for source in sources if source not in known))

    def has(self, source: DocumentSource) -> bool:
        """Whether this document was written with these settings from files that have not changed since."""
        return self._done.get(source.stem) == fingerprint(source)

    def add(self, source: DocumentSource) -> None:
        entry = {"settings": self._settings, "stem": source.stem, "files": fingerprint(source)}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _lines(path: Path) -> list[dict[str, Any]]:
    """The entries of a record; one that was cut off by a kill is not done."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            found.append(entry)
    return found


def fingerprint(source: DocumentSource) -> list[list[Any]]:
    """Names, sizes and times of a document's files."""
    return [
        [engine, str(path), path.stat().st_size, path.stat().st_mtime_ns]
        for engine, path in source.files.items()
    ]
