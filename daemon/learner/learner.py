"""One learner of the daemon: utterances and feedback in, answers out, every change an event in the journal.

`choose`, `teach` and `apply` run in the learner's work queue; `enter_utterance` and `enter_feedback` bring
requests there. A choice is answered at once: its event is durable with the next commit. Feedback is journaled,
synced, applied, and only then acknowledged. `apply` is the one state transition, the same live and on replay.
`capture` is the whole state as bytes: a snapshot, an export, and what the digest is taken of.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from time import time
from typing import Any, TypeVar

import numpy as np
import structlog

from galloon.codec.answer import answer_to_bytes, repeated
from galloon.codec.chosen import choice_of
from galloon.codec.explanation import Explanation
from galloon.codec.feedback import check_feedback, feedback_from_wire
from galloon.codec.learner import extra_to_wire
from galloon.codec.utterance import canonical_bytes, decode_utterance, fingerprint
from galloon.daemon.errors import OutOfService, StoreConflict, StoreError, Unavailable, UnknownLearner
from galloon.daemon.failpoints import reach
from galloon.daemon.futures import resolve
from galloon.daemon.learner import rehearsal
from galloon.daemon.learner.accepted_feedback import check_accepted
from galloon.daemon.learner.answers import explanation_of, lesson_of
from galloon.daemon.learner.books import Books
from galloon.daemon.learner.description import Description
from galloon.daemon.learner.events import Chose, Event, Expired, Taught
from galloon.daemon.learner.round import Reply, Round, Rounds, Status, Warm
from galloon.daemon.learner.work_queue import WorkQueue
from galloon.daemon.limits import Limits
from galloon.daemon.store.journal import Journal
from galloon.daemon.store.protocol import VOID, Entry, OnDurable, SaveSnapshot
from galloon.learners import state
from galloon.learners.combiners.contract import Combiner, Statistics
from galloon.learners.combiners.spec import ALGORITHMS, CombinerSpec
from galloon.learners.combiners.weight_table import WeightTable
from galloon.learners.errors import DamagedState, LearnerError
from galloon.learners.paths.protocol import Setting
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import utterance_pb2

SNAPSHOT_KIND = "learner"
SNAPSHOT_VERSION = 1
# Of utterances in the work queue, however many streams they came from: beyond this, streams read no more for a
# moment. As parsed messages they take twelve times as much.
WAITING_BYTES = 524_288
T = TypeVar("T")
Build = Callable[[CombinerSpec, int], Combiner]  # with the budget of transitions
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Captured:
    """The state after all entries up to `seq`."""

    seq: int
    data: bytes


class Learner:
    """Everything here runs in the work queue, unless it says otherwise."""

    def __init__(
        self,
        name: str,
        spec: CombinerSpec,
        build: Build,
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        self.name, self.spec, self._build = name, spec, build
        self._combiner = build(spec, limits.transitions)
        self._limits, self._clock = limits, clock
        self.setting = Setting(spec.setting) if spec.setting else ALGORITHMS[spec.algorithm]
        self.experts = (*spec.engines, *spec.derived)
        self.rounds = Rounds(limits.remembered_rounds)
        self.books = Books(spec)
        self.seq = 0  # of the last entry
        self.snapshot_seq = 0  # of the last entry that a snapshot covers
        self.snapshot_bytes = 0
        self.snapshot_time: float | None = None
        self.created_time = clock()  # or recovered
        self.broken: Exception | None = None
        self._closed = False

    def attach(self, key: int, queue: WorkQueue, journal: Journal) -> None:
        """Go live: from here on events are journaled under this key."""
        self.key, self.queue, self._journal = key, queue, journal
        self.rounds_recovered = self.rounds.started  # what a client saw beyond this was lost

    # Requests; called on the event loop.

    def enter_utterance(
        self, message: utterance_pb2.Utterance, size: int, alternatives: bool, reply: Reply
    ) -> None:
        """Answer an utterance that came as so many bytes."""
        kind = ("choose", size.bit_length())
        self.queue.enter(kind, partial(self.choose, message, alternatives), reply, size)

    def enter_feedback(self, message: wire.Feedback, reply: Reply) -> None:
        def done(answer: bytes | None, error: Exception | None) -> None:
            if answer is not None or error is not None:
                reply(answer, error)

        self.queue.enter(("teach", 0), partial(self.teach, message, reply), done)

    async def statuses(self, utterance_ids: list[str]) -> list[wire.RoundState.ValueType]:
        """What became of these utterances."""
        return await self.look("status", lambda rounds: [rounds.state_of(i) for i in utterance_ids])

    async def look(self, kind: str, work: Callable[[Rounds], T]) -> T:
        """Look at the rounds while none of them changes."""
        return await self.queue.run((kind, 0), partial(work, self.rounds))

    async def statistics(self) -> Statistics:
        return await self.queue.run(("statistics", 0), self._combiner.statistics)

    async def weights(self, most_rows: int) -> WeightTable:
        return await self.queue.run(("weights", 0), partial(self._combiner.weights, most_rows))

    async def digests(self) -> tuple[str, str]:
        """Of everything durable, and of the combiner's state alone."""

        def work() -> tuple[str, str]:
            return state.digest(self.capture(self.rounds.started)), self._combiner.digest()

        return await self.queue.run(("capture", 0), work)

    async def explain(self, utterance_id: str, slots: range) -> tuple[Explanation, int]:
        """Why these slots of an utterance were chosen so, and how many slots it has."""
        work = partial(self._explain, utterance_id, slots)
        return await self.queue.run(("explain", len(slots).bit_length()), work)

    async def export(self) -> bytes:
        return await self.queue.run(("capture", 0), lambda: self.capture(self.rounds.started))

    async def snapshot(self) -> int:
        """Write a snapshot that covers the journal up to now; returns the entries that it dropped.

        First it is restored: what could not come back never replaces what can.
        """
        taken = await self._captured()
        await asyncio.to_thread(self._check_comes_back, taken.data)
        try:
            dropped = await self._journal.transact(
                SaveSnapshot(self.key, taken.seq, taken.data, time(), (self.snapshot_seq,))
            )
        except StoreConflict as error:
            raise self._deleted() from error
        self.snapshot_seq, self.snapshot_bytes = taken.seq, len(taken.data)
        self.snapshot_time = self._clock()
        return dropped

    async def expire(self) -> None:
        """Expire rounds that waited too long."""
        await self.queue.run(("expire", 0), self._expire_overdue)

    async def close(self) -> None:
        """Refuse everything from now on: it is about to be deleted."""
        await self.queue.run(("close", 0), partial(setattr, self, "_closed", True))

    async def reopen(self) -> None:
        """It was not deleted after all."""
        await self.queue.run(("close", 0), partial(setattr, self, "_closed", False))

    def describe(self) -> Description:
        """What people are shown; computed from counts that are there anyway."""
        rounds = self.rounds
        return Description(
            name=self.name,
            spec=self.spec,
            setting=self.setting,
            derived=self._combiner.derived,
            game=self._combiner.game,
            rounds_started=rounds.started,
            lessons=rounds.lessons,
            rounds_pending=len(rounds.pending),
            rounds_expired=rounds.expired_count,
            total_gain=rounds.total_gain,
            rates=self.books.rates,
            journal_entries=self.journal_entries,
            snapshot_bytes=self.snapshot_bytes,
            snapshot_age_s=None if self.snapshot_time is None else self._clock() - self.snapshot_time,
            out_of_service=self.broken is not None,
        )

    @property
    def lags(self) -> bool:
        """Whether the queue or the disk is behind with this learner; streams then read no more for a moment."""
        return self.queue.waiting_bytes > WAITING_BYTES or self._journal.lags(self.key)

    @property
    def journal_entries(self) -> int:
        return self.seq - self.snapshot_seq

    # The life of a round, in the work queue.

    def choose(self, message: utterance_pb2.Utterance, alternatives: bool) -> bytes:
        """The answer to an utterance; a round begins, unless it has begun before."""
        self._check_usable()
        mark = fingerprint(canonical_bytes(message))
        known = self.rounds.answer_to(message.id, mark)
        if known is not None:
            return repeated(known)
        utterance = decode_utterance(message, self.spec.engines, self._limits)
        self._check_room()
        number = self.rounds.started
        choice = self._combiner.choose(utterance, number)
        answer = answer_to_bytes(choice_of(choice, message.id, number, self.rounds.lessons, alternatives))
        event = Chose(number, message.id, mark, choice.memory, answer)
        self.apply(event, Warm(utterance, choice))
        self._append(event)
        if len(self.rounds.pending) > self._limits.pending_rounds:
            self._expire_overdue()
        return answer

    def teach(self, message: wire.Feedback, reply: Reply) -> bytes | None:
        """The answer, where it is known already; else None, and `reply` hears of it when it is learned."""
        self._check_usable()
        data = canonical_bytes(message)
        mark = fingerprint(data)
        round_ = self.rounds.awaiting(message.id, mark)
        if round_.status is Status.LEARNED:
            return repeated(round_.lesson)
        if round_.status is Status.TEACHING:
            round_.waiters.append(reply)  # the same is on its way to the disk
            return None
        check_accepted(message, self.setting)  # refused before anything is written
        check_feedback(message)
        self._check_room()
        round_.status, round_.feedback, round_.waiters = Status.TEACHING, mark, [reply]
        event = Taught(message.id, mark, data)
        self._append(event, partial(self._on_durable, event, [round_]))
        return None

    def _on_durable(self, event: Taught | Expired, rounds: list[Round], error: StoreError | None) -> None:
        """On the event loop: an event is durable, or was given up; the next step is queued."""
        answered = partial(self._answer, rounds)
        if error is not None:
            self.queue.enter(("undo", 0), partial(_undo, rounds), lambda *_: answered(None, error))
        elif isinstance(event, Taught):
            self.queue.enter(("learn", 0), partial(self._apply_lesson, event), answered)
        else:
            self.queue.enter(("expire", 0), partial(self.apply, event), answered)

    def _apply_lesson(self, event: Taught) -> bytes:
        reach("lesson.before_apply")
        answer = self.apply(event)
        reach("lesson.after_apply")
        return answer

    def _answer(self, rounds: list[Round], answer: bytes | None, error: Exception | None) -> None:
        """On the event loop: tell everybody who waits for it."""
        for round_ in rounds:
            waiters, round_.waiters = round_.waiters, []
            for number, reply in enumerate(waiters):
                again = number > 0 and bool(answer)
                reply(repeated(answer) if again and answer else answer, error)

    def _expire_overdue(self) -> None:
        if self._closed:
            return
        started_before = self._clock() - self._limits.pending_age_s
        overdue = self.rounds.overdue(self._limits.pending_rounds, started_before)
        if overdue:
            event = Expired(overdue)
            rounds = [self.rounds.pending[utterance_id] for utterance_id in overdue]
            self._append(event, partial(self._on_durable, event, rounds))

    def _explain(self, utterance_id: str, slots: range) -> tuple[Explanation, int]:
        self._check_usable()
        round_ = self.rounds.known(utterance_id)
        memory = round_.memory if round_.warm is None else round_.warm.choice.memory
        known = self._combiner.explain(memory, slots, round_.view) if memory else None
        return explanation_of(round_.answer, round_.status.on_the_wire, self.rounds.lessons, known, slots)

    # The one state transition.

    def apply(self, event: Event, warm: Warm | None = None) -> bytes:
        """Apply an event, live or on replay; gives the answer to an utterance or to feedback.

        Feedback that the combiner refuses stays in the journal and changes nothing: not now, not on replay.
        After any other error the state cannot be trusted, and the learner stops.
        """
        match event:
            case Chose():
                round_ = self.rounds.chosen(event, self._clock(), warm)
                self._combiner.observe(event.memory, warm.choice.view if warm else None)
                return round_.answer
            case Taught():
                return self._learn(event)
            case Expired():
                self.rounds.expired(event.ids)
                return b""

    def _learn(self, event: Taught) -> bytes:
        round_ = self.rounds.taught(event.id)
        feedback = feedback_from_wire(wire.Feedback.FromString(event.feedback))
        try:
            lesson = self._combiner.learn(round_.memory, feedback, round_.view)
        except LearnerError:
            round_.wait_again()
            raise
        except Exception as error:
            self.broken = error
            raise
        self.rounds.learned(round_, event.fingerprint, lesson.gain)
        round_.lesson = answer_to_bytes(
            lesson_of(lesson, round_.id, round_.number, self.rounds.lessons, self.rounds.total_gain)
        )
        if round_.warm is not None:
            round_.warm.feedback = feedback
            self.books.enter(round_)
        return round_.lesson

    # Snapshots.

    def capture(self, before: int, observed: bytes = b"") -> bytes:
        """The whole state, as if no round from number `before` on had begun: with what was observed before it."""
        meta, arrays = self.rounds.capture(before)
        arrays["combiner"] = np.frombuffer(self._combiner.to_bytes(observed), dtype=np.uint8)
        meta["spec"] = self.spec.to_json()
        return state.pack(SNAPSHOT_KIND, SNAPSHOT_VERSION, meta, arrays)

    def restore(self, data: bytes) -> None:
        """Continue from captured bytes."""
        found = state.unpack(data, SNAPSHOT_KIND, SNAPSHOT_VERSION)
        self._combiner.restore(found.arrays["combiner"].tobytes())
        self.rounds.restore(found.meta, found.arrays, self._clock())
        self.snapshot_bytes, self.snapshot_time = len(data), self._clock()

    def _check_comes_back(self, data: bytes) -> None:
        """Refuse captured bytes that do not restore to themselves; the learner stops, its old snapshot stays."""
        try:
            self._twin(data)
        except LearnerError as error:
            self.broken = error
            log.exception("learner out of service: its state does not come back", learner=self.name)
            raise self.stopped() from error

    def _twin(self, data: bytes) -> "Learner":
        """Another learner of the same spec, made of captured bytes, which must be its own state's bytes too."""
        other = Learner(self.name, self.spec, self._build, self._limits, self._clock)
        other.restore(data)
        if other.capture(other.rounds.started) != data:
            raise DamagedState("another state came back than was captured")
        return other

    def rehearse(self) -> bytes:
        """The state as this daemon writes it, if all that will ever be done with it can be done.

        What a stranger sent may fail only later: when it is shown, written and read back, explained or taught.
        """
        data = self.capture(self.rounds.started)
        extra_to_wire(self._combiner.statistics().extra)
        self._combiner.digest()
        for answer in self.rounds.answers():
            repeated(answer)
        other = self._twin(data)
        rehearsal.play(other._combiner, self.rounds.pending.values())
        other._twin(other.capture(other.rounds.started))
        return data

    async def _captured(self) -> Captured:
        """The state after exactly the entries up to a mark, while rounds go on.

        The mark is a void entry. When it is durable, every feedback before it has been queued and none after it,
        so what is captured next in the work queue is the state at the mark but for rounds begun since.
        """
        captured: asyncio.Future[Captured] = asyncio.get_running_loop().create_future()

        def mark() -> None:
            self._check_usable()
            before, seq, observed = self.rounds.started, self.seq + 1, self._combiner.observed()

            def on_durable(error: StoreError | None) -> None:
                if error is None:
                    work = partial(self._capture_at, seq, before, observed)
                    self.queue.enter(("capture", 0), work, partial(resolve, captured))
                else:
                    resolve(captured, None, error)

            self._append(None, on_durable)

        await self.queue.run(("mark", 0), mark)
        return await captured

    def _capture_at(self, seq: int, before: int, observed: bytes) -> Captured:
        return Captured(seq, self.capture(before, observed))

    def _append(self, event: Event | None, on_durable: OnDurable | None = None) -> None:
        self.seq += 1
        kind, body = (VOID, b"") if event is None else (event.kind, event.to_bytes())
        self._journal.append(Entry(self.key, self.seq, kind, body, on_durable))

    def _check_usable(self) -> None:
        if self._closed:
            raise self._deleted()
        if self.broken is not None:
            raise self.stopped()

    def stopped(self) -> OutOfService:
        """What is said of it once it is broken."""
        return OutOfService(
            f"learner {self.name!r} has stopped after a defect of the daemon, which has logged why; import an "
            "older export under another name, or delete it"
        )

    def _deleted(self) -> UnknownLearner:
        return UnknownLearner(f"learner {self.name!r} has been deleted", "open.learner")

    def _check_room(self) -> None:
        if not self._journal.has_room():
            raise Unavailable("the disk of the daemon lags behind: send this again later")


def _undo(rounds: list[Round]) -> None:
    for round_ in rounds:
        round_.wait_again()


def spec_of(data: bytes) -> CombinerSpec:
    """The spec inside captured bytes."""
    meta: Mapping[str, Any] = state.unpack(data, SNAPSHOT_KIND, SNAPSHOT_VERSION).meta
    return CombinerSpec.from_json(meta["spec"])
