"""The pages of one document, engine by engine: `read_pages`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from galloon.clients.api.errors import FormatError
from galloon.clients.documents.sources import DocumentSource
from galloon.clients.formats.limits import DEFAULT_LIMITS, ReadLimits
from galloon.clients.formats.notes import Note
from galloon.clients.formats.registry import read_file
from galloon.learners.documents.document import Page

_EMPTY = Page(())


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """The pages of a document, each with what every engine made of it, and what readers could not use."""

    pages: tuple[Mapping[str, Page], ...]
    notes: tuple[tuple[str, Note], ...]


def read_pages(
    source: DocumentSource,
    format_name: str | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
    symbols: Mapping[str, str] | None = None,
) -> ReadDocument:
    """Read every file of a document. Pages belong together by their numbers."""
    found: dict[str, tuple[Page, ...]] = {}
    notes: list[tuple[str, Note]] = []
    for engine, path in source.files.items():
        if path.stat().st_size == 0:  # an engine that found nothing, whatever its format
            found[engine] = (_EMPTY,)
            continue
        result = read_file(path, format_name, limits=limits, symbols=symbols)
        found[engine] = result.pages or (_EMPTY,)
        notes += [(str(path), note) for note in result.notes]
    _check_counts(source.files, found)
    most = max(map(len, found.values()))
    timed = any(page.timed for pages in found.values() for page in pages)
    empty = Page((), timed=timed)
    pages = tuple(
        _with_one_size(
            {engine: pages[number] if number < len(pages) else empty for engine, pages in found.items()}
        )
        for number in range(most)
    )
    return ReadDocument(pages, tuple(notes))


def _with_one_size(pages: dict[str, Page]) -> dict[str, Page]:
    """Engines that tell shares of the page alone take its width and height from one that knows them."""
    known = next(
        (page for page in pages.values() if page.has_boxes and page.width and not page.relative), None
    )
    if known is None:
        return pages
    size = (known.width, known.height)
    return {engine: page.resized(*size) if page.relative else page for engine, page in pages.items()}


def _check_counts(files: Mapping[str, Path], found: Mapping[str, tuple[Page, ...]]) -> None:
    """Refuse engines whose numbers of pages differ, unless they found nothing at all."""
    counts = {engine: len(pages) for engine, pages in found.items() if any(page.lines for page in pages)}
    if len(set(counts.values())) < 2:
        return
    usual = max(set(counts.values()), key=list(counts.values()).count)
    odd = next(engine for engine, count in counts.items() if count != usual)
    raise FormatError(
        str(files[odd]),
        None,
        f"it has {counts[odd]} pages, the others have {usual}",
        "give one file a page, or files of the same pages",
    )
