"""Another state takes the place of a learner's present one, in one step, while it serves.

`rebuild` makes it again from the history, as its feedback stands now; `update` makes it by another spec: what was
learned is carried over where it can be, else learned again from the history; `erase` makes it without some rounds,
which leave the history in the same step. All are events, with a snapshot.
"""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from time import time

import structlog

from galloon.daemon.errors import Invalid
from galloon.daemon.failpoints import reach
from galloon.daemon.learner.events import Erased, Exchanged, Updated
from galloon.daemon.learner.history import History
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.rebuild import Plan, Player, Rebuilt, amendments
from galloon.daemon.learner.work_queue import DISK
from galloon.learners.combiners.carry_over import carry_over
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.learners.saved_learner import read_saved

log = structlog.get_logger()
CATCH_UP = 200  # entries that come while a rebuilt state is exchanged
NONE_KNOWN = 2**63  # every round was chosen by another spec
LOSS = "accept the loss to go on all the same"


@dataclass(frozen=True, slots=True)
class Remake:
    """How a state is made again from the history: by which spec, without what, and what the journal says of it."""

    event: Callable[[Rebuilt], Exchanged | Updated | Erased]
    spec: CombinerSpec
    changed: tuple[str, ...] = ()  # fields of the spec that are other than before
    erased: tuple[str, ...] = ()
    accept_loss: bool = False

    def check_loss(self, lessons: int, of: int) -> None:
        """Refuse to forget lessons that the present state knows."""
        if self.changed and lessons and not self.accept_loss:
            raise self.lossy(
                f"{lessons} of {of} lessons cannot be learned again by this spec: it cannot play their rounds, or "
                "they judge what the present one has shown"
            )

    def lossy(self, problem: str) -> Invalid:
        field = f"spec.{self.changed[0]}" if self.changed else "ids"
        return Invalid(problem, field, LOSS)


@dataclass(frozen=True, slots=True)
class Update:
    """What came of another spec; `rebuilt` is None where what was learned was carried over."""

    changed: tuple[str, ...]  # fields
    rebuilt: Rebuilt | None = None


async def rebuild(learner: Learner, why: str) -> Rebuilt:
    """Make the state again from the history, while this one serves, and put it in the place of this one.

    Who asks while others wait is told of one that began after that: a crowd takes two of them.
    """
    asked = learner.rebuilds_begun
    async with learner.exchanging:
        if learner.last_rebuilt is not None and learner.last_rebuilt[0] > asked:
            return learner.last_rebuilt[1]
        learner.rebuilds_begun += 1
        begun = learner.rebuilds_begun
        found = await _remade(learner, Remake(lambda _: Exchanged(time(), why), learner.spec))
        learner.last_rebuilt = begun, replace(found, state=b"")
        return found


async def update(
    learner: Learner, spec: CombinerSpec, *, from_history: bool = False, accept_loss: bool = False
) -> Update:
    """Go on by another spec; `from_history`: learn all again, also where it could be carried over."""
    async with learner.exchanging:
        changed = tuple(replace(spec).differences(learner.spec))
        if not changed:
            return Update(())
        await asyncio.to_thread(_check_builds, learner, spec)
        before = learner.spec.to_json()
        if not from_history:
            event = Updated(time(), before, spec.to_json(), carried=True)
            loop = asyncio.get_running_loop()
            try:
                await learner.queue.run((DISK, 0), partial(_carried, learner, spec, event, loop))
            except InvalidInput as error:
                log.info("learner is rebuilt", learner=learner.name, because=str(error))
            else:
                return Update(changed)
        event = Updated(time(), before, spec.to_json(), carried=False)
        remake = Remake(lambda _: event, spec, changed, accept_loss=accept_loss)
        return Update(changed, await _remade(learner, remake))


async def erase(learner: Learner, ids: tuple[str, ...], accept_loss: bool = False) -> Rebuilt:
    """Go on as if these rounds of the history had never been; they are void when this returns."""

    def event(found: Rebuilt) -> Erased:
        return Erased(time(), learner.rounds.started, found.erased, ids)

    async with learner.exchanging:
        learner.erasing = frozenset(ids)
        try:
            remake = Remake(event, learner.spec, erased=ids, accept_loss=accept_loss)
            return await _remade(learner, remake)
        finally:
            learner.erasing = frozenset()


def _check_builds(learner: Learner, spec: CombinerSpec) -> None:
    try:
        learner.another(spec)
    except InvalidInput as error:
        raise error.under("spec") from error


# By carrying over.


def _carried(learner: Learner, spec: CombinerSpec, event: Updated, loop: asyncio.AbstractEventLoop) -> None:
    """In a thread, while nothing else of this learner runs."""
    learner.check_usable()
    base, state_then = learner.recorded().base()
    other = learner.another(spec)
    other.carry_on(learner, carry_over)
    other.amended_seq, other.memories_since = learner.amended_seq, learner.memories_since
    other.carried = learner.carried or spec.engines != learner.spec.engines
    state = _base_of(learner, state_then, spec, None) if state_then else None
    learner.take_over(other, event, base + 1, loop, state)
    log.info("learner updated", learner=learner.name, carried_over=True)


