"""The run that nobody interrupts, fed with the events that survived each life, and what clients may conclude
from them.

`Reference.follow` applies what a recovered learner brought and compares digests; `Reference.check` holds the
client's log against it: everything acknowledged is there, once, in its place.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from galloon.daemon.learner.events import Chose, Taught, from_entry
from galloon.daemon.learner.fold import Fold
from galloon.daemon.learner.learner import Learner
from galloon.daemon.limits import Limits
from galloon.daemon.store.protocol import StoredEntry
from galloon.learners import state
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec
from tests.fault.workload import Log


class Reference:
    """One host for each learner, which has never been captured, restored or killed."""

    def __init__(self, specs: dict[str, CombinerSpec], limits: Limits) -> None:
        limits = replace(limits, warm_rounds=10**9)  # it has no store to read others from
        self._hosts = {name: Learner(name, spec, build, limits, lambda: 0.0) for name, spec in specs.items()}
        self._folds = {name: Fold(host) for name, host in self._hosts.items()}
        self.seqs = dict.fromkeys(specs, 0)
        self.taught: defaultdict[str, dict[str, int]] = defaultdict(dict)  # learner, id: which lesson it was
        self.chosen: defaultdict[str, set[str]] = defaultdict(set)

    def follow(self, found: dict[str, Any]) -> None:
        """Apply the events of a recovered learner that are new, and compare."""
        name, host = found["name"], self._hosts[found["name"]]
        for seq, kind, body in found["events"]:
            self.seqs[name] += 1
            assert seq == self.seqs[name], f"{name}: entry {self.seqs[name]} is missing, the next is {seq}"
            self._apply(host, StoredEntry(seq, kind, bytes.fromhex(body)))
        self._learned(host, self._folds[name].finish)
        assert found["seq"] == self.seqs[name], (
            f"{name}: recovered up to entry {found['seq']}, entry {self.seqs[name]} was there"
        )
        digest = state.digest(host.capture())
        assert found["digest"] == digest, f"{name}: the recovered state is not that of an uninterrupted run"

    def check(self, log: Log) -> None:
        """Whatever was acknowledged survived, as the lesson that it was acknowledged as."""
        for name, acknowledged in log.acknowledged.items():
            for id_, lesson in acknowledged.items():
                place = self.taught[name].get(id_)
                assert place is not None, f"{name}: feedback on {id_} was acknowledged and is lost"
                assert place == lesson.lessons, (
                    f"{name}: {id_} was acknowledged as lesson {lesson.lessons}, is {place}"
                )
            strangers = self.taught[name].keys() - log.sent[name]
            assert not strangers, f"{name}: learned what nobody sent: {sorted(strangers)[:5]}"

    def _apply(self, host: Learner, entry: StoredEntry) -> None:
        event = from_entry(entry)
        if isinstance(event, Chose):
            self.chosen[host.name].add(event.id)
        self._learned(host, lambda: self._folds[host.name].take(entry))

    def _learned(self, host: Learner, step: Callable[[], None]) -> None:
        """Take a step, and note the lessons that came of it, in their order."""
        learned: list[str] = []
        learn = host._learn

        def noting(event: Taught) -> bytes:
            answer = learn(event)
            learned.append(event.id)
            return answer

        host._learn = noting  # type: ignore[method-assign]
        try:
            step()
        finally:
            host._learn = learn  # type: ignore[method-assign]
        taught = self.taught[host.name]
        for id_ in learned:
            assert id_ not in taught, f"{host.name}: {id_} was learned twice"
            taught[id_] = len(taught) + 1
