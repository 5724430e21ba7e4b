"""A stream to one learner: utterances in, choices out, feedback in, lessons out, across reconnects and restarts.

`choose` and `learn` await one answer. `send_utterance` and `send_feedback` return a future as soon as the request
has a place among the bounded number in flight; `choose_each` and `learn_each` keep many in flight and answer in
order. What waits to be sent goes out as a page, many requests in one message. When the connection is lost,
requests wait; a new one asks what survived and sends the rest again.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from types import TracebackType
from typing import Any, Self, TypeVar

from grpc import aio

from galloon.clients.api.answered import Answered
from galloon.clients.api.connection import Backoff
from galloon.clients.api.errors import ClientError, DaemonFailed, TimedOut, Unreachable, WrongUsage
from galloon.clients.api.outbox import Kind, Outbox, Request
from galloon.clients.api.refusals import (
    is_temporary,
    reading_answers,
    refusal_from_status,
    refusal_of_problem,
)
from galloon.codec.answer import Choice, Lesson, Opened, Problem, answer_from_wire
from galloon.codec.feedback import Withdrawn
from galloon.codec.page import page_request
from galloon.codec.request import feedback_request, open_request, utterance_request
from galloon.learners.combiners.contract import Feedback, Score, ShownGains
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from galloon.v1 import combine_pb2 as wire

log = logging.getLogger("galloon.client")
T = TypeVar("T")
NEVER = 2**64  # the number of no round
PAGE_BYTES = 262_144  # of one page: its answer, with alternatives, stays far below what a client takes
Call = aio.StreamStreamCall[wire.CombineRequest, wire.CombineResponse]
_KINDS = {wire.REQUEST_KIND_UTTERANCE: Kind.UTTERANCE, wire.REQUEST_KIND_FEEDBACK: Kind.FEEDBACK}


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Numbers of a stream. Seconds are for everything that a request goes through, reconnects included."""

    max_in_flight: int = 64  # requests without an answer; the daemon may ask for fewer
    page_requests: int = 32  # that go out in one message where so many wait; 1 sends each by itself
    timeout_s: float = 30.0  # for one answer, unless the call says otherwise
    open_timeout_s: float = 30.0  # to reach the daemon and open the stream the first time
    give_up_s: float = 60.0  # without connection, until the stream fails
    doubt_s: float = 1.0  # without any answer, until other daemons are asked who has the learner now
    remember: int = 1024  # choices without feedback that can be recalled if a crash took them
    backoff: Backoff = field(default_factory=Backoff)

    def __post_init__(self) -> None:
        if self.max_in_flight < 1 or self.page_requests < 1 or self.remember < 0:
            raise WrongUsage("max_in_flight and page_requests must be at least 1, remember at least 0")


