"""The asynchronous client: `stream` combines and teaches, the other verbs manage learners.

    async with Client("127.0.0.1:7410") as client:
        async with client.stream("asr", create=Spec(engines=("a", "b"))) as stream:
            choice = await stream.choose(Utterance.of_slots("u1", {"a": ["the", "cat"], "b": ["the", "hat"]}))
            lesson = await stream.learn("u1", TrueText("the cat"))

Calls that only read, or that are safe to repeat, are tried again while the daemon is away, until their time is up.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from grpc import aio

from galloon.clients.api.challenges import Challenges
from galloon.clients.api.changes import Changes
from galloon.clients.api.connection import DEFAULT_ADDRESS, Connection
from galloon.clients.api.documents import Documents
from galloon.clients.api.errors import TimedOut, Unreachable
from galloon.clients.api.history import History
from galloon.clients.api.refusals import is_temporary, reading_answers, refusal_from_status
from galloon.clients.api.routes import Routes, owner_in
from galloon.clients.api.stream import CombineStream, StreamOptions
from galloon.codec.comparison import Comparison
from galloon.codec.document import DocumentLesson, DocumentPart
from galloon.codec.explanation import Explanation, explanation_from_wire
from galloon.codec.learner import (
    LearnerInfo,
    Snapshot,
    Statistics,
    Update,
    learner_from_wire,
    snapshot_from_wire,
    statistics_from_wire,
)
from galloon.codec.past_round import Erasure, PastRound
from galloon.codec.spec import given_to_wire
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.documents.document import Page
from galloon.v1 import learners_pb2 as wire
from galloon.v1.combine_pb2_grpc import CombineServiceStub
from galloon.v1.learners_pb2_grpc import LearnerServiceStub

if TYPE_CHECKING:
    from galloon.v1.learners_pb2_grpc import LearnerServiceAsyncStub

CHUNK_BYTES = 256 * 1024
PAGE = 1000
T = TypeVar("T")


class Client:
    """A daemon, or several that share a store ("one:7410,two:7410"), for any number of streams.

    Belongs to one event loop.
    """

    def __init__(
        self,
        address: str | Connection = DEFAULT_ADDRESS,
        *,
        options: StreamOptions | None = None,
        random: Random | None = None,
    ) -> None:
        """`options` are the defaults of streams; their `timeout_s` holds for the other calls too."""
        self.connection = address if isinstance(address, Connection) else Connection(address)
        self._options, self._random = options or StreamOptions(), random or Random()
        self._routes = Routes(self.connection)
        self._documents = Documents(self._routes, self._repeat)
        self._history = History(self._routes, self._repeat)
        self._challenges = Challenges(self._routes, self._repeat)
        self._changes = Changes(self._routes, self._repeat)

    def stream(
        self,
        learner: str,
        create: CombinerSpec | None = None,
        *,
        alternatives: bool = False,
        options: StreamOptions | None = None,
    ) -> CombineStream:
        """A stream to a learner, made from the spec `create` if there is none of that name."""
        return CombineStream(
            lambda: CombineServiceStub(self._routes.channel(learner)).Combine(
                metadata=self._routes.metadata(learner)
            ),
            learner,
            create,
            lost=partial(self._routes.lost, learner),
            elsewhere=partial(self._routes.elsewhere, learner),
            alternatives=alternatives,
            options=options or self._options,
            random=self._random,
        )

    async def create_learner(
        self, name: str, spec: CombinerSpec, *, timeout_s: float | None = None
    ) -> LearnerInfo:
        """Make a learner; durable when it returns. `created` is false when it was there and agrees."""
        request = wire.CreateLearnerRequest(name=name, spec=given_to_wire(spec))
        response = await self._repeat(
            lambda left: self._at(name).CreateLearner(
                request, timeout=left, metadata=self._routes.metadata(name)
            ),
            f"create learner {name!r}",
            timeout_s,
            name,
        )
        return _shown(response.learner, created=response.created)

    async def get_learner(self, name: str, *, timeout_s: float | None = None) -> LearnerInfo:
        """One learner with its statistics and digests."""
        request = wire.GetLearnerRequest(name=name)
        response = await self._repeat(
            lambda left: self._at(name).GetLearner(
                request, timeout=left, metadata=self._routes.metadata(name)
            ),
            f"learner {name!r}",
            timeout_s,
            name,
        )
        return _shown(response.learner)

    async def list_learners(
        self, prefix: str = "", *, this_daemon: bool = False, timeout_s: float | None = None
    ) -> list[LearnerInfo]:
        """All learners that we may see whose names start so, by name, without statistics.

        Where several daemons share a store, those of all of them; with `this_daemon` those that are live on the
        one that is asked.
        """
        request = wire.ListLearnersRequest(page_size=PAGE, prefix=prefix, this_daemon=this_daemon)
        learners: list[LearnerInfo] = []
        while True:
            response = await self._repeat(
                lambda left: self._at("").ListLearners(
                    request, timeout=left, metadata=self._routes.metadata("")
                ),
                "list learners",
                timeout_s,
            )
            learners += [_shown(learner) for learner in response.learners]
            if not response.next_page_token:
                return learners
            request.page_token = response.next_page_token

    async def out_of_service(self, prefix: str = "", *, timeout_s: float | None = None) -> dict[str, str]:
        """The learners whose names start so that the daemon keeps and cannot use, by name, and why."""
        request = wire.ListLearnersRequest(page_size=1, prefix=prefix)
        response = await self._repeat(
            lambda left: self._at("").ListLearners(request, timeout=left, metadata=self._routes.metadata("")),
            "list learners",
            timeout_s,
        )
        return {learner.name: learner.why for learner in response.out_of_service}

    async def delete_learner(self, name: str, *, timeout_s: float | None = None) -> None:
        """Delete a learner for good; durable when it returns.

        `NotFound` may mean that an attempt whose answer was lost has deleted it.
        """
        request = wire.DeleteLearnerRequest(name=name)
        await self._repeat(
            lambda left: self._at(name).DeleteLearner(
                request, timeout=left, metadata=self._routes.metadata(name)
            ),
            f"delete learner {name!r}",
            timeout_s,
            name,
        )

    async def snapshot_learner(self, name: str, *, timeout_s: float | None = None) -> Snapshot:
        """Write a snapshot now, so that the next start is quick."""
        request = wire.SnapshotLearnerRequest(name=name)
        response = await self._repeat(
            lambda left: self._at(name).SnapshotLearner(
                request, timeout=left, metadata=self._routes.metadata(name)
            ),
            f"snapshot of learner {name!r}",
            timeout_s,
            name,
        )
        return snapshot_from_wire(response)

    async def rebuild_learner(
        self,
        name: str,
        *,
        without_ids: Sequence[str] = (),
        as_of: float = 0.0,
        timeout_s: float | None = None,
    ) -> wire.RebuildLearnerResponse:
        """Make its state again from its history; first, feedback on these ids, or of later, is withdrawn."""
        request = wire.RebuildLearnerRequest(name=name, without_ids=without_ids, as_of=as_of)
        return await self._repeat(
            lambda left: self._at(name).RebuildLearner(
                request, timeout=left, metadata=self._routes.metadata(name)
            ),
            f"rebuild of learner {name!r}",
            timeout_s,
            name,
        )

    async def add_challenger(
        self, name: str, label: str, spec: CombinerSpec, *, timeout_s: float | None = None
    ) -> LearnerInfo:
        """Let another spec play the rounds of a learner, from its history on, and answer nobody."""
        return await self._challenges.add(name, label, spec, timeout_s)

    async def compare_learner(self, name: str, *, timeout_s: float | None = None) -> Comparison:
        """A learner against its challengers, the vote and every engine, and what follows from it."""
        return await self._challenges.compare(name, timeout_s)

    async def promote_challenger(
        self, name: str, label: str, *, timeout_s: float | None = None
    ) -> LearnerInfo:
        """Exchange a learner and its challenger, while it serves; the learner as it is now."""
        return await self._challenges.promote(name, label, timeout_s)

    async def go_live(self, name: str, *, timeout_s: float | None = None) -> tuple[LearnerInfo, str]:
        """Let a learner in the shadow answer itself; the learner, and who was answered so far."""
        return await self._challenges.go_live(name, timeout_s)

    async def update_learner(
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
        """Let a learner go on with another spec, while it serves.

        `changes` are fields of a spec, e.g. `normalizer="basic"`; `default_fields` go back to their defaults. What
        was learned is carried over, or learned again from the history (always so with `rebuild`). What would lose
        something that was learned is refused, unless `accept_loss`.
        """
        present = (await self.get_learner(name, timeout_s=timeout_s)).spec
        request = wire.UpdateLearnerRequest(
            name=name, default_fields=default_fields, rebuild=rebuild, accept_loss=accept_loss
        )
        engines = (add_engines, remove_engines)
        return await self._changes.update(name, present, engines, changes, request, timeout_s)

    async def erase_rounds(
        self,
        name: str,
        ids: Sequence[str] = (),
        *,
        label: tuple[str, str] = ("", ""),
        accept_loss: bool = False,
        timeout_s: float | None = None,
    ) -> Erasure:
        """Erase rounds for good: those of these ids, or all so far whose utterances have this label and value.

        What they said leaves the history, the snapshots, the learner's state and the files before it returns.
        """
        return await self._changes.erase(name, ids, label, accept_loss, timeout_s)

    async def explain(
        self, learner: str, utterance_id: str, *, timeout_s: float | None = None
    ) -> Explanation:
        """Why each token of an utterance was chosen, as far as the daemon remembers; changes nothing."""
        request = wire.ExplainUtteranceRequest(name=learner, id=utterance_id)
        pages: list[wire.ExplainUtteranceResponse] = []
        while not pages or (pages[-1].slots and request.first_slot < pages[-1].slot_count):
            pages.append(
                await self._repeat(
                    lambda left: self._at(learner).ExplainUtterance(
                        request, timeout=left, metadata=self._routes.metadata(learner)
                    ),
                    f"explain utterance {utterance_id!r} of learner {learner!r}",
                    timeout_s,
                    learner,
                )
            )
            request.first_slot += len(pages[-1].slots)
        return explanation_from_wire(pages)

    async def export_learner(self, name: str, *, timeout_s: float | None = None) -> bytes:
        """The whole learner as bytes, to keep or to import elsewhere."""
        request = wire.ExportLearnerRequest(name=name)

        async def attempt(left: float) -> bytes:
            call = self._at(name).ExportLearner(request, timeout=left, metadata=self._routes.metadata(name))
            return b"".join([part.chunk async for part in call])

        return await self._repeat(attempt, f"export of learner {name!r}", timeout_s, name)

    async def import_learner(self, name: str, data: bytes, *, timeout_s: float | None = None) -> LearnerInfo:
        """Make a learner, of a name not yet taken, from exported bytes; durable when it returns. Tried once."""

        def parts() -> Iterator[wire.ImportLearnerRequest]:
            yield wire.ImportLearnerRequest(name=name)
            for start in range(0, len(data), CHUNK_BYTES):
                yield wire.ImportLearnerRequest(chunk=data[start : start + CHUNK_BYTES])

        about, seconds = f"import of learner {name!r}", self._seconds(timeout_s)
        try:
            response = await self._at(name).ImportLearner(
                parts(), timeout=seconds, metadata=self._routes.metadata(name)
            )
        except aio.AioRpcError as error:
            if (owner := owner_in(error)) and owner != self._routes.address(name):
                self._routes.lost(name, owner)  # nothing was done there
                return await self.import_learner(name, data, timeout_s=timeout_s)
            if is_temporary(error):
                raise Unreachable(
                    f"{about}: {error.details()}; look whether it is there before trying again"
                ) from error
            raise refusal_from_status(error, about) from error
        return _shown(response.learner)

    def combine_document(
        self,
        learner: str,
        document_id: str,
        pages: Iterable[Mapping[str, Page]],
        *,
        order_from: str = "",
        timeout_s: float | None = None,
    ) -> AsyncIterator[DocumentPart]:
        """Combine a document: for each page what each engine made of it; a recording is one page.

        Lines come in reading order, as they are combined. Each is a round of its own: teach it by `choice.id`, or
        all by `correct_document`. Parts of a recording that was too long for a message count as pages.
        """
        return self._documents.combine(learner, document_id, pages, order_from, timeout_s)

    async def correct_document(
        self,
        learner: str,
        document_id: str,
        true_texts: str | Sequence[str],
        *,
        timeout_s: float | None = None,
    ) -> DocumentLesson:
        """Teach the true text of a combined document: one of the whole, or one of each page, in reading order."""
        return await self._documents.correct(learner, document_id, true_texts, timeout_s)

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
    ) -> AsyncIterator[PastRound]:
        """The rounds of a learner's history as they stand now, from the first on, read page by page.

        `state` is pending, learned or expired, or empty for any; `since` and `until` (0: no end) are seconds of
        Unix. With `ids` these alone, in this order; those that the history does not have are put into `unknown`.
        """
        return self._history.rounds(
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

    async def watch_learner(self, name: str, *, interval_s: float = 1.0) -> AsyncIterator[Statistics]:
        """Statistics at once and then at the interval, until the caller leaves or the connection is lost."""
        request = wire.WatchStatisticsRequest(name=name, interval_s=interval_s)
        call = self._at(name).WatchStatistics(request, metadata=self._routes.metadata(name))
        try:
            async for response in call:
                yield statistics_from_wire(response.statistics)
        except aio.AioRpcError as error:
            if is_temporary(error):
                self._routes.lost(name, owner_in(error))  # whoever asks again asks the right one
                raise Unreachable(f"learner {name!r}: {error.details()}") from error
            raise refusal_from_status(error, f"learner {name!r}") from error
        finally:
            call.cancel()

    async def close(self) -> None:
        """Let go of the connection; streams that are still open end."""
        await self._routes.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _at(self, learner: str) -> "LearnerServiceAsyncStub":
        return LearnerServiceStub(self._routes.channel(learner))

    def _seconds(self, timeout_s: float | None) -> float:
        return self._options.timeout_s if timeout_s is None else timeout_s

    async def _repeat(
        self, attempt: Callable[[float], Awaitable[T]], about: str, timeout_s: float | None, learner: str = ""
    ) -> T:
        """Try a call that is safe to repeat while the daemon is away, until its time is up."""
        loop, seconds = asyncio.get_running_loop(), self._seconds(timeout_s)
        deadline = loop.time() + seconds
        for delay in self._options.backoff.delays(self._random):
            try:
                return await attempt(max(0.0, deadline - loop.time()))
            except aio.AioRpcError as error:
                if error.code().name == "DEADLINE_EXCEEDED":
                    raise TimedOut(f"{about}: no answer within {seconds:g} s") from error
                if not is_temporary(error):
                    raise refusal_from_status(error, about) from error
                if loop.time() + delay >= deadline:
                    raise Unreachable(
                        f"{about}: no daemon at {self.connection.address} within {seconds:g} s: {error.details()}"
                    ) from error
                owner = owner_in(error)
                self._routes.lost(learner, owner)
            if not owner:
                await asyncio.sleep(delay)
        raise AssertionError("delays have no end")


def _shown(message: wire.Learner, *, created: bool = False) -> LearnerInfo:
    with reading_answers():
        return learner_from_wire(message, created=created)
