"""One learner in its lane: utterances and feedback in, answers out, every change an event in the journal.

`choose` and `teach` answer through a `Reply`. A choice is answered at once: its event is durable with the
next commit. Feedback is journaled, synced, applied (`apply`, the same on replay), and only then acknowledged.
`capture` is the whole state as bytes: a snapshot, an export, and what the digest is taken of.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from galloon.codec.answer import answer_to_bytes, repeated
from galloon.codec.explanation import Explanation
from galloon.codec.feedback import check_feedback, feedback_from_wire
from galloon.codec.learner import extra_to_wire
from galloon.codec.utterance import canonical_bytes, decode_utterance, fingerprint
from galloon.daemon.errors import Internal, StoreDamaged, StoreError, Unavailable, UnknownLearner
from galloon.daemon.failpoints import reach
from galloon.daemon.futures import resolve
from galloon.daemon.learner.accepted_feedback import check_accepted
from galloon.daemon.learner.answers import choice_of, explanation_of, lesson_of
from galloon.daemon.learner.books import Scoreboard
from galloon.daemon.learner.events import Chose, Event, Expired, Taught
from galloon.daemon.learner.recent import Recent
from galloon.daemon.learner.rounds import Pending, Rounds
from galloon.daemon.learner.work_queue import Lane
from galloon.daemon.limits import Limits
from galloon.daemon.store.journal import Journal
from galloon.daemon.store.protocol import VOID, Entry, OnDurable, SaveSnapshot
from galloon.learners import state
from galloon.learners.combiners.contract import Combiner, Lesson, Statistics
from galloon.learners.combiners.spec import ALGORITHMS, CombinerSpec
from galloon.learners.errors import LearnerError
from galloon.learners.paths.protocol import Setting
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import utterance_pb2

SNAPSHOT_KIND = "learner"
SNAPSHOT_VERSION = 1
# Of utterances in the work queue, however many streams they came from: beyond this, streams read no more for a
# moment. As parsed messages they take twelve times as much.
WAITING_BYTES = 524_288


class Reply(Protocol):
    """Who asked. Called once, on the event loop, with the answer or the error."""

    def __call__(self, answer: Any, error: Exception | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Captured:
    """The state after all entries up to `seq`."""

    seq: int
    data: bytes


class LearnerHost:
    """Everything here runs in the lane, unless it says otherwise."""

    def __init__(
        self,
        name: str,
        spec: CombinerSpec,
        combiner: Combiner,
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        self.name, self.spec, self._combiner = name, spec, combiner
        self._limits, self._clock = limits, clock
        self.setting = Setting(spec.setting) if spec.setting else ALGORITHMS[spec.algorithm]
        self.experts = (*spec.experts, *spec.derived)
        self.rounds = Rounds(limits.remembered_rounds)
        self.scoreboard = Scoreboard(spec)
        self.recent = Recent()
        self.seq = 0  # of the last entry
        self.snapshot_seq = 0  # of the last entry that a snapshot covers
        self.snapshot_bytes = 0
        self.snapshot_time: float | None = None
        self.created_time = clock()  # or recovered
        self.broken: Exception | None = None
        self._closed = False
        self._replies: dict[str, list[Reply]] = {}  # by utterance: who waits for feedback to be learned
        self._waiting_bytes = 0  # of utterances in the lane

    def attach(self, key: int, lane: Lane, journal: Journal) -> None:
        """Go live: from here on events are journaled under this key."""
        self.key, self.lane, self._journal = key, lane, journal
        self.rounds_recovered = self.rounds.started  # what a client saw beyond this was lost

    # Requests; called on the event loop.

    def choose(self, message: utterance_pb2.Utterance, size: int, alternatives: bool, reply: Reply) -> None:
        """Answer an utterance that came as so many bytes."""
        self._waiting_bytes += size

        def done(answer: bytes | None, error: Exception | None) -> None:
            self._waiting_bytes -= size
            reply(answer, error)

        self.lane.enter(("choose", size.bit_length()), partial(self._choose, message, alternatives), done)

    def teach(self, message: wire.Feedback, reply: Reply) -> None:
        def done(answer: bytes | None, error: Exception | None) -> None:
            if answer is not None or error is not None:
                reply(answer, error)

        self.lane.enter(("teach", 0), partial(self._teach, message, reply), done)

    async def statuses(self, utterance_ids: list[str]) -> list[wire.RoundState.ValueType]:
        """What became of these utterances."""
        return await self.lane.run(("status", 0), lambda: [self.rounds.state_of(i) for i in utterance_ids])

    async def statistics(self) -> Statistics:
        return await self.lane.run(("statistics", 0), self._combiner.statistics)

    async def digests(self) -> tuple[str, str]:
        """Of everything durable, and of the combiner's state alone."""

        def work() -> tuple[str, str]:
            return state.digest(self.capture(self.rounds.started)), self._combiner.digest()

        return await self.lane.run(("capture", 0), work)

    async def explain(self, utterance_id: str, slots: range) -> tuple[Explanation, int]:
        """Why these slots of an utterance were chosen so, and how many slots it has."""
        work = partial(self._explain, utterance_id, slots)
        return await self.lane.run(("explain", len(slots).bit_length()), work)

    async def export(self) -> bytes:
        return await self.lane.run(("capture", 0), lambda: self.capture(self.rounds.started))

    async def snapshot(self) -> int:
        """Write a snapshot that covers the journal up to now; returns the entries that it dropped."""
        taken = await self._captured()
        dropped = await self._journal.transact(SaveSnapshot(self.key, taken.seq, taken.data))
        self.snapshot_seq, self.snapshot_bytes = taken.seq, len(taken.data)
        self.snapshot_time = self._clock()
        return dropped

    async def expire(self) -> None:
        """Expire rounds that waited too long."""
        await self.lane.run(("expire", 0), self._expire_overdue)

    async def close(self) -> None:
        """Refuse everything from now on."""

        def work() -> None:
            self._closed = True

        await self.lane.run(("close", 0), work)

    @property
    def lags(self) -> bool:
        """Whether the lane or the disk is behind with this learner; streams then read no more for a moment."""
        return self._waiting_bytes > WAITING_BYTES or self._journal.lags(self.key)

    @property
    def journal_entries(self) -> int:
        return self.seq - self.snapshot_seq

    # The life of a round, in the lane.

    def _choose(self, message: utterance_pb2.Utterance, alternatives: bool) -> bytes:
        self._check_usable()
        mark = fingerprint(canonical_bytes(message))
        known = self.rounds.answer_to(message.id, mark)
        if known is not None:
            return repeated(known)
        observation = decode_utterance(message, self.spec.experts, self._limits)
        self._check_room()
        number = self.rounds.started
        choice = self._combiner.choose(observation, number)
        answer = answer_to_bytes(choice_of(choice, message.id, number, self.rounds.lessons, alternatives))
        event = Chose(number, message.id, mark, choice.memory, answer)
        self.rounds.chosen(event, self._clock(), choice.view)
        self._append(event)
        self.scoreboard.watch(message.id, observation, choice)
        self.recent.chose(message.id, choice)
        if len(self.rounds.pending) > self._limits.pending_rounds:
            self._expire_overdue()
        return answer

    def _teach(self, message: wire.Feedback, reply: Reply) -> bytes | None:
        """The answer, where it is known already; else None, and `reply` hears of it when it is learned."""
        self._check_usable()
        data = canonical_bytes(message)
        mark = fingerprint(data)
        found = self.rounds.question(message.id, mark)
        if isinstance(found, bytes):
            return repeated(found)
        if found.feedback is not None:
            self._replies[message.id].append(reply)  # the same is on its way to the disk
            return None
        check_accepted(message, self.setting)
        check_feedback(message)  # refused before anything is written
        self._check_room()
        found.feedback = mark
        self._replies[message.id] = [reply]
        event = Taught(message.id, mark, data)
        self._append(event, partial(self._written, event))
        return None

    def _written(self, event: Taught | Expired, error: StoreError | None) -> None:
        """On the event loop: an event is durable, or was given up; the next step is queued in the lane."""
        if isinstance(event, Taught) and error is None:
            self.lane.enter(("learn", 0), partial(self._live, event), partial(self._applied, event))
        elif error is None:
            self.lane.enter(("expire", 0), partial(self.apply, event), partial(self._applied, event))
        else:
            self.lane.enter(
                ("undo", 0), partial(self._undo, event), lambda *_: self._applied(event, None, error)
            )

    def _live(self, event: Taught) -> bytes:
        reach("lesson.before_apply")
        answer = self._learn(event)
        reach("lesson.after_apply")
        return answer

    def _applied(self, event: Taught | Expired, answer: bytes | None, error: Exception | None) -> None:
        """On the event loop: tell everybody who waits for it."""
        if isinstance(event, Taught):
            for number, reply in enumerate(self._replies.pop(event.id)):
                again = number > 0 and answer is not None
                reply(repeated(answer) if again and answer else answer, error)

    def _explain(self, utterance_id: str, slots: range) -> tuple[Explanation, int]:
        self._check_usable()
        answer, memory = self.rounds.remembered_of(utterance_id)
        view = None
        if (shown := self.recent.get(utterance_id)) is not None:
            memory, view = shown.choice.memory, shown.choice.view
        known = None if memory is None else self._combiner.explain(memory, slots, view)
        return explanation_of(answer, self.rounds.state_of(utterance_id), self.rounds.lessons, known, slots)

    def _undo(self, event: Taught | Expired) -> None:
        for utterance_id in event.ids if isinstance(event, Expired) else (event.id,):
            round_ = self.rounds.pending[utterance_id]
            round_.feedback, round_.leaving = None, False

    def _expire_overdue(self) -> None:
        born_before = self._clock() - self._limits.pending_age_s
        overdue = self.rounds.overdue(self._limits.pending_rounds, born_before)
        if overdue:
            event = Expired(overdue)
            self._append(event, partial(self._written, event))

    # The one state transition.

    def apply(self, event: Event) -> bytes | None:
        """Apply an event, live or on replay; gives the answer to feedback.

        Feedback that the combiner refuses stays in the journal and changes nothing: not now, not on replay.
        After any other error the state cannot be trusted, and the learner stops.
        """
        match event:
            case Chose():
                self.rounds.chosen(event, self._clock())
            case Expired():
                self.rounds.expired(event)
            case Taught():
                return self._learn(event)
        return None

    def _learn(self, event: Taught) -> bytes:
        round_ = self.rounds.pending.get(event.id)
        if round_ is None:
            raise StoreDamaged(
                f"the journal of {self.name!r} teaches round {event.id!r}, which is not pending"
            )
        feedback = feedback_from_wire(wire.Feedback.FromString(event.feedback))
        try:
            lesson = self._combiner.learn(round_.memory, feedback, round_.view)
        except LearnerError:
            round_.feedback = None
            raise
        except Exception as error:
            self.broken = error
            raise
        self.scoreboard.score(event.id, feedback)
        self.recent.learned(event.id, feedback, lesson)
        return self.rounds.learned(event, lesson.gain, partial(_lesson_answer, lesson))

    # Snapshots.

    def capture(self, before: int) -> bytes:
        """The whole state, as if no round from number `before` on had begun."""
        meta, arrays = self.rounds.capture(before)
        arrays["combiner"] = np.frombuffer(self._combiner.to_bytes(), dtype=np.uint8)
        meta["spec"] = self.spec.to_json()
        return state.pack(SNAPSHOT_KIND, SNAPSHOT_VERSION, meta, arrays)

    def restore(self, data: bytes) -> None:
        """Continue from captured bytes."""
        found = state.unpack(data, SNAPSHOT_KIND, SNAPSHOT_VERSION)
        self._combiner.restore(found.arrays["combiner"].tobytes())
        self.rounds.restore(found.meta, found.arrays, self._clock())
        self.snapshot_bytes, self.snapshot_time = len(data), self._clock()

    def rehearse(self) -> None:
        """Do all that is done with a state without an utterance: what a stranger sent may fail only later."""
        extra_to_wire(self._combiner.statistics().extra)
        self.capture(self.rounds.started)
        self._combiner.digest()
        for answer in self.rounds.answers():
            repeated(answer)

    async def _captured(self) -> Captured:
        """The state after exactly the entries up to a mark, while rounds go on.

        The mark is a void entry. When it is durable, every feedback before it has been queued in the lane and
        none after it, so what the lane captures next is the state at the mark but for rounds begun since.
        """
        captured: asyncio.Future[Captured] = asyncio.get_running_loop().create_future()

        def mark() -> None:
            self._check_usable()
            before, seq = self.rounds.started, self.seq + 1

            def written(error: StoreError | None) -> None:
                if error is None:
                    work = partial(self._capture_at, seq, before)
                    self.lane.enter(("capture", 0), work, partial(resolve, captured))
                else:
                    resolve(captured, None, error)

            self._append(None, written)

        await self.lane.run(("mark", 0), mark)
        return await captured

    def _capture_at(self, seq: int, before: int) -> Captured:
        return Captured(seq, self.capture(before))

    def _append(self, event: Event | None, on_durable: OnDurable | None = None) -> None:
        self.seq += 1
        kind, body = (VOID, b"") if event is None else (event.kind, event.to_bytes())
        self._journal.append(Entry(self.key, self.seq, kind, body, on_durable))

    def _check_usable(self) -> None:
        if self._closed:
            raise UnknownLearner(f"learner {self.name!r} has been deleted", "open.learner")
        if self.broken is not None:
            raise Internal("this learner has stopped after a defect; the daemon has logged why")

    def _check_room(self) -> None:
        if not self._journal.has_room():
            raise Unavailable("the disk of the daemon lags behind: send this again later")


def _lesson_answer(lesson: Lesson, round_: Pending, rounds: Rounds) -> bytes:
    answer = lesson_of(lesson, round_.id, round_.round_number, rounds.lessons, rounds.total_gain)
    return answer_to_bytes(answer)


def spec_of(data: bytes) -> CombinerSpec:
    """The spec inside captured bytes."""
    meta: Mapping[str, Any] = state.unpack(data, SNAPSHOT_KIND, SNAPSHOT_VERSION).meta
    return CombinerSpec.from_json(meta["spec"])
