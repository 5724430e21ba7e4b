"""Whole documents over a real port: combined in parts, corrected by line and as a whole, twice the same."""

from pathlib import Path

import grpc
import pytest

from galloon import Client, Spec, TrueText
from galloon.clients.api.errors import ClientError
from galloon.codec.document import document_to_wire
from galloon.v1 import document_pb2 as wire
from galloon.v1.document_pb2_grpc import DocumentServiceStub
from tests.daemon.serving import Daemon, serving
from tests.learners.documents.pages import OTHER, TEXT, page, recording, without_places

ENGINES = ("a", "b", "c")


def said(**others):
    """One page by three engines, of which b misreads."""
    misread = page(tuple(text.replace("the", "tbe") for text in TEXT))
    return {"a": page(), "b": misread, "c": without_places(page()), **others}


async def combined(client: Client, name: str, *pages, **options):
    return [part async for part in client.combine_document("books", name, pages, **options)]


@pytest.fixture
async def daemon(tmp_path: Path):
    async with serving(tmp_path) as running:
        yield running


@pytest.fixture
async def client(daemon: Daemon):
    async with Client(daemon.app.address) as made:
        await made.create_learner("books", Spec(engines=ENGINES))
        yield made


async def test_lines_are_rounds_of_their_own_with_places(client: Client):
    parts = await combined(client, "moby", said(), said())
    lines = [line for part in parts for line in part.lines]
    assert [line.text for line in lines] == [*TEXT, *TEXT]
    assert {part.page for part in parts} == {1, 2}
    assert lines[0].choice.id == "moby/1/1"
    assert lines[0].engines == ENGINES
    assert lines[0].places[1].box == page().lines[0].box.__class__(150.0, 120.0, 170.0, 140.0)
    async with client.stream("books") as stream:
        lesson = await stream.learn("moby/2/3", TrueText(TEXT[2]))
    assert lesson.gain == len(TEXT[2].split())


async def test_the_same_document_again_is_the_same_answer(client: Client):
    first = await combined(client, "moby", said())
    again = await combined(client, "moby", said())
    assert [line.choice.round for part in first for line in part.lines] == [
        line.choice.round for part in again for line in part.lines
    ]
    assert all(line.choice.repeated_answer for part in again for line in part.lines)
    with pytest.raises(ClientError, match="other content"):
        await combined(client, "moby", said(a=page(TEXT[1:])))


async def test_a_whole_document_is_corrected_by_page_or_by_one_text(client: Client):
    await combined(client, "moby", said(), said())
    lesson = await client.correct_document("books", "moby", ["", "\n".join(TEXT[1:])])
    assert lesson.taught == tuple(f"moby/2/{number}" for number in range(2, len(TEXT) + 1))
    assert lesson.untaught == {"moby/2/1": "its words are not in the true text"}
    assert (await client.correct_document("books", "moby", ["", "\n".join(TEXT[1:])])) == lesson
    assert (await client.get_learner("books")).statistics.lessons == len(TEXT) - 1
    talk = recording(TEXT)
    await combined(client, "talk", {"a": talk, "b": talk})
    assert len((await client.correct_document("books", "talk", " ".join(TEXT))).taught) >= 3
    with pytest.raises(ClientError, match="no line of document 'nobody'"):
        await client.correct_document("books", "nobody", "text")


async def test_remarks_and_pages_of_another_document(client: Client):
    parts = await combined(client, "m", said(c=page(())))
    assert parts[-1].absent == {"c": "found no text"}
    with pytest.raises(ClientError, match="page 1: b: next to nothing of its text"):
        await combined(client, "n", said(b=page(OTHER)))
    assert await combined(client, "empty", {}) != []


async def test_speakers_and_channels_of_a_long_recording(client: Client):
    talk = recording([*TEXT, *OTHER] * 30)
    parts = await combined(client, "talk", dict.fromkeys(ENGINES, talk))
    assert len({part.page for part in parts}) > 1  # too long for one message
    words = " ".join(line.text for part in parts for line in part.lines).split()
    assert words == [word.text for line in talk.lines for word in line.words]
    last = parts[-1].lines[-1]
    assert last.end == pytest.approx(talk.lines[-1].words[-1].end, abs=0.01)


async def test_what_is_wrong_with_a_document_is_named(daemon: Daemon, client: Client):
    stub = DocumentServiceStub(daemon.channel)
    good = document_to_wire("d", [said()])

    async def refused(change) -> str:
        document = wire.Document.FromString(good.SerializeToString())
        change(document)
        with pytest.raises(grpc.aio.AioRpcError) as error:
            async for _ in stub.CombineDocument(
                wire.CombineDocumentRequest(learner="books", document=document)
            ):
                pass
        assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        return error.value.details()

    assert "document.id: missing" in await refused(lambda d: d.ClearField("id"))
    assert "document.pages: 0 pages" in await refused(lambda d: d.ClearField("pages"))
    line = "document.pages[0].engines[1].lines[2]"
    assert f"{line}.tops: 1 numbers" in await refused(
        lambda d: (
            d.pages[0].engines[1].lines[2].ClearField("tops") or d.pages[0].engines[1].lines[2].tops.append(1)
        )
    )
    assert f"{line}.start: nan" in await refused(
        lambda d: setattr(d.pages[0].engines[1].lines[2], "start", float("nan"))
    )
    assert "'x' is not an engine" in await refused(lambda d: setattr(d.pages[0].engines[0], "engine", "x"))
    assert "comes twice" in await refused(lambda d: setattr(d.pages[0].engines[0], "engine", "b"))
