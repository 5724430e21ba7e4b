"""Every request kind at its legal maximum, and what it takes: `python -m tests.abuse.held` prints a table.

For each: how long it holds the interpreter lock at a time (which every other client waits for, see `lock_watch`),
processor seconds, and the peak of memory beyond what was there. Requests are the bombs of `bombs`, refused and
legal, done as the daemon does them, without ports; exit status 1 when one holds the lock longer than `HELD_S`.
"""

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from galloon.codec.answer import answer_to_bytes
from galloon.codec.chosen import choice_of
from galloon.codec.errors import InvalidMessage
from galloon.codec.feedback import check_feedback, feedback_from_wire
from galloon.codec.spec import spec_from_wire
from galloon.codec.utterance import canonical_bytes, decode_utterance
from galloon.daemon.limits import Limits
from galloon.learners.combiners.build import build
from galloon.learners.errors import LearnerError
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import spec_pb2 as spec
from galloon.v1 import utterance_pb2 as said
from tests.abuse.blast import forget_peak, memory_mb
from tests.abuse.bombs import BOMBS, LEARNERS, Bomb
from tests.abuse.lock_watch import longest_hold

HELD_S = 0.1
LIMITS = Limits()
REFUSALS = (LearnerError, InvalidMessage)


@dataclass(frozen=True, slots=True)
class Maximum:
    """One request: what became of it, and what it took."""

    name: str
    outcome: str
    held_s: float
    cpu_s: float
    memory_mb: float

    def line(self) -> str:
        held_ms, megabytes = f"{self.held_s * 1000:.0f} ms", f"{self.memory_mb:.0f} MB"
        return f"| {self.name} | {self.outcome} | {held_ms} | {self.cpu_s:.2f} s | {megabytes} |"


def measured(bomb: Bomb, runs: int = 3) -> Maximum:
    request, outcomes = bomb.make(), list[str]()

    def work() -> None:
        try:
            _honour(request, bomb)
            outcomes.append("done")
        except REFUSALS as error:
            outcomes.append(f"refused: {str(error)[:60]}")

    work()  # what is compiled at first use is compiled by now
    pid = os.getpid()
    forget_peak(pid)
    before, started = memory_mb(pid, "VmRSS"), time.process_time()
    work()
    cpu, peak = time.process_time() - started, memory_mb(pid, "VmHWM") - before
    return Maximum(bomb.name, outcomes[0], longest_hold(lambda: work, runs), cpu, peak)


def _honour(request: Any, bomb: Bomb) -> None:
    if isinstance(request, spec.LearnerSpec):
        _made(request)
        return
    combiner = _made(LEARNERS[bomb.learner])
    memory = b""
    for message in request if isinstance(request, list) else [request]:
        match message:
            case said.Utterance():
                canonical_bytes(message)
                utterance = decode_utterance(message, combiner.spec.engines, LIMITS)
                choice = combiner.choose(utterance, 0)
                memory = choice.memory
                answer_to_bytes(choice_of(choice, message.id, 0, 0, True))
            case wire.Feedback():
                check_feedback(message)
                combiner.learn(memory, feedback_from_wire(message))
                combiner.to_bytes()


def _made(message: spec.LearnerSpec) -> Any:
    return build(spec_from_wire(message, LIMITS, "spec"), LIMITS.transitions)


def all_measured(wanted: str = "") -> Iterator[Maximum]:
    for bomb in BOMBS:
        if wanted in bomb.name:
            yield measured(bomb)


def main() -> int:
    print(
        "| request | outcome | lock held at a time | processor | memory |\n| --- | --- | ---: | ---: | ---: |"
    )
    worst = 0.0
    for each in all_measured(sys.argv[1] if len(sys.argv) > 1 else ""):
        print(each.line(), flush=True)
        worst = max(worst, each.held_s)
    print(f"\nlongest hold {worst * 1000:.0f} ms; allowed {HELD_S * 1000:.0f} ms")
    return int(worst > HELD_S)


if __name__ == "__main__":
    sys.exit(main())
