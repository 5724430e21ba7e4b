"""`galloon combine` over whole pages and recordings: matched by place, time and words, written in any format.

`DocumentJob` is what the command line asks for; `combine_documents` does it on a daemon.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from galloon.clients.api.client import Client
from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.api.stream import CombineStream
from galloon.clients.documents.combining import (
    CombinedRounds,
    combine_document,
    document_of_engine,
    teach_document,
    with_images,
)
from galloon.clients.documents.corrections import true_texts
from galloon.clients.documents.matching import (
    Failed,
    MatchedDocument,
    MatchSettings,
    match_document,
    matched_documents,
)
from galloon.clients.documents.output import Output, Record, fingerprint
from galloon.clients.documents.page_images import PageImages
from galloon.clients.documents.report import told_of
from galloon.clients.documents.sources import (
    DocumentSource,
    document_sources,
    document_stem,
    files_in,
    waiting_sources,
)
from galloon.clients.documents.writers import DocumentWriter
from galloon.clients.formats.gathering import EngineInput
from galloon.clients.formats.registry import DOCUMENT_FORMATS, SPEECH_FORMATS, detect_file
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance

FAILED = 1  # exit status where a document could not be combined
LOOKED_INTO = 64  # files that say whether documents are recordings
WATCH_S = 1.0  # between two looks into folders that grow


@dataclass(frozen=True, slots=True)
class DocumentJob:
    """What is to be read, how lines are ordered, and where the result goes."""

    sources: tuple[DocumentSource, ...]
    engines: tuple[str, ...]
    settings: MatchSettings
    writer: DocumentWriter
    output: Path | None
    many: bool  # folders were given
    targets: Path | None
    options: dict[str, Any]  # everything else that the result depends on
    images: PageImages | None = None
    text_from: str | None = None  # the engine whose words are taken as they are
    watched: tuple[EngineInput, ...] = ()  # folders that grow


def are_documents(inputs: Sequence[EngineInput], format_name: str | None) -> bool:
    """Whether these inputs are pages or recordings rather than lines with ids, alternatives or lattices."""
    for entry in inputs:
        path = entry.path
        if path.is_dir():
            path = files_in(path)[0]
        if not path.is_file():
            return False  # whoever reads it says so
        if path.stat().st_size and (format_name or detect_file(path)) not in DOCUMENT_FORMATS:
            return False
    return True


def are_speech(sources: Sequence[DocumentSource], format_name: str | None) -> bool:
    """Whether these are recordings: their files have times and no places."""
    paths = (path for source in sources for path in source.files.values() if path.stat().st_size)
    return any((format_name or detect_file(path)) in SPEECH_FORMATS for path in islice(paths, LOOKED_INTO))


def sources_of(inputs: Sequence[EngineInput], engines: tuple[str, ...]) -> tuple[DocumentSource, ...]:
    """The documents of the inputs; with `engines`, of these alone."""
    sources = document_sources(inputs)
    if len(inputs) > 1 and all(len(source.files) == 1 for source in sources):
        raise FormatError(
            str(inputs[0].path),
            None,
            f"no document has files of two engines: {', '.join(source.stem for source in sources[:4])}",
            "files of one document have the same name before the ending, in every folder",
        )
    known = dict.fromkeys(name for source in sources for name in source.files)
    for name in engines:
        if name not in known:
            raise WrongUsage(f"no engine is called {name!r}; the inputs are {', '.join(known)}")
    if not engines:
        return tuple(sources)
    return tuple(
        DocumentSource(source.stem, {name: source.files[name] for name in engines if name in source.files})
        for source in sources
    )


def matched_utterances(job: DocumentJob) -> tuple[Utterance, ...]:
    """The lines of all documents as utterances, for whoever wants to see slots and reasons."""
    utterances = []
    for source in job.sources:
        matched = match_document(source, job.settings)
        if isinstance(matched, Failed):
            raise FormatError(source.stem, None, f"not combined: {matched.why}")
        _tell(matched, job.engines)
        for number, page in enumerate(matched.pages, 1):
            pages = f"{number}/" if len(matched.pages) > 1 else ""
            stem = f"{source.stem}/" if len(job.sources) > 1 else ""
            utterances += [line.utterance(f"{stem}{pages}{line.id}", job.engines) for line in page.lines]
    return tuple(utterances)


async def combine_documents(
    client: Client,
    name: str,
    learner: Callable[[], Awaitable[CombinerSpec | None]],
    job: DocumentJob,
    *,
    own: bool,
) -> int:
    """Combine every document; the exit status: 1 if one failed, and then nothing was written for it.

    own: the learner is of this run alone, and may read each page once before it answers.
    """
    output = Output(job.writer, job.output, many=job.many, stdout=sys.stdout)
    record = None if output.folder is None else Record(output.folder, job.options)
    sources = job.sources if record is None else record.in_order(job.sources)
    done = {source.stem for source in sources if record is not None and _is_done(source, record, output)}
    if done:
        click.echo(f"{len(done)} of {len(sources)} documents are done already", err=True)
    # A learner learns from every document that it combines, so it meets again what comes before the first that is
    # left: then it stands where it stood, and writes what it would have written.
    left = [place for place, source in enumerate(sources) if source.stem not in done]
    met = sources if job.watched else sources[: left[-1] + 1 if left else 0]
    create = await learner()
    start = time.monotonic()
    async with client.stream(name, create=create, alternatives=job.writer.alternatives) as stream:
        run = _Run(job, stream, output, record, done, twice=own)
        with _progress(len(met), shown=job.many) as step:
            await run.combine(met, step)
            if job.watched:
                await run.watch(job.watched, {source.stem for source in met})
    if met and not run.lines and not run.failed:
        run.fail("no engine found any text in any document")
    if job.many:
        seconds = time.monotonic() - start
        rate = f"{run.pages / seconds:.1f} pages a second" if seconds > 0 else ""
        problem = f"; {run.failed} documents could not be combined" if run.failed else ""
        click.echo(
            f"{run.pages} pages of {len(job.engines)} engines in {seconds:.1f} s, {rate}{problem}", err=True
        )
    return FAILED if run.failed else 0


class _Run:
    """Documents through one stream, and what became of them."""

    def __init__(
        self,
        job: DocumentJob,
        stream: CombineStream,
        output: Output,
        record: Record | None,
        done: set[str],
        *,
        twice: bool,
    ) -> None:
        self._job, self._stream, self._output, self._record, self._done = job, stream, output, record, done
        self._twice = twice
        self._engines = _known_engines(stream, job.engines)
        self._mark = f"@{stream.opened.rounds_started}" if stream.opened.rounds_started else ""
        self._targets = _targets(job)
        self.pages = self.failed = self.lines = 0

    async def combine(self, sources: Sequence[DocumentSource], step: Callable[[], None]) -> None:
        async for matched in matched_documents(sources, self._job.settings):
            if isinstance(matched, Failed):
                self.fail(f"{matched.source.stem}: not combined: {matched.why}")
            else:
                await self._one(matched)
            step()

    async def watch(self, inputs: Sequence[EngineInput], known: set[str]) -> None:
        """Combine documents as they come, once every engine has a whole file of them; until Ctrl-C."""
        click.echo("watching for more; Ctrl-C ends", err=True)
        before: dict[str, Any] = {}
        while True:
            await asyncio.sleep(WATCH_S)
            found = {source.stem: source for source in waiting_sources(inputs) if source.stem not in known}
            whole = {stem: fingerprint(source) for stem, source in found.items()}
            ready = [found[stem] for stem, files in whole.items() if before.get(stem) == files]
            before = whole
            known |= {source.stem for source in ready}
            await self.combine(ready, lambda: None)
            for source in ready:
                click.echo(f"{source.stem}: combined", err=True)

    async def _one(self, matched: MatchedDocument) -> None:
        job, stem = self._job, matched.source.stem
        if stem not in self._done:
            _tell(matched, job.engines)
        if job.text_from is None:
            combined = await combine_document(
                self._stream, matched, self._engines, self._mark, twice=self._twice
            )
        else:
            combined = CombinedRounds(document_of_engine(matched, job.text_from), ())
        said = sum(len(page.lines) for page in combined.document.pages)
        self.lines += said
        if not said and not (job.many and job.text_from is None):  # among many, an empty page is a page
            why = f"{job.text_from} has no text" if job.text_from else "no engine has any text"
            self.fail(f"{stem}: not combined: {why}")
            return
        if stem not in self._done:
            try:
                self._output.write(with_images(combined.document, job.images))
            except FormatError as wrong:  # of its image
                self.fail(f"{stem}: not written: {wrong}")
                return
            if self._record is not None:
                self._record.add(matched.source)
        if stem in self._targets:
            await teach_document(self._stream, combined, true_texts(self._targets[stem]))
        self.pages += len(matched.pages)

    def fail(self, why: str) -> None:
        self.failed += 1
        click.echo(why, err=True)


def _is_done(source: DocumentSource, record: Record, output: Output) -> bool:
    path = output.path_of(source.stem)
    return path is not None and path.is_file() and record.has(source)


def _targets(job: DocumentJob) -> dict[str, Path]:
    if job.targets is None:
        return {}
    found = {document_stem(path): path for path in files_in(job.targets)}
    stems = [source.stem for source in job.sources]
    if not job.watched and found.keys().isdisjoint(stems):
        raise FormatError(
            str(job.targets),
            None,
            f"no true text of any document: {', '.join(stems[:4])}",
            "name them as the documents, with any ending",
        )
    return found


def _known_engines(stream: CombineStream, engines: tuple[str, ...]) -> tuple[str, ...]:
    """The learner's engines; all that were given must be among them."""
    known = stream.opened.spec.engines
    strangers = [engine for engine in engines if engine not in known]
    if strangers:
        raise WrongUsage(
            f"the learner does not know {', '.join(strangers)}; it knows {', '.join(known)}: name inputs so"
        )
    return known


def _tell(matched: MatchedDocument, engines: tuple[str, ...]) -> None:
    for file, note in matched.notes:
        click.echo(f"{file}: {note}", err=True)
    line = told_of(matched, engines)
    if line:
        click.echo(line, err=True)


def _progress(total: int, *, shown: bool) -> AbstractContextManager[Callable[[], None]]:
    """A bar on standard error where that is a terminal; the context gives what moves it on by one."""
    if not shown or not sys.stderr.isatty():
        return nullcontext(lambda: None)
    return _Bar(total)


class _Bar(AbstractContextManager[Callable[[], None]]):
    def __init__(self, total: int) -> None:
        columns = (
            TextColumn("combining"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.speed:.1f} pages/s", justify="right"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task("combining", total=total)

    def __enter__(self) -> Callable[[], None]:
        self._bar.start()
        return lambda: self._bar.advance(self._task)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
