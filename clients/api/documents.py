"""Whole documents through a daemon: `Documents.combine` gives combined lines part by part, `correct` teaches.

A book travels page by page, and a long recording in parts that are cut where nobody speaks, so that no message is
large. Sending a document again under its id gives the same answer: every attempt may be repeated.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from galloon.clients.api.refusals import reading_answers
from galloon.clients.api.routes import Routes
from galloon.codec.document import DocumentLesson, DocumentPart, document_to_wire, part_from_wire
from galloon.learners.documents.cutting import cut_recording
from galloon.learners.documents.document import Page
from galloon.v1 import document_pb2 as wire
from galloon.v1.document_pb2_grpc import DocumentServiceStub

if TYPE_CHECKING:
    from galloon.v1.document_pb2_grpc import DocumentServiceAsyncStub

T = TypeVar("T")
Repeat = Callable[[Callable[[float], Awaitable[T]], str, float | None, str], Awaitable[T]]


class Documents:
    """The documents of one client's connection. `repeat` tries a call again while the daemon is away."""

    def __init__(self, routes: Routes, repeat: Repeat[Any]) -> None:
        self._routes, self._repeat = routes, repeat

    def _at(self, learner: str) -> "DocumentServiceAsyncStub":
        return DocumentServiceStub(self._routes.channel(learner))

    async def combine(
        self,
        learner: str,
        document_id: str,
        pages: Iterable[Mapping[str, Page]],
        order_from: str,
        timeout_s: float | None,
    ) -> AsyncIterator[DocumentPart]:
        for number, said in enumerate(_messages(pages), 1):
            document = document_to_wire(document_id, [said], number, order_from)
            request = wire.CombineDocumentRequest(learner=learner, document=document)

            async def attempt(
                left: float, request: wire.CombineDocumentRequest = request
            ) -> list[wire.CombineDocumentResponse]:
                metadata = self._routes.metadata(learner)
                call = self._at(learner).CombineDocument(request, timeout=left, metadata=metadata)
                return [part async for part in call]

            about = f"page {number} of document {document_id!r}"
            for part in await self._repeat(attempt, about, timeout_s, learner):
                with reading_answers():
                    yield part_from_wire(part)

    async def correct(
        self, learner: str, document_id: str, true_texts: str | Sequence[str], timeout_s: float | None
    ) -> DocumentLesson:
        whole = isinstance(true_texts, str)
        texts = [true_texts] if isinstance(true_texts, str) else true_texts
        request = wire.CorrectDocumentRequest(learner=learner, id=document_id, pages=texts, whole=whole)
        response = await self._repeat(
            lambda left: self._at(learner).CorrectDocument(
                request, timeout=left, metadata=self._routes.metadata(learner)
            ),
            f"correction of document {document_id!r}",
            timeout_s,
            learner,
        )
        untaught = {line.id: line.why for line in response.untaught}
        return DocumentLesson(tuple(response.taught), untaught)


def _messages(pages: Iterable[Mapping[str, Page]]) -> Iterator[Mapping[str, Page]]:
    for said in pages:
        yield from cut_recording(said) if any(page.timed for page in said.values()) else [said]