class CombineStream:
    """Use it as `async with client.stream(...) as stream`. Leaving waits for all answers."""

    def __init__(
        self,
        call: Callable[[], Call],
        learner: str,
        create: CombinerSpec | None = None,
        *,
        alternatives: bool = False,
        options: StreamOptions | None = None,
        random: Random | None = None,
        lost: Callable[[str], None] = lambda _: None,
        elsewhere: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        """`call` begins a call; `lost` hears, before the next one, who is said to have the learner, if anybody.

        `elsewhere`, where there are several daemons, says which other one has the learner, if any.
        """
        self._lost, self._elsewhere = lost, elsewhere
        self._call, self._learner, self._create, self._alternatives = call, learner, create, alternatives
        self._options, self._random = options or StreamOptions(), random or Random()
        self._outbox = Outbox(self._options.remember)
        self._places = asyncio.Semaphore(self._options.max_in_flight)
        self._bound = self._options.max_in_flight
        self._wake = asyncio.Event()
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self._opened: Opened | None = None
        self._error: ClientError | None = None  # why the stream is over
        self._answers = 0
        self._up = False  # whether the daemon has opened the stream on the present connection
        self.reconnects = 0

    # Verbs.

    async def choose(self, utterance: Utterance, *, timeout_s: float | None = None) -> Choice:
        """The combination of one utterance."""
        return await (await self.send_utterance(utterance, timeout_s=timeout_s))

    async def learn(
        self,
        utterance_id: str,
        feedback: Feedback | Withdrawn,
        *,
        replace: bool = False,
        timeout_s: float | None = None,
    ) -> Lesson:
        """Teach the learner; durable when it returns. The utterance may be of another stream or an earlier day.

        With `replace` it takes the place of what the utterance was taught before, and `Withdrawn()` takes that
        back: the daemon then rebuilds the learner as if it had never been.
        """
        return await (await self.send_feedback(utterance_id, feedback, replace=replace, timeout_s=timeout_s))

    async def offer_late(self, utterance: Utterance, *, timeout_s: float | None = None) -> Choice:
        """The revised choice of an utterance that was answered, with what further engines said of it since.

        `utterance` has the id of the first and the late outputs alone. It must not have been taught; feedback then
        counts for this choice, which is durable when it returns.
        """
        request = utterance_request(utterance, late=True)
        revised: Choice = await (await self._send(Kind.UTTERANCE, utterance.id, request, timeout_s))
        return revised

    async def send_utterance(
        self, utterance: Utterance, *, timeout_s: float | None = None
    ) -> asyncio.Future[Choice]:
        """Send an utterance as soon as fewer than `max_in_flight` are unanswered; the future is its choice."""
        return await self._send(Kind.UTTERANCE, utterance.id, utterance_request(utterance), timeout_s)

    async def send_feedback(
        self,
        utterance_id: str,
        feedback: Feedback | Withdrawn,
        *,
        replace: bool = False,
        timeout_s: float | None = None,
    ) -> asyncio.Future[Lesson]:
        """Send feedback likewise; it waits for the choice of its utterance if that is still on its way."""
        about_shown_path = isinstance(feedback, ShownGains | Score)
        message = feedback_request(utterance_id, feedback, replace)
        return await self._send(Kind.FEEDBACK, utterance_id, message, timeout_s, about_shown_path)

    async def choose_each(
        self, utterances: Iterable[Utterance] | AsyncIterable[Utterance], *, ahead: int | None = None
    ) -> AsyncIterator[Choice]:
        """The choices of many utterances, in their order, with up to `ahead` of them sent before the first answer.

        What is sent ahead is chosen before feedback on earlier ones can be learned: 1 is strictly in turn.
        """
        async for choice in _in_order(utterances, self.send_utterance, ahead or self.max_in_flight):
            yield choice

    async def learn_each(
        self, answers: Iterable[Answered] | AsyncIterable[Answered], *, ahead: int | None = None
    ) -> AsyncIterator[Lesson]:
        """The lessons of much feedback, in its order; many share one sync of the daemon's disk."""

        async def send(answer: Answered) -> asyncio.Future[Lesson]:
            return await self.send_feedback(answer.id, answer.feedback)

        async for lesson in _in_order(answers, send, ahead or self.max_in_flight):
            yield lesson

    @property
    def max_in_flight(self) -> int:
        return self._options.max_in_flight

    @property
    def opened(self) -> Opened:
        """What the daemon said when the stream was opened, last time."""
        if self._opened is None:
            raise WrongUsage("the stream is not open: use `async with client.stream(...) as stream`")
        return self._opened

    async def open(self) -> Opened:
        """Reach the daemon and the learner; called by `async with`."""
        if self._task is not None:
            raise WrongUsage("a stream is opened once: make another one")
        first: asyncio.Future[Opened] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(first), name=f"galloon stream {self._learner}")
        try:
            return await first
        except BaseException:
            await self._abort()
            raise

    async def close(self) -> None:
        """Wait for the answers to all that was sent, then end the stream. Timeouts bound the wait."""
        self._closing = True
        self._wake.set()
        if self._task is not None:
            await asyncio.wait([self._task])
            if not self._task.cancelled():
                self._task.result()  # raises a defect of ours, should there be one

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await self.close()
        else:
            await self._abort()

    # Sending.

    async def _send(
        self,
        kind: Kind,
        request_id: str,
        message: wire.CombineRequest,
        timeout_s: float | None,
        about_shown_path: bool = False,
    ) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        seconds = self._options.timeout_s if timeout_s is None else timeout_s
        deadline = loop.time() + seconds
        late = TimedOut(
            f"{kind.value} {request_id!r}: no answer within {seconds:g} s; sending it again is safe"
        )
        self._check_open()
        try:
            async with asyncio.timeout_at(deadline):
                await self._places.acquire()
        except TimeoutError as error:
            raise late from error
        answer: asyncio.Future[Any] = loop.create_future()
        timer = loop.call_at(deadline, _set_exception, answer, late)

        def done(_: asyncio.Future[Any]) -> None:
            timer.cancel()
            self._places.release()
            self._wake.set()

        answer.add_done_callback(done)
        if self._error is not None:
            answer.set_exception(self._error)
            return answer
        self._outbox.accept(Request(kind, request_id, message, answer, about_shown_path))
        self._wake.set()
        return answer

    def _check_open(self) -> None:
        if self._error is not None:
            raise self._error
        if self._task is None or self._closing:
            raise WrongUsage("the stream is not open: use `async with client.stream(...) as stream`")

    # The connection.

    async def _live(self, first: asyncio.Future[Opened]) -> None:
        """Keep a connection up until the stream is closed or cannot go on."""
        loop = asyncio.get_running_loop()
        patience = self._options.open_timeout_s
        delays, lost_at = self._options.backoff.delays(self._random), loop.time()
        try:
            while True:
                answers = self._answers
                try:
                    async with asyncio.timeout_at(lost_at + patience) as limit:
                        return await self._session(first, limit)
                except (TimeoutError, _ConnectionLost) as problem:
                    owner = getattr(problem, "owner", "")
                    self._lost(owner)
                    if limit.when() is None:  # it was up until now
                        patience, lost_at = self._options.give_up_s, loop.time()
                    if self._answers != answers:  # and good for something
                        delays = self._options.backoff.delays(self._random)
                    delay = next(delays)
                    log.info("stream on %s lost (%s), next attempt in %.2f s", self._learner, problem, delay)
                    if loop.time() + delay > lost_at + patience:
                        what = f"no daemon for learner {self._learner!r} within {patience:g} s: {problem}"
                        raise Unreachable(what) from problem
                    if not owner:
                        await asyncio.sleep(delay)
        except ClientError as error:
            self._end(error, first)
        except asyncio.CancelledError:
            self._end(WrongUsage("the stream was closed before this was answered"), first)
            raise
        except Exception as error:
            self._end(DaemonFailed(f"the stream failed: {error}", code="UNKNOWN"), first)
            raise

    async def _session(self, first: asyncio.Future[Opened], limit: asyncio.Timeout) -> None:
        """One connection, from open to its end; returns when the stream was closed on purpose."""
        talk = asyncio.create_task(self._talk(first, limit))
        doubt = asyncio.create_task(self._doubt())
        try:
            await asyncio.wait({talk, doubt}, return_when=asyncio.FIRST_COMPLETED)
            if not talk.done():
                raise _ConnectionLost("another daemon has the learner", doubt.result())
        finally:
            for task in (talk, doubt):
                task.cancel()
            await asyncio.wait({talk, doubt})
            for task in (talk, doubt):
                if not task.cancelled():
                    task.exception()  # which is raised below, or of no interest any more
        return talk.result()

    async def _doubt(self) -> str:
        """Give the daemon that has the learner now, when ours says nothing although it should."""
        while True:
            answers = self._answers
            await asyncio.sleep(self._options.doubt_s)
            if self._elsewhere is not None and self._answers == answers and self._awaits_answer:
                owner = await self._elsewhere()
                if owner and self._answers == answers:
                    return owner

    @property
    def _awaits_answer(self) -> bool:
        return not self._up or self._outbox.sent > 0

    async def _talk(self, first: asyncio.Future[Opened], limit: asyncio.Timeout) -> None:
        call = self._call()
        writer: asyncio.Task[None] | None = None
        try:
            self._up = False
            unsure = self._outbox.unsure_ids()
            # Only the first connection may create: a learner that was deleted since must not come back empty.
            create = self._create if self._opened is None else None
            await call.write(open_request(self._learner, create, self._alternatives, unsure))
            opened = await self._read_opened(call)
            limit.reschedule(None)  # it is up: from now on each request has its own time
            self._up = True
            self._take_opened(opened, first)
            writer = asyncio.create_task(self._write(call))
            while (response := await call.read()) is not aio.EOF:
                assert isinstance(response, wire.CombineResponse)
                for each in response.page.responses if response.HasField("page") else (response,):
                    self._take(each)
            if not self._closing or len(self._outbox):
                raise _ConnectionLost("the daemon ended the stream")
        except aio.AioRpcError as error:
            if is_temporary(error):
                raise _ConnectionLost(error.details() or error.code().name) from error
            raise refusal_from_status(error, f"learner {self._learner!r}") from error
        except asyncio.InvalidStateError as error:  # a write on a call that has ended meanwhile
            raise _ConnectionLost("the connection broke") from error
        finally:
            if writer is not None:
                writer.cancel()
                await asyncio.wait([writer])
            call.cancel()

    async def _read_opened(self, call: Call) -> Opened:
        response = await call.read()
        if response is aio.EOF:
            raise _ConnectionLost("the daemon ended the stream before it was open")
        assert isinstance(response, wire.CombineResponse)
        with reading_answers():
            answer = answer_from_wire(response)
        match answer:
            case Opened():
                return answer
            case Problem(reason=wire.REASON_UNAVAILABLE):
                raise _ConnectionLost(answer.message, answer.owner)
            case Problem():
                raise refusal_of_problem(answer)
            case _:
                other = response.WhichOneof("response")
                raise DaemonFailed(f"the first answer of a stream was {other!r}, not opened", code="UNKNOWN")

    def _take_opened(self, opened: Opened, first: asyncio.Future[Opened]) -> None:
        whole_from = opened.whole_from
        if whole_from is None:  # of a daemon that is older than it
            restarted = self._opened is None or self._opened.run_id != opened.run_id
            whole_from = opened.rounds_recovered if restarted else NEVER
        if self._opened is not None:
            self.reconnects += 1
        self._opened = opened
        self._bound = min(self._options.max_in_flight, max(1, opened.max_in_flight))
        self._outbox.resume(dict(opened.rounds), whole_from)
        if self.reconnects:
            log.info("stream on %s resumed, %d requests again", self._learner, len(self._outbox))
        if not first.done():
            first.set_result(opened)

    async def _write(self, call: Call) -> None:
        """Send what is queued, as far as the bound allows, until the stream is closed and all is answered."""
        try:
            while not (self._closing and not len(self._outbox)):
                message = self._next_message()
                if message is None:
                    self._wake.clear()
                    if not (self._closing and not len(self._outbox)):
                        await self._wake.wait()
                else:
                    await call.write(message)
            await call.done_writing()
        except (aio.AioRpcError, asyncio.InvalidStateError) as error:
            log.debug("writing on %s ended: %s", self._learner, error)  # the reader knows why

    def _next_message(self) -> wire.CombineRequest | None:
        """What is queued, as one message; None where nothing is, or too much is unanswered."""
        room = self._bound - self._outbox.sent
        if room < 1:
            return None
        most = min(room, self._options.page_requests, max(1, self.opened.max_page_requests))
        page = self._outbox.next_page(most, min(PAGE_BYTES, self.opened.max_message_bytes))
        if len(page) < 2:
            return page[0].message if page else None
        return page_request(request.message for request in page)

    # Answers.

    def _take(self, response: wire.CombineResponse) -> None:
        self._answers += 1
        match answer_from_wire(response):
            case Choice() as choice:
                request = self._outbox.answered(Kind.UTTERANCE, choice.id)
                if request is not None:
                    self._outbox.chosen(request, choice)
                    _set_result(request, choice)
            case Lesson() as lesson:
                request = self._outbox.answered(Kind.FEEDBACK, lesson.id)
                self._outbox.drop_choice(lesson.id)
                if request is not None:
                    _set_result(request, lesson)
            case Problem() as problem:
                self._take_problem(problem)
            case _:
                log.warning("an answer of an unknown kind on %s: upgrade this client", self._learner)
        self._wake.set()

    def _take_problem(self, problem: Problem) -> None:
        kind = _KINDS.get(problem.about)
        if kind is None:  # about no request that has an id: the stream itself is wrong
            raise refusal_of_problem(problem)
        if problem.reason == wire.REASON_UNAVAILABLE:
            postponed = self._outbox.postpone(kind, problem.id)
            if postponed is not None:
                delays = self._options.backoff.delays(self._random)
                delay = [next(delays) for _ in range(min(16, postponed.attempts))][-1]
                asyncio.get_running_loop().call_later(delay, self._again, postponed)
            return
        request = self._outbox.answered(kind, problem.id)
        if request is None:
            return
        if request.answer is None or problem.reason == wire.REASON_EXPIRED_ROUND:
            self._outbox.drop_choice(problem.id)
        if request.answer is not None:
            _set_exception(request.answer, refusal_of_problem(problem))

    def _again(self, request: Request) -> None:
        self._outbox.again(request)
        self._wake.set()

    def _end(self, error: ClientError, first: asyncio.Future[Opened]) -> None:
        self._error = error
        self._outbox.fail_all(lambda: error)
        if not first.done():
            first.set_exception(error)

    async def _abort(self) -> None:
        """End at once, whatever is unanswered."""
        self._closing = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])


class _ConnectionLost(Exception):
    """The connection broke in a way that another one may mend: to `owner`, where one is named."""

    def __init__(self, problem: str, owner: str = "") -> None:
        super().__init__(problem)
        self.owner = owner


async def _in_order(
    items: Iterable[T] | AsyncIterable[T], send: Callable[[T], Any], ahead: int
) -> AsyncIterator[Any]:
    """Answers in the order of the items, with at most this many under way."""
    under_way: deque[asyncio.Future[Any]] = deque()
    try:
        async for item in _each(items):
            under_way.append(await send(item))
            while under_way and (len(under_way) >= ahead or under_way[0].done()):
                yield await under_way.popleft()
        while under_way:
            yield await under_way.popleft()
    finally:
        for future in under_way:  # the consumer left, or one failed: nobody awaits the others
            future.cancel()


async def _each(items: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item


def _set_result(request: Request, value: object) -> None:
    if request.answer is not None and not request.answer.done():
        request.answer.set_result(value)


def _set_exception(answer: asyncio.Future[Any], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
