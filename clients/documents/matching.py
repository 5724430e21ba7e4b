"""Documents read and matched ahead of the learner: `matched_documents`, in processes beside this one if many wait.

What goes wrong with one document is its own result (`Failed`): the others go on.
"""

import asyncio
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from galloon.clients.api.errors import FormatError
from galloon.clients.documents.reading import read_pages
from galloon.clients.documents.sources import DocumentSource
from galloon.clients.formats.limits import DEFAULT_LIMITS, ReadLimits
from galloon.clients.formats.notes import Note
from galloon.learners.documents.matched import MatchedPage, Unmatchable
from galloon.learners.documents.matching import match

FEW = 4  # documents for which starting processes takes longer than it saves


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """How files are read and lines are ordered."""

    format_name: str | None = None
    order_from: str | None = None
    limits: ReadLimits = DEFAULT_LIMITS
    symbols: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class MatchedDocument:
    """A document whose lines have found each other."""

    source: DocumentSource
    pages: tuple[MatchedPage, ...]
    notes: tuple[tuple[str, Note], ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A document that could not be read, or whose files do not belong together, and why."""

    source: DocumentSource
    why: str


def match_document(source: DocumentSource, settings: MatchSettings) -> MatchedDocument | Failed:
    """Read and match one document."""
    try:
        read = read_pages(source, settings.format_name, settings.limits, settings.symbols)
        pages = []
        for number, page in enumerate(read.pages, 1):
            try:
                pages.append(match(page, settings.order_from))
            except Unmatchable as problem:
                where = f" (page {number})" if len(read.pages) > 1 else ""
                return Failed(
                    source, f"{source.files.get(problem.engine, problem.engine)}{where}: {problem.why}"
                )
    except FormatError as problem:
        return Failed(source, str(problem))
    return MatchedDocument(source, tuple(pages), read.notes)


async def matched_documents(
    sources: Sequence[DocumentSource], settings: MatchSettings
) -> AsyncIterator[MatchedDocument | Failed]:
    """The documents in their order; a few are worked on ahead."""
    loop = asyncio.get_running_loop()
    workers = max(1, os.cpu_count() or 1)
    with _executor(len(sources), workers) as executor:
        waiting: deque[asyncio.Future[MatchedDocument | Failed]] = deque()
        try:
            for source in sources:
                waiting.append(loop.run_in_executor(executor, partial(match_document, source, settings)))
                if len(waiting) > 2 * workers:
                    yield await waiting.popleft()
            while waiting:
                yield await waiting.popleft()
        finally:
            for future in waiting:
                future.cancel()


def _executor(documents: int, workers: int) -> Executor:
    if documents <= FEW:
        return ThreadPoolExecutor(1)
    # Forked children of a process with threads may hang: they start anew.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
