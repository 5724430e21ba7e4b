"""One learner of the daemon: utterances and feedback in, answers out, every change an event in the journal.

`choose`, `teach` and `apply` run in the learner's work queue; `enter_utterance` and `enter_feedback` bring
requests there. A choice is answered at once: its event is durable with the next commit. Feedback is journaled,
synced, applied, and only then acknowledged. `apply` is the one state transition, the same live and on replay.
`capture` is the whole state as bytes: a snapshot, an export, and what the digest is taken of. Rounds are no part
of it: they are the history (`History`), and any of them can be taught at any time.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from time import time
from typing import Any, TypeVar

import numpy as np
import structlog

from galloon.codec.answer import answer_to_bytes, repeated
from galloon.codec.chosen import choice_of
from galloon.codec.explanation import Explanation
from galloon.codec.feedback import check_feedback, feedback_from_wire
from galloon.codec.learner import extra_to_wire
from galloon.codec.utterance import canonical_bytes, decode_utterance, fingerprint, of_engines
from galloon.daemon.errors import (
    Invalid,
    OtherFeedback,
    OutOfService,
    StoreConflict,
    StoreError,
    Unavailable,
    UnknownLearner,
    UnknownRound,
)
from galloon.daemon.failpoints import reach
from galloon.daemon.futures import resolve
from galloon.daemon.learner import rehearsal
from galloon.daemon.learner.accepted_feedback import check_accepted, check_replayable
from galloon.daemon.learner.answers import explanation_of, lesson_of
from galloon.daemon.learner.books import Books
from galloon.daemon.learner.description import Description
from galloon.daemon.learner.events import (
    Amended,
    Applied,
    Chose,
    Erased,
    Event,
    Exchanged,
    Expired,
    Kept,
    Revised,
    Taught,
    TaughtAtOnce,
    Updated,
    key_of,
)
from galloon.daemon.learner.history import History
from galloon.daemon.learner.id_filter import IdFilter
from galloon.daemon.learner.late_offers import joined
from galloon.daemon.learner.names import champion_of, is_challenger
from galloon.daemon.learner.old_rounds import old_rounds
from galloon.daemon.learner.rebuild import Rebuilt
from galloon.daemon.learner.round import Reply, Round, Rounds, Status, Warm
from galloon.daemon.learner.shadow import answered_instead
from galloon.daemon.learner.work_queue import DISK, LARGE, WorkQueue
from galloon.daemon.limits import Limits
from galloon.daemon.store.journal import Journal
from galloon.daemon.store.protocol import Entry, Exchange, OnDurable, SaveSnapshot
from galloon.learners import state
from galloon.learners.combiners import contract
from galloon.learners.combiners.contract import Combiner, Statistics
from galloon.learners.combiners.spec import ALGORITHMS, CombinerSpec
from galloon.learners.combiners.weight_table import WeightTable
from galloon.learners.errors import DamagedState, LearnerError
from galloon.learners.paths.protocol import Setting
from galloon.learners.saved_learner import KIND, VERSION
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import utterance_pb2

# Of utterances in the work queue, however many streams they came from: beyond this, streams read no more for a
# moment. As parsed messages they take twelve times as much.
WAITING_BYTES = 524_288
# What a snapshot holds beside the state.
BESIDE = ("unapplied", "books", "followed", "memories_since", "carried", "erased_before")
# Utterances, feedback and memories of rounds that are no larger may be worked on by the event loop: some
# milliseconds at most, whatever is in them.
INLINE_BYTES, INLINE_MEMORY = 4096, 65_536
IDS_AT_ONCE = 5_000  # some milliseconds
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
        self.limits, self._clock = limits, clock
        self.setting = Setting(spec.setting) if spec.setting else ALGORITHMS[spec.algorithm]
        self.experts = (*spec.engines, *spec.derived)
        self.rounds = Rounds(limits.warm_rounds)
        self.history: History | None = None
        self.unapplied: dict[str, int] = {}  # feedback that is journaled and not yet applied: seq by id
        self.unrecorded: list[Applied] = []  # applied while it was recovered; the journal does not say so yet
        self.amended_seq = 0  # of the last amendment that the state does not know; 0 where it knows all
        self.books = Books(spec, self._combiner.offers)
        self.seq = 0  # of the last entry
        self.snapshot_seq = 0  # of the last entry that a snapshot covers
        self.snapshot_bytes = 0
        self.snapshot_time: float | None = None
        self.created_time = clock()  # or recovered
        self.beside_found: dict[str, Any] = {}  # beside a state; only our own store is believed
        self.followed = 0  # of a challenger: the last entry of its champion's history that it has played
        self._digests: tuple[str, str] | None = None  # of the present state, once somebody has asked
        self.broken: Exception | None = None
        self.replaying = False  # the history goes on after `seq`, but not for this learner
        self.memories_since = (
            0  # rounds of lower numbers were chosen by another spec, and must be chosen again
        )
        self.carried = False  # over to another spec: a learner made anew has other places in its memories
        self.erasing: frozenset[str] = frozenset()  # ids of rounds that are about to go
        self.erased_before = 0  # rounds from this number on are all as they were
        self._first_round: tuple[int, int] | None = None  # after a cut: its place, and the number
        self.exchanging = asyncio.Lock()  # one state at a time takes the place of the present one
        self.promoting = asyncio.Lock()  # one challenger at a time
        self.rebuild_places = asyncio.Semaphore(1)  # shared with other learners once it lives
        self.rebuilds_begun = 0
        self.last_rebuilt: tuple[int, Rebuilt] | None = None  # with the number of its beginning
        self._snapshotting = asyncio.Lock()
        self._closed = False
        self._revisions: set[asyncio.Task[None]] = set()  # that wait for the disk

    def read_from(self, history: History) -> None:
        """Rounds that are not warm are here."""
        self.history = history
        self.rounds.find_cold = lambda utterance_id: history.find(
            utterance_id, self.seq if self.replaying else None
        )
        self.rounds.ids = IdFilter(complete=False)

    def attach(self, key: int, queue: WorkQueue, journal: Journal, history: History) -> None:
        """Go live: from here on events are journaled under this key."""
        self.key, self.queue, self._journal = key, queue, journal
        self.history, self.rounds.find_cold = history, history.find
        recovered = self.seq
        self.rounds.durable = lambda: max(journal.durable(key), recovered)
        self.rounds_recovered = self.rounds.started  # what a client saw beyond this was lost
        for applied in self.unrecorded:
            self._append(applied)
        for round_ in [each for each in self.rounds.recent.values() if not each.in_history]:
            self._append(round_.keep())
        self.unrecorded = []

    # Requests; called on the event loop.

    def enter_utterance(
        self, message: utterance_pb2.Utterance, size: int, alternatives: bool, reply: Reply
    ) -> None:
        """Answer an utterance that came as so many bytes."""
        if message.late:
            self._enter_late(message, size, alternatives, reply)
            return
        kind = ("choose", size.bit_length()) if size <= INLINE_BYTES else (LARGE, 0)
        self.queue.enter(kind, partial(self.choose, message, alternatives), reply, size)

    def enter_feedback(self, message: wire.Feedback, reply: Reply) -> None:
        def done(answer: bytes | None, error: Exception | None) -> None:
            if answer is not None or error is not None:
                reply(answer, error)

        kind = "teach" if message.id in self.rounds.recent else DISK
        kind = kind if message.ByteSize() <= INLINE_BYTES else LARGE
        self.queue.enter((kind, 0), partial(self.teach, message, reply), done)

    def _enter_late(
        self, message: utterance_pb2.Utterance, size: int, alternatives: bool, reply: Reply
    ) -> None:
        """Outputs for a round that was answered; the answer waits for the disk, as feedback counts for it."""

        def revised(answer: bytes | None, error: Exception | None) -> None:
            if answer is None:
                reply(None, error)
                return
            task = asyncio.get_running_loop().create_task(self._when_durable(answer, reply))
            self._revisions.add(task)
            task.add_done_callback(self._revisions.discard)

        self.queue.enter((DISK, 0), partial(self.revise, message, alternatives), revised, size)

    async def _when_durable(self, answer: bytes, reply: Reply) -> None:
        try:
            await self._journal.flushed()
        except Exception as error:  # noqa: BLE001  # becomes the answer
            reply(None, error)
        else:
            reply(answer, None)

    async def statuses(self, utterance_ids: list[str]) -> tuple[list[wire.RoundState.ValueType], int | None]:
        """What became of these utterances; if one is unknown, the number from which on the history is whole."""

        def work(rounds: Rounds) -> tuple[list[wire.RoundState.ValueType], int | None]:
            states = [rounds.state_of(utterance_id) for utterance_id in utterance_ids]
            return states, self._whole_from() if wire.ROUND_STATE_UNKNOWN in states else None

        return await self.look(DISK, work)

    def _whole_from(self) -> int:
        """From this round on, every one that was ever durable is in the history, and none was erased."""
        cut = max(self.rounds.cut, self.recorded().cut())
        if self._first_round is None or self._first_round[0] != cut:
            number = self.recorded().first_round(cut)
            if number is None:  # none since the cut is durable, so all that there are are in memory
                begun = (round_.number for round_ in self.rounds.recent.values() if round_.seq > cut)
                return max(self.erased_before, min(begun, default=self.rounds.started))
            self._first_round = cut, number
        return max(self.erased_before, self._first_round[1])

    def latest(self, most: int) -> list[Round]:
        """The last rounds, the newest first: those in memory, and others from the history."""
        found = {round_.id: round_ for round_ in self.rounds.latest(most)}
        if self.history is not None and len(found) < min(most, self.rounds.started):
            for round_ in self.history.latest(most, self.seq):
                found.setdefault(round_.id, round_)
        return sorted(found.values(), key=lambda round_: -round_.number)[:most]

    def recorded(self) -> History:
        """Its history; a learner that lives has one."""
        assert self.history is not None, "a learner that lives has a history"
        return self.history

    async def written(self) -> None:
        """Until all that was answered so far is in the history."""
        await self._journal.flushed()

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
            if self._digests is None:
                self._digests = state.digest(self.capture()), self._combiner.digest()
            return self._digests

        return await self.queue.run((LARGE if self._digests is None else DISK, 0), work)

    async def explain(self, utterance_id: str, slots: range) -> tuple[Explanation, int]:
        """Why these slots of an utterance were chosen so, and how many slots it has."""
        return await self.queue.run((DISK, 0), partial(self._explain, utterance_id, slots))

    async def export(self) -> bytes:
        return await self.queue.run(("capture", 0), self.capture)

    async def snapshot(self) -> int:
        """Write a snapshot that covers the journal up to now; returns the older ones that it replaced.

        First it is restored: what could not come back never replaces what can.
        """
        async with self._snapshotting:  # what many ask for at once is in memory once
            if await self.queue.run(("covered", 0), self._is_covered):
                return 0
            taken = await self.queue.run(("capture", 0), self._captured)
            await asyncio.to_thread(self._check_comes_back, taken.data)
            old = await asyncio.to_thread(self.recorded().superseded)
            try:
                gone = await self._journal.transact(
                    SaveSnapshot(self.key, taken.seq, taken.data, time(), old)
                )
            except StoreConflict as error:
                raise self._deleted() from error
            if taken.seq >= self.snapshot_seq:  # else another state has taken its place meanwhile
                self.snapshot_seq, self.snapshot_bytes = taken.seq, len(taken.data)
                self.snapshot_time = self._clock()
            return gone

    async def withdraw(self, utterance_id: str) -> None:
        """Take back what a round was taught."""
        answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        message = wire.Feedback(id=utterance_id, withdrawn=True, replace=True)
        self.enter_feedback(message, partial(resolve, answered))
        await answered

    async def still_taught(self, found: list[str]) -> list[str]:
        """Those of these rounds that have feedback."""
        return await self.look(
            DISK, lambda rounds: [id_ for id_ in found if rounds.known(id_).status is Status.LEARNED]
        )

    async def cut_at(self, seq: int) -> None:
        """Retention takes everything up to this entry: what was in memory of it is known no more."""
        await self.queue.run(("cut", 0), partial(self.rounds.cut_at, seq))

    # Another state in the place of this one: see `exchange`.

    def another(self, spec: CombinerSpec) -> "Learner":
        """A new learner of the same name, which is nowhere yet."""
        return Learner(self.name, spec, self._build, self.limits, self._clock)

    def carry_on(self, before: "Learner", carry_over: Callable[[Combiner, CombinerSpec], Combiner]) -> None:
        """Begin with what a learner of another spec has learned and counted."""
        same = self.spec == replace(
            before.spec, answer=self.spec.answer
        )  # which is no matter of the combiner
        self._digests = None
        self._combiner = before._combiner if same else carry_over(before._combiner, self.spec)
        self.rounds.restore(*before.rounds.capture())

    def flush(self, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread: until all that was answered so far is in the history."""
        asyncio.run_coroutine_threadsafe(self._journal.flushed(), loop).result()

    def take_over(
        self,
        other: "Learner",
        event: Exchanged | Updated | Erased,
        since: int,
        loop: asyncio.AbstractEventLoop,
        base: bytes | None = None,
    ) -> None:
        """In a thread of the work queue: go on as the other learner, once that is durable.

        Snapshots from `since` on hold another state, and go; `base` takes the place of the one at the base.
        """
        spec = other.spec.to_json() if other.spec != self.spec else None
        erased = event.ids if isinstance(event, Erased) else ()
        self.seq += 1
        with self.books.without(self.recorded(), erased):
            beside = {**self._beside(), "books": self.books.to_json(other.spec)}
            moved = {"memories_since": other.memories_since, "carried": other.carried}
            if isinstance(event, Erased):
                moved["erased_before"] = self.rounds.started
            data = other._packed({**beside, **moved})
            keys = tuple(map(key_of, erased))
            change = Exchange(
                self.key, self.seq, event.kind, event.to_bytes(), data, time(), since, spec, keys, base
            )
            asyncio.run_coroutine_threadsafe(self._journal.transact(change), loop).result()
        self._combiner, self.amended_seq, self._digests = other._combiner, other.amended_seq, None
        self.spec, self.setting, self.experts = other.spec, other.setting, other.experts
        self.memories_since, self.carried = other.memories_since, other.carried
        self.rounds.cool()
        self.rounds.forget(erased)
        self.erased_before = self.rounds.started if erased else self.erased_before
        self.books.go_on(self.spec, self._combiner.offers, self.memories_since)
        self.rounds.take_counts(other.rounds)
        self.snapshot_seq, self.snapshot_bytes, self.snapshot_time = self.seq, len(data), self._clock()

    async def load_ids(self) -> None:
        """Read which ids are known, after a start, so that new utterances need no look at the disk."""
        if self.rounds.ids.complete or self.history is None:
            return
        keys = self.history.keys()
        while chunk := await asyncio.to_thread(next, keys, None):
            for start in range(0, len(chunk), IDS_AT_ONCE):
                add = partial(self.rounds.ids.add_all, chunk[start : start + IDS_AT_ONCE])
                await self.queue.run(("ids", 0), add)
        self.rounds.ids.complete = True

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
            rounds_pending=rounds.pending,
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
        self.check_usable()
        self._check_answers()
        canonical = canonical_bytes(message)
        mark = fingerprint(canonical)
        known = self.rounds.answer_to(message.id, mark)
        if known is not None:
            return repeated(known)
        return self._begin(message, canonical, self.rounds.started, alternatives)

    def begin(self, message: utterance_pb2.Utterance, number: int) -> None:
        """A round of this number, as the champion of a challenger had it."""
        self._begin(message, canonical_bytes(message), number)

    def _begin(
        self, message: utterance_pb2.Utterance, canonical: bytes, number: int, alternatives: bool = False
    ) -> bytes:
        event, warm = self._chosen(message, canonical, number, alternatives)
        self.apply(event, warm)
        self._append(event)
        return event.answer

    def revise(self, message: utterance_pb2.Utterance, alternatives: bool = False) -> bytes:
        """The answer to outputs that come late: the same round, made anew with them."""
        self.check_usable()
        self._check_answers()
        round_ = self.rounds.open_to_offers(message.id)
        whole = joined(round_.utterance, message)
        return repeated(round_.answer) if whole is None else self.revise_to(round_, whole, alternatives)

    def revise_to(self, round_: Round, whole: utterance_pb2.Utterance, alternatives: bool = False) -> bytes:
        """A round goes on as if this had been said."""
        event, warm = self._chosen(whole, canonical_bytes(whole), round_.number, alternatives, Revised)
        self.apply(event, warm)
        self._append(event)
        return event.answer

    def _chosen(
        self,
        message: utterance_pb2.Utterance,
        canonical: bytes,
        number: int,
        alternatives: bool,
        kind: type[Chose] = Chose,
    ) -> tuple[Chose, Warm]:
        """What becomes of an utterance as an event, which changes nothing yet."""
        utterance = decode_utterance(message, self.spec.engines, self.limits)
        self._check_room()
        choice = self._combiner.choose(utterance, number)
        shown = choice_of(choice, message.id, number, self.rounds.lessons, alternatives)
        if self.spec.answer:
            shown = answered_instead(shown, choice, utterance, self.spec)
        answer = answer_to_bytes(replace(shown, revised=kind is Revised))
        mark = fingerprint(canonical)
        event = kind(number, message.id, mark, choice.memory, answer, canonical, time())
        return event, Warm(utterance, choice)

    def teach(self, message: wire.Feedback, reply: Reply) -> bytes | None:
        """The answer, where it is known already; else None, and `reply` hears of it when it is learned."""
        self.check_usable()
        self._check_answers()
        if message.id in self.erasing:
            raise UnknownRound(f"the round of utterance {message.id!r} is being erased", "feedback.id")
        replace = message.replace
        message.ClearField("replace")  # how it came, not what it says
        data = canonical_bytes(message)
        mark = fingerprint(data)
        round_ = self.rounds.awaiting(message.id, mark, replace)
        if round_.status is Status.LEARNED and round_.feedback == mark:
            return repeated(round_.lesson)
        if round_.status is Status.TEACHING:
            round_.waiters.append(reply)  # the same is on its way to the disk
            return None
        check_accepted(message, self.setting)  # refused before anything is written
        check_feedback(message, replace)
        if not self._remembers(round_) and not message.withdrawn:
            check_replayable(round_, feedback_from_wire(message))
        self._check_room()
        if round_.status is Status.LEARNED or message.withdrawn:
            self._amend(round_, message, mark, reply)
            return None
        round_.status, round_.feedback, round_.waiters = Status.TEACHING, mark, [reply]
        event = Taught(message.id, mark, data, time())
        self._append(event, partial(self._on_durable, event, round_))
        self.unapplied[message.id] = self.seq
        return None

    def _on_durable(self, event: Taught, round_: Round, error: StoreError | None) -> None:
        """On the event loop: feedback is durable, or was given up; the next step is queued."""
        answered = partial(self._answer, round_)
        if error is not None:
            self.queue.enter(("undo", 0), partial(self._undo, round_), lambda *_: answered(None, error))
        else:
            small = len(event.feedback) <= INLINE_BYTES and len(round_.memory) <= INLINE_MEMORY
            kind = "learn" if small else LARGE
            self.queue.enter((kind, 0), partial(self._apply_lesson, event), answered)

    def _undo(self, round_: Round) -> None:
        self.unapplied.pop(round_.id, None)
        round_.wait_again()

    def _apply_lesson(self, event: Taught) -> bytes:
        reach("lesson.before_apply")
        try:
            answer = self.apply(event)
        except LearnerError:
            self._append(Applied(event.id, b""))
            raise
        self._append(Applied(event.id, answer))
        reach("lesson.after_apply")
        return answer

    def _answer(self, round_: Round, answer: bytes | None, error: Exception | None) -> None:
        """On the event loop: tell everybody who waits for it."""
        waiters, round_.waiters = round_.waiters, []
        for number, reply in enumerate(waiters):
            again = number > 0 and bool(answer)
            reply(repeated(answer) if again and answer else answer, error)

    def _amend(self, round_: Round, message: wire.Feedback, mark: bytes, reply: Reply) -> None:
        """Other feedback, or none, takes the place of what was taught: acknowledged once it is durable."""
        if round_.status is not Status.LEARNED:
            raise UnknownRound(f"utterance {message.id!r} has no feedback to withdraw", "feedback.id")
        if not round_.utterance:
            raise OtherFeedback(
                f"utterance {message.id!r} was taught by version 0.1, whose history is not known",
                "feedback.id",
            )
        event = self._amendment(round_, mark, b"" if message.withdrawn else canonical_bytes(message))

        def durable(error: StoreError | None) -> None:
            if error is not None:
                reply(None, error)
            else:
                self.queue.enter(("amend", 0), partial(self.apply, event), reply)

        self._append(event, durable)

    def _amendment(self, round_: Round, mark: bytes, feedback: bytes) -> Amended:
        lesson = contract.Lesson(nan)
        answer = answer_to_bytes(
            lesson_of(lesson, round_.id, round_.number, self.rounds.lessons, self.rounds.total_gain, True)
        )
        return Amended(round_.id, mark, feedback, answer, time())

    def take_in(self, round_: Round, mark: bytes, feedback: bytes) -> None:
        """Feedback on a round of a challenger, or none: it is durable elsewhere, so nobody waits for the disk."""
        self._check_room()
        if round_.status is Status.LEARNED:
            amended = self._amendment(round_, mark, feedback)
            self._append(amended)
            self.apply(amended)
            return
        taught = Taught(round_.id, mark, feedback, time())
        self._append(taught)
        try:
            answer = self.apply(taught)
        except LearnerError:
            answer = b""
        self._append(Applied(round_.id, answer))

    def _explain(self, utterance_id: str, slots: range) -> tuple[Explanation, int]:
        self.check_usable()
        round_ = self.rounds.known(utterance_id)
        memory = round_.memory
        known = None
        if memory and self._remembers(round_):
            known = self._combiner.explain(memory, slots, round_.view)
        return explanation_of(round_.answer, round_.status.on_the_wire, self.rounds.lessons, known, slots)

    # The one state transition.

    def apply(self, event: Event, warm: Warm | None = None) -> bytes:
        """Apply an event, live or on replay; gives the answer to an utterance or to feedback.

        Feedback that the combiner refuses stays in the journal and changes nothing: not now, not on replay.
        After any other error the state cannot be trusted, and the learner stops.
        """
        self._digests = None
        match event:
            case Revised():  # agreement has heard of this round already
                return self.rounds.revised(event, warm).answer
            case Chose():
                round_ = self.rounds.chosen(event, warm)
                self._combiner.observe(event.memory, round_.view)
                return round_.answer
            case Taught():
                return self._learn(event)
            case Amended():
                return self._apply_amendment(event)
            case Expired():
                self.rounds.expired(event.ids)
            case Kept():
                if event.id not in self.rounds.recent:
                    self.rounds.adopt(Round.kept(event))
            case Applied() | Exchanged() | Updated() | Erased():
                pass  # say when, and why, something else was applied
        return b""

    def _learn(self, event: Taught) -> bytes:
        round_ = self.rounds.taught(event.id)
        self.unapplied.pop(event.id, None)
        feedback = feedback_from_wire(wire.Feedback.FromString(event.feedback))
        try:
            memory = round_.memory if self._remembers(round_) else self._chosen_again(round_, feedback)
            lesson = self._combiner.learn(memory, feedback, round_.view)
        except LearnerError:
            round_.wait_again()
            raise
        except Exception as error:
            self.broken = error
            raise
        self.rounds.learned(lesson.gain)
        for engine in () if self.replaying else lesson.changed:
            log.warning("errors of an engine changed", learner=self.name, engine=engine, id=event.id)
        answer = answer_to_bytes(
            lesson_of(lesson, round_.id, round_.number, self.rounds.lessons, self.rounds.total_gain)
        )
        round_.taught(event.fingerprint, event.feedback, answer)
        if round_.warm is not None:
            round_.warm.feedback = feedback
        return answer

    def _remembers(self, round_: Round) -> bool:
        """Whether the memory of a round can be read; one of another spec cannot."""
        return round_.number >= self.memories_since

    def _chosen_again(self, round_: Round, feedback: contract.Feedback) -> bytes:
        """What the present spec remembers of a round that another one has answered."""
        check_replayable(round_, feedback)
        message = utterance_pb2.Utterance.FromString(round_.utterance)
        utterance = decode_utterance(of_engines(message, self.spec.engines), self.spec.engines, None)
        return self._combiner.choose(utterance, round_.number).memory

    def _apply_amendment(self, event: Amended) -> bytes:
        """The round says so from now on; the state does once it has been rebuilt."""
        round_ = self.rounds.touch(event.id)
        if round_ is not None:
            if round_.status is Status.LEARNED and not event.feedback:
                self.rounds.withdrawn()
            round_.amended(event)
        self.amended_seq = self.seq
        return event.answer

    # Snapshots.

    def capture(self) -> bytes:
        """The whole state."""
        return self._packed({})

    def _captured(self) -> Captured:
        """The state after all entries so far, but for feedback that is not applied yet: it is named."""
        self.check_usable()
        return Captured(self.seq, self._packed(self._beside()))

    def _is_covered(self) -> bool:
        """Whether there is a snapshot of everything that was asked for before."""
        self.check_usable()
        return self.snapshot_time is not None and not self.journal_entries

    def _beside(self) -> dict[str, Any]:
        """What a snapshot holds beside the state."""
        beside = {
            "unapplied": sorted(self.unapplied.items()),
            "books": self.books.to_json(),
            "memories_since": self.memories_since,
            "carried": self.carried,
        }
        if self.erased_before:
            beside["erased_before"] = self.erased_before
        return {**beside, "followed": self.followed} if is_challenger(self.name) else beside

    def _packed(self, more: Mapping[str, Any]) -> bytes:
        meta, arrays = self.rounds.capture()
        arrays["combiner"] = np.frombuffer(self._combiner.to_bytes(), dtype=np.uint8)
        if self.amended_seq:
            meta["amended_seq"] = self.amended_seq
        return state.pack(KIND, VERSION, {**meta, **more, "spec": self.spec.to_json()}, arrays)

    def restore(self, data: bytes) -> tuple[tuple[str, int], ...]:
        """Continue from captured bytes; gives ids and places of feedback that was journaled and is not in them."""
        self._digests = None
        found = state.unpack(data, KIND, VERSION)
        self._combiner.restore(found.arrays["combiner"].tobytes())
        self.rounds.restore(found.meta, found.arrays)
        if found.version == 1:
            for round_ in old_rounds(found.meta, found.arrays):
                self.rounds.adopt(round_)
        self.amended_seq = int(found.meta.get("amended_seq", 0))
        self.beside_found = {name: found.meta[name] for name in BESIDE if name in found.meta}
        self.followed = int(found.meta.get("followed", 0))
        self.memories_since = int(found.meta.get("memories_since", 0))
        self.carried = bool(found.meta.get("carried", False))
        self.erased_before = int(found.meta.get("erased_before", 0))
        self.books.go_on(self.spec, self._combiner.offers, self.memories_since)
        self.snapshot_bytes, self.snapshot_time = len(data), self._clock()
        return tuple((str(id_), int(seq)) for id_, seq in found.meta.get("unapplied", ()))

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
        other = self.another(self.spec)
        other.restore(data)
        if data not in (other.capture(), other._packed(other.beside_found)):
            raise DamagedState("another state came back than was captured")
        return other

    def rehearse(self) -> bytes:
        """The state as this daemon writes it, if all that will ever be done with it can be done.

        What a stranger sent may fail only later: when it is shown, written and read back, explained or taught.
        """
        self.amended_seq = self.memories_since = self.erased_before = (
            0  # of a history that stays where it was
        )
        data = self.capture()
        extra_to_wire(self._combiner.statistics().extra)
        self._combiner.digest()
        rounds = list(self.rounds.recent.values())
        for round_ in rounds:
            round_.keep().to_bytes()
            for answer in filter(None, (round_.answer, round_.lesson)):
                repeated(answer)
        other = self._twin(data)
        rehearsal.play(other._combiner, [round_ for round_ in rounds if round_.status is Status.PENDING])
        other._twin(other.capture())
        return data

    def _append(self, event: Event, on_durable: OnDurable | None = None) -> None:
        self.seq += 1
        self._journal.append(Entry(self.key, self.seq, event.kind, event.to_bytes(), on_durable, event.key))
        self.place(event, self.seq)

    def place(self, event: Event, seq: int) -> None:
        """The entry of an event has this place in the journal: its round must not leave memory before."""
        old = isinstance(event, TaughtAtOnce) or (isinstance(event, Chose) and not event.utterance)
        if isinstance(event, Chose | Taught | Applied | Amended | Kept) and not old:
            round_ = self.rounds.recent.get(event.id)
            if round_ is not None:
                round_.seq = seq

    def check_usable(self) -> None:
        if self._closed:
            raise self._deleted()
        if self.broken is not None:
            raise self.stopped()

    def _check_answers(self) -> None:
        if is_challenger(self.name):
            raise Invalid(
                f"{self.name!r} is a challenger, which answers nobody and learns from the rounds of "
                f"{champion_of(self.name)!r}",
                "learner",
                "promote it first",
            )

    def stopped(self) -> OutOfService:
        """What is said of it once it is broken."""
        return OutOfService(
            f"learner {self.name!r} has stopped after a defect of the daemon, which has logged why",
            advice="import an older export under another name, or delete it",
        )

    def _deleted(self) -> UnknownLearner:
        return UnknownLearner(f"learner {self.name!r} has been deleted", "open.learner")

    def _check_room(self) -> None:
        if not self._journal.has_room():
            raise Unavailable("the disk of the daemon lags behind", advice="send this again later")
