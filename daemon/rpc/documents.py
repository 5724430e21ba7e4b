"""The documents' service: pages and recordings in, combined lines out in parts, true texts of whole documents in.

Lines are brought together by `learners.documents` in a process apart (`Matcher`); then each is an utterance like
any other, under the id `document/page/line`: the learner journals it, remembers it, answers it twice the same.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import grpc
from google.protobuf.message import Message

from galloon.codec.document import PAGES, check_document_id, line_to_wire
from galloon.codec.utterance import utterance_to_wire
from galloon.daemon.errors import Invalid, LimitPassed, Refused, UnknownRound, refusal
from galloon.daemon.futures import resolve
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.learner.round import Rounds
from galloon.daemon.learner.work_queue import DISK
from galloon.daemon.limits import Limits
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.calls import Calls
from galloon.daemon.rpc.matched_json import line_from_json
from galloon.daemon.rpc.matching import Matcher
from galloon.daemon.rpc.quota import Quota
from galloon.learners.documents.matched import MatchedLine, Unmatchable
from galloon.learners.documents.word_places import word_places
from galloon.v1 import combine_pb2
from galloon.v1 import document_pb2 as wire

PART = 32  # lines of one part
TAUGHT_AT_ONCE = 256  # lines
MOST_LINES = 20_000  # of one correction: a second of looking for them
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
    ) -> None:
        super().__init__(gate, quota, metrics)
        self._registry, self._limits, self._matcher = registry, limits, Matcher()

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
        first = check_first_page(request.document.first_page, "document.first_page")
        document, engines = request.document, learner.spec.engines
        await self._matcher.check(document, engines, self._limits.engines)
        for number, page in enumerate(document.pages, first):
            lines, remarks = await self._matched(page, engines, document.order_from, number)
            async for part in self._parts(learner, f"{document.id}/{number}", lines, remarks):
                part.page = number
                yield part

    async def close(self) -> None:
        await self._matcher.close()

    async def correct(self, request: wire.CorrectDocumentRequest, caller: Principal) -> Message:
        learner = self._find(request.learner, caller)
        check_document_id(request.id, "id")
        if request.whole and len(request.pages) != 1:
            raise Invalid(f"{len(request.pages)} texts; a whole document has one", "pages")
        if not 1 <= len(request.pages) <= PAGES:
            raise Invalid(f"{len(request.pages)} pages, allowed are 1 to {PAGES}", "pages")
        check_first_page(request.first_page, "first_page")
        found = await learner.look(DISK, partial(_lines_of, request))
        if not found:
            raise UnknownRound(
                f"no line of document {request.id!r} is known", "id", "combine it, then send this again"
            )
        lessons: dict[str, str | None] = {}
        for text, lines in _corrected(request, found):
            texts = await self._matcher.true_lines(list(lines.values()), text)
            lessons |= dict(zip(lines, texts, strict=True))
        return await self._teach(learner, lessons)

    def _find(self, name: str, caller: Principal) -> Learner:
        caller.check(name, "learner")
        return self._registry.find(name, "learner")

    async def _matched(
        self, page: wire.DocumentPage, engines: Sequence[str], order: str, number: int
    ) -> tuple[list[bytes], dict[str, Any]]:
        try:
            return await self._matcher.match(page, engines, order)
        except Unmatchable as problem:
            raise Invalid(f"page {number}: {problem.engine}: {problem.why}", "document") from problem

    async def _parts(
        self, learner: Learner, name: str, found: Sequence[bytes], remarks: Mapping[str, Any]
    ) -> AsyncIterator[wire.CombineDocumentResponse]:
        """The lines of a page; the last part has the remarks, also where there are no lines."""
        for start in range(0, max(1, len(found)), PART):
            lines = [line_from_json(json.loads(line)) for line in found[start : start + PART]]
            while learner.lags:  # noqa: ASYNC110  # the writer's thread wakes nobody
                await asyncio.sleep(LAG_PAUSE_S)
            answers = await asyncio.gather(
                *(self._chosen(learner, f"{name}/{line.id}", line) for line in lines)
            )
            part = wire.CombineDocumentResponse(lines=answers)
            if start + PART >= len(found):
                part.remarks.absent.update(remarks["absent"])
                part.remarks.left_out.extend(
                    f"{engine}: {text}" for engine, texts in remarks["left_out"].items() for text in texts
                )
                part.remarks.notes.extend(remarks["notes"])
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
        why: dict[str, Refused | None] = {}
        names = list(known)
        for start in range(0, len(names), TAUGHT_AT_ONCE):
            some = names[start : start + TAUGHT_AT_ONCE]
            outcomes = await asyncio.gather(*(learned(name, known[name]) for name in some))
            why |= zip(some, outcomes, strict=True)
        for name, text in lessons.items():
            refused = why.get(name)
            if text is None:
                response.untaught.add(id=name, why="its words are not in the true text")
            elif refused is not None:
                response.untaught.add(id=name, why=str(refused))
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
            if len(found) > MOST_LINES:
                raise LimitPassed(
                    "lines of one correction", len(found), MOST_LINES, "correct some pages at a time", "pages"
                )
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
    by_page: dict[int, dict[str, str]] = {}
    for (page, _), (name, line) in found.items():
        by_page.setdefault(page, {})[name] = line
    for number, text in enumerate(request.pages, request.first_page or 1):
        if text.strip() and number in by_page:
            yield text, by_page[number]


def check_first_page(number: int, field: str) -> int:
    if number > MOST_PAGE:
        raise Invalid(f"{number} is not from 1 to {MOST_PAGE}", field)
    return number or 1
