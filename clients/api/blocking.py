"""The blocking client, for programs without an event loop: the same verbs, run on a loop in one thread of its own.

    with BlockingClient("127.0.0.1:7410") as client, client.stream("asr") as stream:
        choice = stream.choose(utterance)
        lesson = stream.learn(choice.id, TrueText("the cat"))

Safe to use from several threads. `send_utterance` and `send_feedback` return `concurrent.futures.Future`.
"""

import asyncio
import threading
from collections import deque
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar

from galloon.clients.api.answered import Answered
from galloon.clients.api.client import Client
from galloon.clients.api.connection import DEFAULT_ADDRESS, Connection
from galloon.clients.api.stream import CombineStream, StreamOptions
from galloon.codec.answer import Choice, Lesson, Opened
from galloon.codec.comparison import Comparison
from galloon.codec.document import DocumentLesson, DocumentPart
from galloon.codec.explanation import Explanation
from galloon.codec.feedback import Withdrawn
from galloon.codec.learner import LearnerInfo, Snapshot, Statistics, Update
from galloon.codec.past_round import Erasure, PastRound
from galloon.learners.combiners.contract import Feedback
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.documents.document import Page
from galloon.learners.observation import Utterance
from galloon.v1.learners_pb2 import RebuildLearnerResponse

T = TypeVar("T")


