"""All learners of the daemon, by name: create, find, list, import, delete.

A learner of the store that could not be brought back is in quarantine: its name is taken, it can be deleted, and
everything else that asks for it hears why; others are not affected.

Building a learner can be heavy, so it happens in a thread; two requests for the same name wait for each
other, others do not. A learner exists once it is durable. What was begun goes on to its end although the client
has gone, so that a name is never half taken.
"""

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from galloon.codec.learner import LearnerInfo
from galloon.codec.spec import spec_from_wire, spec_to_wire
from galloon.daemon.errors import (
    Invalid,
    LimitPassed,
    OtherSpec,
    OutOfService,
    Refused,
    StoreError,
    UnknownLearner,
)
from galloon.daemon.learner.challengers import champion_text
from galloon.daemon.learner.history import History
from galloon.daemon.learner.learner import Build, Learner
from galloon.daemon.learner.names import challenger_name, champion_of, check_name, is_challenger
from galloon.daemon.learner.work_queue import WorkQueue
from galloon.daemon.limits import Limits, check
from galloon.daemon.store.journal import Journal
from galloon.daemon.store.protocol import Create, Delete
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput, LearnerError
from galloon.learners.saved_learner import VERSION, read_saved

T = TypeVar("T")
MOST_LEFT = 8  # changes of one name that nobody waits for
REBUILDS = 2  # learners that are rebuilt at once: each takes a process and a thread
Changed = Callable[[str, bool | None], None]  # a learner, and whether it can be used; None: it has gone
MayUse = Callable[[str], bool]  # what a principal may do with a name
Everywhere = Callable[[str, int, MayUse], Awaitable[list[LearnerInfo]]]  # after a name, so many, those wanted
Bring = Callable[[str, str], Awaitable[None]]  # make a learner of this daemon live, or refuse another one's


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A learner of the store that could not be brought back. Its bytes stay as they are."""

    key: int
    name: str
    reason: str

    def refusal(self, field: str = "") -> OutOfService:
        return OutOfService(
            f"learner {self.name!r} is out of service, because it could not be restored: {self.reason}",
            field,
            "its bytes are as they were, so mend that and restart the daemon, or delete the learner and import an "
            "export",
        )


class Registry:
    """The learners. `changed` hears of every learner that comes or goes."""

    def __init__(
        self,
        journal: Journal,
        build: Build,
        limits: Limits,
        pool: Executor,
        inline_s: float,
        clock: Callable[[], float],
        changed: Changed,
        long_pool: Executor | None = None,
    ) -> None:
        self._journal, self._build, self._limits, self._long_pool = journal, build, limits, long_pool
        self._pool, self._inline_s, self._clock, self._changed = pool, inline_s, clock, changed
        self._learners: dict[str, Learner] = {}
        self._quarantined: dict[str, Quarantined] = {}
        self._coming: set[str] = set()  # names whose learners are being made
        self._names: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._rebuild_places = asyncio.Semaphore(REBUILDS)
        self._changes: set[asyncio.Task[Any]] = set()  # under way, whether or not somebody waits for them
        self._left: Counter[str] = Counter()  # of them, by name: those that whoever asked has left
        self.bring: Bring = _all_are_here
        self.everywhere: Everywhere | None = None  # where several daemons share a store: the learners of all

    def __len__(self) -> int:
        return len(self._learners)

    def learners(self) -> list[Learner]:
        """All of them, by name."""
        return [self._learners[name] for name in sorted(self._learners)]

    def find(self, name: str, field: str = "name") -> Learner:
        learner = self._learners.get(name)
        if learner is None:
            if not is_challenger(name):
                check_name(name, field)
            self._check_not_quarantined(name, field)
            raise UnknownLearner(f"no learner is called {name!r}", field, "create it first")
        return learner

    def page(self, after: str, size: int, wanted: Callable[[str], bool]) -> list[Learner]:
        """The next learners by name after this one; challengers are shown with their champions."""
        names = sorted(name for name in self._learners if not is_challenger(name) and wanted(name))
        start = bisect_right(names, after) if after else 0
        return [self._learners[name] for name in names[start : start + size]]

    def challengers(self, champion: str) -> list[Learner]:
        """Those of a learner, by name."""
        return [challenger for challenger, known in self.challenges() if known.name == champion]

    def challenges(self) -> list[tuple[Learner, Learner]]:
        """All challengers, each with its champion."""
        found = [each for each in self.learners() if is_challenger(each.name)]
        known = ((each, self._learners.get(champion_of(each.name))) for each in found)
        return [(challenger, champion) for challenger, champion in known if champion is not None]

    def out_of_service(self, wanted: Callable[[str], bool]) -> dict[str, str]:
        """The learners that cannot be used, by name, and why."""
        found = {name: str(quarantined.refusal()) for name, quarantined in self._quarantined.items()}
        found |= {
            each.name: str(each.stopped()) for each in self._learners.values() if each.broken is not None
        }
        return {name: found[name] for name in sorted(found) if wanted(name)}

    async def create(
        self,
        name: str,
        spec: CombinerSpec,
        field: str,
        spec_field: str = "spec",
        may_use: MayUse = lambda _: True,
    ) -> tuple[Learner, bool]:
        """The learner of this name and spec, and whether it is new; the fields are where the client gave them."""
        check_name(name, field)
        return await self.to_the_end(self._create(name, spec, field, spec_field, may_use), name)

    async def challenge(
        self, champion: Learner, label: str, spec: CombinerSpec, may_use: MayUse
    ) -> tuple[Learner, bool]:
        """A challenger of this learner, and whether it is new."""
        name = challenger_name(champion.name, label, "label")
        return await self.to_the_end(self._create(name, spec, "label", "spec", may_use), name)

    async def restore(self, name: str, data: bytes, may_use: MayUse = lambda _: True) -> Learner:
        """A new learner from captured bytes."""
        check_name(name, "name")
        return await self.to_the_end(self._restore(name, data, may_use), name)

    async def delete(self, name: str, gone: Callable[[Learner], None] = lambda _: None) -> None:
        """A learner goes; `gone` hears of it, also when whoever asked does not wait for it."""
        await self.to_the_end(self._delete(name, gone))

    async def _create(
        self, name: str, spec: CombinerSpec, field: str, spec_field: str, may_use: MayUse
    ) -> tuple[Learner, bool]:
        async with self._names.setdefault(name, asyncio.Lock()):
            known = self._learners.get(name)
            self._check_not_quarantined(name, field)
            if known is not None:
                if others := spec.differences(known.spec):
                    raise OtherSpec(
                        f"a learner called {name!r} exists with another spec: it differs in "
                        f"{', '.join(others)}",
                        field,
                    )
                return known, False
            with self._place(name, may_use):
                try:
                    learner = await self._in_thread(partial(self._make, name, spec))
                except InvalidInput as error:
                    raise error.under(spec_field) from error
                key = await self._journal.transact(Create(name, spec.to_json()))
                self.adopt(learner, key)
            return learner, True

    async def _restore(self, name: str, data: bytes, may_use: MayUse) -> Learner:
        async with self._names.setdefault(name, asyncio.Lock()):
            self._check_not_quarantined(name, "name")
            if name in self._learners:
                raise OtherSpec(f"a learner called {name!r} exists", "name", "delete it first")
            with self._place(name, may_use):
                learner, state = await self._in_thread(partial(self._remake, name, data))
                key = await self._journal.transact(Create(name, learner.spec.to_json(), state))
                self.adopt(learner, key)
            return learner

    async def _delete(self, name: str, gone: Callable[[Learner], None]) -> None:
        for each in [each for each in self.names() if is_challenger(each) and champion_of(each) == name]:
            await self._delete(each, gone)  # first, so that none is ever without its champion
        async with self._names.setdefault(name, asyncio.Lock()):
            if quarantined := self._quarantined.get(name):
                await self._journal.transact(Delete(quarantined.key))
                del self._quarantined[name]
                self._changed(name, None)
                return
            learner = self.find(name)
            await learner.close()
            try:
                await self._journal.transact(Delete(learner.key))
            except StoreError:
                await learner.reopen()  # as a full disk refuses it: the learner is there, and goes on
                raise
            del self._learners[name]
            self._changed(name, None)
            gone(learner)

    async def to_the_end(self, change: Coroutine[Any, Any, T], name: str = "") -> T:
        """Go on with a change when whoever asked has gone: half of it would be neither there nor not there.

        Who asks and leaves again and again would fill the memory with what is still to be done: of a learner of
        this name no more is begun while so much of that waits.
        """
        if self._left[name] >= MOST_LEFT:
            change.close()
            advice = "clients have left before they were done; wait for these"
            raise LimitPassed(f"changes of {name!r} that nobody waits for", MOST_LEFT + 1, MOST_LEFT, advice)
        task = asyncio.create_task(change)
        self._changes.add(task)
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if name and not task.done():
                self._left[name] += 1
                task.add_done_callback(lambda _: self._done(name))
            raise

    def _done(self, name: str) -> None:
        self._left[name] -= 1
        if not self._left[name]:
            del self._left[name]

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._changes.discard(task)
        if not task.cancelled():
            task.exception()  # told to whoever asked; nobody else wants to hear that it was not retrieved

    def adopt(self, learner: Learner, key: int) -> None:
        """Let a learner that is in the store go live."""
        queue = WorkQueue(self._pool, self._inline_s, self._long_pool)
        history = History(self._journal.backend, key)
        learner.attach(key, queue, self._journal, history)
        learner.rebuild_places = self._rebuild_places
        if is_challenger(learner.name):
            champion = champion_of(learner.name)
            learner.books.others = lambda id_: champion_text(self._learners.get(champion), id_)
        self._learners[learner.name] = learner
        self._changed(learner.name, learner.broken is None)

    def forget(self, name: str) -> None:
        """A learner is another daemon's from now on; it stays in the store."""
        self._quarantined.pop(name, None)
        if self._learners.pop(name, None) is not None:
            self._changed(name, None)

    def names(self) -> list[str]:
        """Of all learners that are live or in quarantine."""
        return [*self._learners, *self._quarantined]

    def quarantine(self, quarantined: Quarantined) -> None:
        """Keep the name of a learner that is in the store and cannot go live."""
        self._quarantined[quarantined.name] = quarantined
        self._changed(quarantined.name, False)

    def _check_not_quarantined(self, name: str, field: str) -> None:
        if quarantined := self._quarantined.get(name):
            raise quarantined.refusal(field)

    @contextmanager
    def _place(self, name: str, may_use: MayUse) -> Iterator[None]:
        """A place among the learners while one is made; those that are being made count too."""
        names = [*self._learners, *self._quarantined, *self._coming]
        check(self._limits, "learners", len(names) + 1)
        check(self._limits, "learners_per_principal", sum(map(may_use, names)) + 1)
        self._coming.add(name)
        try:
            yield
        finally:
            self._coming.discard(name)

    def _make(self, name: str, spec: CombinerSpec) -> Learner:
        return Learner(name, spec, self._build, self._limits, self._clock)

    def _remake(self, name: str, data: bytes) -> tuple[Learner, bytes]:
        """The learner of these bytes, and the bytes that this daemon writes of it."""

        def work() -> tuple[Learner, bytes]:
            saved = read_saved(data)
            if saved.version != VERSION:
                raise Invalid(
                    "exported by an older galloon",
                    "chunk",
                    "open its store with this version and export again",
                )
            learner = self._make(name, self.limited(saved.spec, "chunk"))
            learner.restore(data)
            return learner, learner.rehearse()

        return _distrusting(work)

    def limited(self, spec: CombinerSpec, field: str) -> CombinerSpec:
        """A spec that did not come over the wire, held to what a spec on the wire is held to."""
        return spec_from_wire(spec_to_wire(spec), self._limits, field)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _distrusting(work: Callable[[], T]) -> T:
    """Read bytes that a client sent. A checksum proves that they are whole, not that they are honest."""
    try:
        return work()
    except (LearnerError, Refused):
        raise
    except Exception as error:
        raise Invalid(
            "these bytes are not an exported learner that this version can read", "chunk"
        ) from error


async def _all_are_here(name: str, field: str) -> None:
    """A daemon that has its store for itself has recovered everything when it starts."""
