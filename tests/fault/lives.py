"""Many short lives on one store: fork a player, let it work, kill it, look at what the next one finds.

`Lives.live` is one life, ended from outside at a moment, from inside at a failpoint, or by itself. What it
reported is in `log`, as clients would have it. Must run in a process without threads, because it forks: see
`kills`.
"""

import json
import os
import select
import signal
import struct
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from galloon.codec.answer import Choice, Lesson
from tests.fault.archive import keep_everything
from tests.fault.player import LIMITS, Orders, play
from tests.fault.reference import Reference
from tests.fault.workload import POSTS, Log

LONGEST_S = 60.0  # that a life may take to end by itself


@dataclass(frozen=True, slots=True)
class Shown:
    """What the last life said of a learner, in the shape that the judge reads."""

    name: str
    digest: str
    state_digest: str
    statistics: "ShownStatistics"


@dataclass(frozen=True, slots=True)
class ShownStatistics:
    lessons: int
    rounds_started: int
    gain: float


@dataclass(slots=True)
class Lives:
    """One store, the client's log, and the uninterrupted reference."""

    data_dir: Path
    seed: int
    log: Log = field(default_factory=Log)
    checkpoint_pages: int = 0
    count: int = 0
    recoveries: int = 0
    shown: dict[str, Shown] = field(default_factory=dict)
    failure: str = ""  # what the store of the last life said when it stopped by itself
    _reference: Reference = field(init=False)
    _passing: dict[str, str] = field(
        default_factory=dict
    )  # learners that come and go: the last step that was seen

    def __post_init__(self) -> None:
        keep_everything(self.data_dir)
        self._reference = Reference({post.name: post.spec for post in POSTS}, LIMITS)

    def live(
        self,
        *,
        failpoints: str = "",
        kill_after_s: float | None = None,
        recovering: bool = False,
        rounds: int = 10**6,
    ) -> int:
        """One life; its exit status, negative for a signal. The clock of the kill starts once it is at work, or,
        with `recovering`, at its birth."""
        self.count += 1
        orders = Orders(
            self.data_dir,
            self.count,
            self.seed,
            failpoints,
            self._unsure(),
            tuple(self._reference.seqs.items()),
            rounds,
            checkpoint_pages=self.checkpoint_pages,
        )
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            play(orders, theirs)
        os.close(theirs)
        try:
            self._watch(child, ours, kill_after_s, recovering)
        finally:
            os.close(ours)
            _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)

    def _unsure(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (name, id_)
            for name in self.log.sent
            for id_ in sorted(self.log.sent[name] - self.log.acknowledged[name].keys())
        )

    def _watch(self, child: int, pipe: int, kill_after_s: float | None, recovering: bool) -> None:
        """Read what the child reports until it is gone; kill it when its time has come."""
        start = time.monotonic()
        deadline = start + (kill_after_s if recovering and kill_after_s is not None else LONGEST_S)
        data, overdue = b"", False
        while True:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([pipe], [], [], left)[0]:
                assert kill_after_s is not None, f"life {self.count} does not end"
                os.kill(child, signal.SIGKILL)
                overdue, deadline = True, time.monotonic() + LONGEST_S
                continue
            more = os.read(pipe, 1 << 16)
            if not more:
                return
            data += more
            reports, data = _frames(data)
            for news in reports:
                self._hear(news)
                if "ready" in news and kill_after_s is not None and not recovering and not overdue:
                    deadline = time.monotonic() + kill_after_s

    def _hear(self, news: dict[str, Any]) -> None:
        match news:
            case {"recovered": found}:
                self._recovered(found)
            case {"sent": id_, "learner": learner, "experts": experts}:
                self.log.sent[learner].add(id_)
                choice = Choice(id_, news["round"], "", (), tuple(experts), (), 0.0, 0)
                self.log.judged[learner][id_] = choice
            case {"acknowledged": id_, "learner": learner}:
                self._acknowledged(learner, id_, news)
            case {"creating": name}:
                self._passing[name] = "creating"
            case {"created": name}:
                self._passing[name] = "created"
            case {"deleting": name}:
                self._passing[name] = "deleting"
            case {"deleted": name}:
                self._passing[name] = "deleted"
            case {"ended": name}:
                statistics = ShownStatistics(news["lessons"], news["rounds_started"], news["gain"])
                self.shown[name] = Shown(name, news["digest"], news["state_digest"], statistics)
            case {"failed": sentence}:
                self.failure = sentence

    def _acknowledged(self, learner: str, id_: str, news: dict[str, Any]) -> None:
        lesson = Lesson(id_, news["round"], news["gain"], {}, news["lessons"], 0.0)
        before = self.log.acknowledged[learner].setdefault(id_, lesson)
        assert before == lesson, f"{learner} {id_}: acknowledged as {before}, then as {lesson}"

    def _recovered(self, found: list[dict[str, Any]]) -> None:
        self.recoveries += 1
        by_name = {one["name"]: one for one in found}
        for post in POSTS:
            if post.name in by_name:
                self._reference.follow(by_name.pop(post.name))
            else:
                assert not self._reference.seqs[post.name], f"learner {post.name} is lost"
        for name, step in self._passing.items():
            assert not (step == "created" and name not in by_name), f"learner {name} was created and is lost"
            assert not (step == "deleted" and name in by_name), f"learner {name} was deleted and is back"
        strangers = by_name.keys() - self._passing.keys()
        assert not strangers, f"learners that nobody created: {strangers}"
        self._reference.check(self.log)


def _frames(data: bytes) -> tuple[list[dict[str, Any]], bytes]:
    """The whole reports at the front of the data, and what is left after them."""
    reports = []
    while len(data) >= 4:
        (size,) = struct.unpack_from("<I", data)
        if len(data) < 4 + size:
            break
        reports.append(json.loads(data[4 : 4 + size]))
        data = data[4 + size :]
    return reports, data