class BlockingClient:
    """One connection to a daemon. Its verbs are those of `Client`."""

    def __init__(
        self, address: str | Connection = DEFAULT_ADDRESS, *, options: StreamOptions | None = None
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="galloon client", daemon=True)
        self._thread.start()
        self._closed = False
        try:
            self._client = self._run(_make(address, options))
        except BaseException:
            self._stop()
            raise

    def stream(
        self,
        learner: str,
        create: CombinerSpec | None = None,
        *,
        alternatives: bool = False,
        options: StreamOptions | None = None,
    ) -> "BlockingStream":
        """A stream to a learner: use it as `with client.stream(...) as stream`."""
        stream = self._client.stream(learner, create, alternatives=alternatives, options=options)
        return BlockingStream(stream, self._submit)

    def create_learner(self, name: str, spec: CombinerSpec, *, timeout_s: float | None = None) -> LearnerInfo:
        return self._run(self._client.create_learner(name, spec, timeout_s=timeout_s))

    def get_learner(self, name: str, *, timeout_s: float | None = None) -> LearnerInfo:
        return self._run(self._client.get_learner(name, timeout_s=timeout_s))

    def list_learners(
        self, prefix: str = "", *, this_daemon: bool = False, timeout_s: float | None = None
    ) -> list[LearnerInfo]:
        return self._run(self._client.list_learners(prefix, this_daemon=this_daemon, timeout_s=timeout_s))

    def out_of_service(self, prefix: str = "", *, timeout_s: float | None = None) -> dict[str, str]:
        return self._run(self._client.out_of_service(prefix, timeout_s=timeout_s))

    def delete_learner(self, name: str, *, timeout_s: float | None = None) -> None:
        self._run(self._client.delete_learner(name, timeout_s=timeout_s))

    def rebuild_learner(
        self,
        name: str,
        *,
        without_ids: Sequence[str] = (),
        as_of: float = 0.0,
        timeout_s: float | None = None,
    ) -> RebuildLearnerResponse:
        work = self._client.rebuild_learner(name, without_ids=without_ids, as_of=as_of, timeout_s=timeout_s)
        return self._run(work)

    def update_learner(
        self,
        name: str,
        *,
        add_engines: Sequence[str] = (),
        remove_engines: Sequence[str] = (),
        default_fields: Sequence[str] = (),
        rebuild: bool = False,
        accept_loss: bool = False,
        timeout_s: float | None = None,
        **changes: Any,
    ) -> Update:
        work = self._client.update_learner(
            name,
            add_engines=add_engines,
            remove_engines=remove_engines,
            default_fields=default_fields,
            rebuild=rebuild,
            accept_loss=accept_loss,
            timeout_s=timeout_s,
            **changes,
        )
        return self._run(work)

    def erase_rounds(
        self,
        name: str,
        ids: Sequence[str] = (),
        *,
        label: tuple[str, str] = ("", ""),
        accept_loss: bool = False,
        timeout_s: float | None = None,
    ) -> Erasure:
        work = self._client.erase_rounds(name, ids, label=label, accept_loss=accept_loss, timeout_s=timeout_s)
        return self._run(work)

    def snapshot_learner(self, name: str, *, timeout_s: float | None = None) -> Snapshot:
        return self._run(self._client.snapshot_learner(name, timeout_s=timeout_s))

    def add_challenger(
        self, name: str, label: str, spec: CombinerSpec, *, timeout_s: float | None = None
    ) -> LearnerInfo:
        return self._run(self._client.add_challenger(name, label, spec, timeout_s=timeout_s))

    def compare_learner(self, name: str, *, timeout_s: float | None = None) -> Comparison:
        return self._run(self._client.compare_learner(name, timeout_s=timeout_s))

    def promote_challenger(self, name: str, label: str, *, timeout_s: float | None = None) -> LearnerInfo:
        return self._run(self._client.promote_challenger(name, label, timeout_s=timeout_s))

    def go_live(self, name: str, *, timeout_s: float | None = None) -> tuple[LearnerInfo, str]:
        return self._run(self._client.go_live(name, timeout_s=timeout_s))

    def explain(self, learner: str, utterance_id: str, *, timeout_s: float | None = None) -> Explanation:
        return self._run(self._client.explain(learner, utterance_id, timeout_s=timeout_s))

    def export_learner(self, name: str, *, timeout_s: float | None = None) -> bytes:
        return self._run(self._client.export_learner(name, timeout_s=timeout_s))

    def import_learner(self, name: str, data: bytes, *, timeout_s: float | None = None) -> LearnerInfo:
        return self._run(self._client.import_learner(name, data, timeout_s=timeout_s))

    def combine_document(
        self,
        learner: str,
        document_id: str,
        pages: Iterable[Mapping[str, Page]],
        *,
        order_from: str = "",
        timeout_s: float | None = None,
    ) -> Iterator[DocumentPart]:
        """Combined lines, part by part; see `Client.combine_document`."""
        return self._each(
            self._client.combine_document(
                learner, document_id, pages, order_from=order_from, timeout_s=timeout_s
            )
        )

    def correct_document(
        self,
        learner: str,
        document_id: str,
        true_texts: str | Sequence[str],
        *,
        timeout_s: float | None = None,
    ) -> DocumentLesson:
        return self._run(self._client.correct_document(learner, document_id, true_texts, timeout_s=timeout_s))

    def past_rounds(
        self,
        name: str,
        *,
        state: str = "",
        since: float = 0.0,
        until: float = 0.0,
        ids: Sequence[str] = (),
        newest_first: bool = False,
        with_utterances: bool = False,
        unknown: list[str] | None = None,
        timeout_s: float | None = None,
    ) -> Generator[PastRound]:
        """The rounds of a learner's history as they stand now; see `Client.past_rounds`."""
        return self._each(
            self._client.past_rounds(
                name,
                state=state,
                since=since,
                until=until,
                ids=ids,
                newest_first=newest_first,
                with_utterances=with_utterances,
                unknown=unknown,
                timeout_s=timeout_s,
            )
        )

    def watch_learner(self, name: str, *, interval_s: float = 1.0) -> Iterator[Statistics]:
        """Statistics at once and then at the interval, until the caller leaves."""
        return self._each(self._client.watch_learner(name, interval_s=interval_s))

    def _each(self, items: AsyncIterator[T]) -> Generator[T]:
        try:
            while True:
                try:
                    yield self._run(_next(items))
                except StopAsyncIteration:
                    return
        finally:
            self._run(_leave(items))

    def close(self) -> None:
        """Let go of the connection and the thread."""
        if not self._closed:
            self._run(self._client.close())
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return _await(self._submit(work))

    def _stop(self) -> None:
        self._closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class BlockingStream:
    """A stream to one learner. Its verbs are those of `CombineStream`."""

    def __init__(
        self, stream: CombineStream, submit: Callable[[Coroutine[Any, Any, Any]], Future[Any]]
    ) -> None:
        self._stream, self._submit = stream, submit

    def choose(self, utterance: Utterance, *, timeout_s: float | None = None) -> Choice:
        choice: Choice = _await(self._submit(self._stream.choose(utterance, timeout_s=timeout_s)))
        return choice

    def learn(
        self,
        utterance_id: str,
        feedback: Feedback | Withdrawn,
        *,
        replace: bool = False,
        timeout_s: float | None = None,
    ) -> Lesson:
        """Teach the learner; with `replace`, in the place of what it was taught: see `CombineStream.learn`."""
        taught = self._stream.learn(utterance_id, feedback, replace=replace, timeout_s=timeout_s)
        lesson: Lesson = _await(self._submit(taught))
        return lesson

    def offer_late(self, utterance: Utterance, *, timeout_s: float | None = None) -> Choice:
        """The revised choice of an utterance, with what further engines said of it since."""
        choice: Choice = _await(self._submit(self._stream.offer_late(utterance, timeout_s=timeout_s)))
        return choice

    def send_utterance(self, utterance: Utterance, *, timeout_s: float | None = None) -> Future[Choice]:
        """The choice to come. Never blocks; what exceeds `max_in_flight` waits its turn in memory."""
        return self._submit(self._stream.choose(utterance, timeout_s=timeout_s))

    def send_feedback(
        self,
        utterance_id: str,
        feedback: Feedback | Withdrawn,
        *,
        replace: bool = False,
        timeout_s: float | None = None,
    ) -> Future[Lesson]:
        """The lesson to come. Never blocks."""
        return self._submit(self._stream.learn(utterance_id, feedback, replace=replace, timeout_s=timeout_s))

    def choose_each(self, utterances: Iterable[Utterance], *, ahead: int | None = None) -> Iterator[Choice]:
        """The choices of many utterances, in their order; see `CombineStream.choose_each`."""
        return _in_order(map(self.send_utterance, utterances), ahead or self._stream.max_in_flight)

    def learn_each(self, answers: Iterable[Answered], *, ahead: int | None = None) -> Iterator[Lesson]:
        """The lessons of much feedback, in its order."""
        sent = (self.send_feedback(answer.id, answer.feedback) for answer in answers)
        return _in_order(sent, ahead or self._stream.max_in_flight)

    @property
    def opened(self) -> Opened:
        return self._stream.opened

    @property
    def reconnects(self) -> int:
        return self._stream.reconnects

    def open(self) -> Opened:
        opened: Opened = _await(self._submit(self._stream.open()))
        return opened

    def close(self) -> None:
        _await(self._submit(self._stream.close()))

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _await(self._submit(self._stream.__aexit__(kind, error, trace)))


async def _make(address: str | Connection, options: StreamOptions | None) -> Client:
    return Client(address, options=options)  # on the loop that it belongs to


async def _next(items: AsyncIterator[T]) -> T:
    return await anext(items)


async def _leave(items: Any) -> None:
    await items.aclose()


def _await(future: Future[T]) -> T:
    """The outcome; an interrupt (Ctrl-C) of the caller takes the work back."""
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _in_order(sent: Iterable[Future[T]], ahead: int) -> Iterator[T]:
    """Outcomes in order, with at most this many under way; items are taken in the caller's thread."""
    under_way: deque[Future[T]] = deque()
    try:
        for future in sent:
            under_way.append(future)
            while under_way and (len(under_way) >= ahead or under_way[0].done()):
                yield _await(under_way.popleft())
        while under_way:
            yield _await(under_way.popleft())
    finally:
        for future in under_way:
            future.cancel()
