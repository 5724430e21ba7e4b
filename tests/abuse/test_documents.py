"""Documents that cost more than they look: refused by name, or done, and others are served meanwhile."""

import asyncio
from pathlib import Path

import grpc
import pytest

from galloon.daemon.rpc import matching
from galloon.v1 import document_pb2 as wire
from galloon.v1 import spec_pb2
from galloon.v1.document_pb2_grpc import DocumentServiceStub
from tests.abuse.bombs import EXPERTS
from tests.abuse.largest import page
from tests.daemon.serving import Daemon, serving


@pytest.fixture
async def daemon(tmp_path: Path):
    async with serving(tmp_path) as running:
        await running.open("books", spec_pb2.LearnerSpec(engines=EXPERTS))
        yield running


def combined(daemon: Daemon, name: str, *pages: wire.DocumentPage):
    document = wire.Document(id=name, pages=pages)
    request = wire.CombineDocumentRequest(learner="books", document=document)
    return DocumentServiceStub(daemon.channel).CombineDocument(request)


def corrected(daemon: Daemon, **request):
    return DocumentServiceStub(daemon.channel).CorrectDocument(
        wire.CorrectDocumentRequest(learner="books", **request)
    )


def heap() -> wire.DocumentPage:
    """All words of all engines on one spot: each may be the same as each."""
    words = [f"{number:x}" for number in range(3000)]
    places = {"starts": [0.0], "ends": [10.0], "tops": [0.0], "bottoms": [10.0]}
    lines = [wire.DocumentLine(words=[word], **places) for word in words]
    return wire.DocumentPage(engines=[wire.EnginePage(engine=engine, lines=lines) for engine in EXPERTS])


async def test_a_page_that_takes_too_long_is_refused_and_the_next_one_is_served(daemon: Daemon, monkeypatch):
    monkeypatch.setattr(matching, "PROCESSOR_S", 2)
    call = combined(daemon, "heap", heap())
    assert await call.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "seconds of matching" in await call.details()
    parts = [part async for part in combined(daemon, "short", page(3, 5))]
    assert sum(len(part.lines) for part in parts) == 3


async def test_who_leaves_leaves_no_work_behind(daemon: Daemon):
    others = _children()  # of tests before this one
    call = combined(daemon, "heap", heap())
    matcher = daemon.app._documents._matcher
    async with asyncio.timeout(30):
        while not _children() - others:  # noqa: ASYNC110  # the process tells nobody that it has begun
            await asyncio.sleep(0.02)
        call.cancel()
        while _children() - others and not matcher._idle:  # noqa: ASYNC110  # nor that it has ended
            await asyncio.sleep(0.02)


def _children() -> set[str]:
    tasks = Path("/proc/self/task").iterdir()
    return {child for task in tasks for child in (task / "children").read_text().split()}


async def test_a_correction_has_no_more_pages_and_lines_than_documents_have(daemon: Daemon, monkeypatch):
    """Else every one of them is looked for, and all of them are compared with all lines that are found."""
    await combined(daemon, "book", page(3, 5), page(3, 5)).read()
    call = corrected(daemon, id="book", pages=[""] * 1001)
    assert await call.code() == grpc.StatusCode.INVALID_ARGUMENT
    call = corrected(daemon, id="book", pages=["a"], first_page=2**32 - 1)
    assert await call.code() == grpc.StatusCode.INVALID_ARGUMENT
    monkeypatch.setattr("galloon.daemon.rpc.documents.MOST_LINES", 2)
    call = corrected(daemon, id="book", pages=["a"], whole=True)
    assert await call.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "lines of one correction" in await call.details()
