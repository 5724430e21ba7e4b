"""Which files belong together: `document_sources` gives one `DocumentSource` a document.

An input is an engine: a file, or a folder of files. Files of several folders belong together by their stems
(`out/eng/page-001.tsv` and `out/cloud/page-001.json`); single files are all of one document, whatever their names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.gathering import EngineInput
from galloon.clients.formats.registry import FORMATS
from galloon.clients.formats.source import stem_of

_ENDINGS = ("alto", "page", "hocr", "whisper", "vosk", "ctm", "tsv")  # second endings, as in page-1.alto.xml


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """One document: its stem, and the file that each engine made of it. An engine without one is absent."""

    stem: str
    files: Mapping[str, Path]


def document_sources(inputs: Sequence[EngineInput]) -> list[DocumentSource]:
    """The documents of these inputs, in the order of their stems."""
    names = engine_names(inputs)
    folders = [entry.path.is_dir() for entry in inputs]
    if not any(folders):
        stem = document_stem(inputs[0].path)
        return [DocumentSource(stem, {name: entry.path for name, entry in zip(names, inputs, strict=True)})]
    if not all(folders):
        single = inputs[folders.index(False)].path
        raise FormatError(str(single), None, "a file among folders", "give folders only, or files only")
    by_stem: dict[str, dict[str, Path]] = {}
    for name, entry in zip(names, inputs, strict=True):
        for path in files_in(entry.path):
            files = by_stem.setdefault(document_stem(path), {})
            if name in files:
                raise FormatError(
                    str(path), None, f"{files[name].name} has the same stem", "keep one of them"
                )
            files[name] = path
    return [DocumentSource(stem, files) for stem, files in sorted(by_stem.items())]


def engine_names(inputs: Sequence[EngineInput]) -> list[str]:
    """The engine of each input, all different."""
    names = [entry.expert or stem_of(str(entry.path)) for entry in inputs]
    for name in names:
        if names.count(name) > 1:
            raise FormatError(name, None, "two inputs have this name", "name each engine: NAME=INPUT")
    return names


def waiting_sources(inputs: Sequence[EngineInput]) -> list[DocumentSource]:
    """The documents of folders that grow, of which every engine has a file by now."""
    filled = [entry for entry in inputs if any(entry.path.iterdir())]
    if len(filled) < len(inputs):
        return []
    return [source for source in document_sources(inputs) if len(source.files) == len(inputs)]


def files_in(folder: Path) -> list[Path]:
    """The files of a folder; one of none is an error."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    if not files:
        raise FormatError(str(folder), None, "the folder holds no files")
    return files


def document_stem(path: Path) -> str:
    """`page-001.alto.xml` -> `page-001`."""
    stem = stem_of(str(path))
    head, dot, tail = stem.rpartition(".")
    known = tail.lower() in _ENDINGS or any(f"*.{tail.lower()}" in entry.patterns for entry in FORMATS)
    return head if dot and head and known else stem
