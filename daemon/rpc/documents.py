"""The documents' service: pages and recordings in, combined lines out in parts, true texts of whole documents in.

Lines are brought together by `learners.documents` in a thread; then each is an utterance like any other, under the
id `document/page/line`: the learner journals it, remembers it, answers it twice the same.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from concurrent.futures import Executor
from functools import partial
from itertools import count
from typing import Any

import grpc
from google.protobuf.message import Message

from galloon.codec.document import check_document_id, line_to_wire, pages_from_wire
from galloon.codec.utterance import utterance_to_wire
from galloon.daemon.errors import Invalid, Refused, UnknownRound, refusal
from galloon.daemon.futures import resolve
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.learner.round import Rounds
from galloon.daemon.learner.work_queue import DISK
from galloon.daemon.limits import Limits, check
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.calls import Calls
from galloon.daemon.rpc.quota import Quota
from galloon.learners.documents.document import Page
from galloon.learners.documents.matched import MatchedLine, MatchedPage, Unmatchable
from galloon.learners.documents.matching import match
from galloon.learners.documents.true_lines import true_lines
from galloon.learners.documents.word_places import word_places
from galloon.v1 import combine_pb2
from galloon.v1 import document_pb2 as wire

PART = 32  # lines of one part
AT_ONCE = 2  # documents that are matched at the same time: each holds its words in memory
LAG_PAUSE_S = 0.02
MOST_PAGE = 1_000_000
EMPTY_PAGES = 100  # in a row, after which a whole document is over


class DocumentService(Calls):
    """Combines and corrects whole documents."""

    def __init__(
        self,
        registry: Registry,
        gate: Gate,
        quota: Quota,
        limits: Limits,
        metrics: Metrics,
        pool: Executor,
    ) -> None:
        super().__init__(gate, quota, metrics)
        self._registry, self._limits, self._pool = registry, limits, pool
        self._matching = asyncio.Semaphore(AT_ONCE)

    def handlers(self) -> grpc.GenericRpcHandler:
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "CombineDocument": self.streaming(self.combine, wire.CombineDocumentRequest),
            "CorrectDocument": self.unary(self.correct, wire.CorrectDocumentRequest),
        }
        return grpc.method_handlers_generic_handler("galloon.v1.DocumentService", methods)

    async def combine(
        self, request: wire.CombineDocumentRequest, caller: Principal
    ) -> AsyncGenerator[Message]:
        learner = self._find(request.learner, caller)
        size = request.ByteSize()
        check(self._limits, "message_bytes", size, "document")
        first = request.document.first_page or 1
        if first > MOST_PAGE:
            raise Invalid(f"document.first_page: {first} is not from 1 to {MOST_PAGE}", "document.first_page")
        self.quota.hold(caller.name, size)
        try:
            pages = pages_from_wire(request.document, learner.spec.engines, self._limits)
            document, order = request.document.id, request.document.order_from or None
            for number, said in enumerate(pages, first):
                matched = await self._matched(said, order, number)
                async for part in self._parts(learner, f"{document}/{number}", matched):
                    part.page = number
                    yield part
        finally:
            self.quota.release(caller.name, size)

    async def correct(self, request: wire.CorrectDocumentRequest, caller: Principal) -> Message:
        learner = self._find(request.learner, caller)
        check(self._limits, "message_bytes", request.ByteSize(), "pages")
        check_document_id(request.id, "id")
        if request.whole and len(request.pages) != 1:
            raise Invalid(f"pages: {len(request.pages)} texts; a whole document has one", "pages")
        found = await learner.look(DISK, partial(_lines_of, request))
        if not found:
            raise UnknownRound(
                f"no line of document {request.id!r} is known: combine it, then send this again", "id"
            )
        lessons: dict[str, str | None] = {}
        for text, lines in _corrected(request, found):
            loop = asyncio.get_running_loop()
            texts = await loop.run_in_executor(self._pool, true_lines, list(lines.values()), text)
            lessons |= dict(zip(lines, texts, strict=True))
        return await self._teach(learner, lessons)

    def _find(self, name: str, caller: Principal) -> Learner:
        caller.check(name, "learner")
        return self._registry.find(name, "learner")

    async def _matched(self, said: Mapping[str, Page], order: str | None, number: int) -> MatchedPage:
        async with self._matching:
            try:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, match, said, order)
            except Unmatchable as problem:
                raise Invalid(
                    f"document: page {number}: {problem.engine}: {problem.why}", "document"
                ) from problem

    async def _parts(
        self, learner: Learner, name: str, page: MatchedPage
    ) -> AsyncIterator[wire.CombineDocumentResponse]:
        """The lines of a page; the last part has the remarks, also where there are no lines."""
        for start in range(0, max(1, len(page.lines)), PART):
            lines = page.lines[start : start + PART]
            while learner.lags:  # noqa: ASYNC110  # the writer's thread wakes nobody
                await asyncio.sleep(LAG_PAUSE_S)
            answers = await asyncio.gather(
                *(self._chosen(learner, f"{name}/{line.id}", line) for line in lines)
            )
            part = wire.CombineDocumentResponse(lines=answers)
            if start + PART >= len(page.lines):
                part.remarks.absent.update(page.absent)
                part.remarks.left_out.extend(
                    f"{engine}: {text}" for engine, texts in page.left_out.items() for text in texts
                )
                part.remarks.notes.extend(page.notes)
            yield part

    async def _chosen(self, learner: Learner, name: str, line: MatchedLine) -> wire.DocumentLineChoice:
        message = utterance_to_wire(line.utterance(name, learner.spec.engines))
        answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        learner.enter_utterance(message, message.ByteSize(), False, partial(resolve, answered))
        choice = combine_pb2.CombineResponse.FromString(await answered).choice
        self.metrics.choices.inc()
        return line_to_wire(choice, line, word_places(line, choice.text.split()))

    async def _teach(self, learner: Learner, lessons: Mapping[str, str | None]) -> Message:
        response = wire.CorrectDocumentResponse()

        async def learned(name: str, text: str) -> Refused | None:
            answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            feedback = combine_pb2.Feedback(id=name, true_text=text)
            try:
                learner.enter_feedback(feedback, partial(resolve, answered))
                await answered
            except Exception as error:  # noqa: BLE001  # is told of this line
                return refusal(error)
            self.metrics.feedback["true_text"].inc()
            return None

        known = {name: text for name, text in lessons.items() if text is not None}
        outcomes = await asyncio.gather(*(learned(name, text) for name, text in known.items()))
        why = dict(zip(known, outcomes, strict=True))
        for name, text in lessons.items():
            refused = why.get(name)
            if text is None:
                response.untaught.add(id=name, why="its words are not in the true text")
            elif refused is not None:
                response.untaught.add(id=name, why=refused.message)
            else:
                response.taught.append(name)
        return response


def _lines_of(request: wire.CorrectDocumentRequest, rounds: Rounds) -> dict[tuple[int, int], tuple[str, str]]:
    """The ids and combined texts of a document's lines that are in the history, by page and number."""
    found: dict[tuple[int, int], tuple[str, str]] = {}
    first = request.first_page or 1
    page, empty = (1 if request.whole else first), 0
    while empty < EMPTY_PAGES if request.whole else page < first + len(request.pages):
        before = len(found)
        for line in count(1):
            round_ = rounds.find(f"{request.id}/{page}/{line}")
            if round_ is None:
                break
            choice = combine_pb2.CombineResponse.FromString(round_.answer).choice
            found[page, line] = round_.id, choice.text
        empty = 0 if len(found) > before else empty + 1
        page += 1
    return found


def _corrected(
    request: wire.CorrectDocumentRequest, found: Mapping[tuple[int, int], tuple[str, str]]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Each true text with the lines that it is of."""
    if request.whole:
        yield request.pages[0], dict(found.values())
        return
    for number, text in enumerate(request.pages, request.first_page or 1):
        lines = dict(line for (page, _), line in found.items() if page == number)
        if text.strip() and lines:
            yield text, lines