def _base_of(learner: Learner, state: bytes, spec: CombinerSpec, remake: Remake | None) -> bytes:
    """The state at the beginning of the history, for a learner of this spec; a fresh one if loss is accepted."""
    saved = read_saved(state)
    if saved.spec == spec:
        return state
    before, after = learner.another(saved.spec), learner.another(spec)
    before.restore(state)
    try:
        after.carry_on(before, carry_over)
    except InvalidInput as error:
        if remake is None:
            raise
        if not remake.accept_loss:
            raise remake.lossy(
                f"what was learned before the history begins can neither be carried over ({error.field}) nor "
                "learned again"
            ) from error
        return _fresh(learner, spec, before.rounds.started)
    return after.capture()


async def check_loss(learner: Learner, ids: tuple[str, ...], accept_loss: bool) -> None:
    """Refuse to erase rounds without which what was learned cannot be learned again."""
    history = learner.recorded()
    remake = Remake(lambda _: Exchanged(0.0, ""), learner.spec, erased=ids, accept_loss=accept_loss)
    await asyncio.to_thread(lambda: _before(history, history.cut(), remake))


def _before(history: History, base: int, remake: Remake) -> bool:
    """Whether one of the rounds that are erased is in the state at the base."""
    before = any(history.began_before(id_, base) for id_ in remake.erased)
    if before and not remake.accept_loss:
        raise remake.lossy(
            "some of these rounds began before the history was cut, and what was learned before that cannot be "
            "learned again without them"
        )
    return before


def _fresh(learner: Learner, spec: CombinerSpec, started: int) -> bytes:
    """A state that has learned nothing of so many rounds."""
    made = learner.another(spec)
    made.rounds.started = made.rounds.expired_count = started
    return made.capture()


# From the history.


async def _remade(learner: Learner, remake: Remake) -> Rebuilt:
    async with learner.rebuild_places:
        return await _played(learner, remake)


async def _played(learner: Learner, remake: Remake) -> Rebuilt:
    history, known = learner.recorded(), learner.amended_seq
    reach("rebuild.before_replay")
    base, player = await asyncio.to_thread(_start, learner, history, remake)
    try:
        while await asyncio.to_thread(lambda: player.feed(history.played(player.seq))) > CATCH_UP:
            pass
        await asyncio.to_thread(player.settle)
        reach("rebuild.after_replay")
        loop = asyncio.get_running_loop()
        finish = partial(_exchange, learner, player, history, remake, known, base, loop)
        while (found := await learner.queue.run((DISK, 0), finish)) is None:
            await learner.queue.rest()
        return found
    finally:
        await asyncio.to_thread(player.stop)


def _start(learner: Learner, history: History, remake: Remake) -> tuple[bytes | None, Player]:
    """A process that plays the history, and the state at its beginning if it is another one than is stored."""
    base, state_then = history.base()
    state = _base_of(learner, state_then, remake.spec, remake) if state_then else b""
    if base and _before(history, base, remake):
        state = _fresh(learner, remake.spec, read_saved(state_then).rounds)
    plan = Plan(
        learner.name,
        remake.spec.to_json(),
        asdict(learner.limits),
        base,
        NONE_KNOWN if remake.changed else learner.memories_since,
        remake.erased,
    )
    changed = state if state != state_then else None
    return changed, Player(plan, state, amendments(history.entries(0)))


def _exchange(
    learner: Learner,
    player: Player,
    history: History,
    remake: Remake,
    known: int,
    base: bytes | None,
    loop: asyncio.AbstractEventLoop,
) -> Rebuilt | None:
    """In a thread, while nothing else of this learner runs: the last entries, then the other state.

    None where feedback on a round that is to be erased is on its way: it is learned first.
    """
    learner.check_usable()
    if not learner.unapplied.keys().isdisjoint(remake.erased):
        return None
    learner.flush(loop)
    player.feed(history.played(player.seq))
    found = player.finish()
    remake.check_loss(found.lost, found.lost + found.lessons)
    other = learner.another(remake.spec)
    other.restore(found.state)
    # What was amended since the rebuild began is left to the next one.
    other.amended_seq = learner.amended_seq if learner.amended_seq > known else 0
    moved = learner.carried or remake.changed
    other.memories_since = learner.rounds.started if moved else learner.memories_since
    event = remake.event(found)
    learner.take_over(other, event, history.cut() + 1, loop, base)
    log.info(
        "learner rebuilt",
        learner=learner.name,
        why=event.why if isinstance(event, Exchanged) else type(event).__name__.lower(),
        rounds=found.rounds,
        lessons=found.lessons,
        lost=found.lost,
        seconds=round(found.seconds, 2),
    )
    return found
