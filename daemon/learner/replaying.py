"""The process that plays a history again, `python -m galloon.daemon.learner.replaying`: see `rebuild.Player`.

Where feedback is true texts every utterance is chosen again, so the state is that of a run that never saw what is
left out, to the bit. Where it is shown gains or scores the recorded memory of the round is kept, because what was
judged is the path that was shown. What this spec cannot play is left out and counted. Feedback that no entry says
to be applied is left to the running daemon.
"""

import json
import sys
from tempfile import TemporaryFile
from time import process_time
from typing import IO

from galloon.codec.feedback import feedback_from_wire
from galloon.codec.utterance import decode_utterance, of_engines
from galloon.daemon.errors import WrongSetting
from galloon.daemon.learner.accepted_feedback import check_accepted
from galloon.daemon.learner.events import (
    Applied,
    Chose,
    Erased,
    Event,
    Expired,
    Kept,
    Revised,
    Taught,
    TaughtAtOnce,
    from_entry,
)
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.rebuild import ENTRY, PING, Plan
from galloon.daemon.limits import Limits
from galloon.daemon.store.protocol import StoredEntry
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import LearnerError
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import utterance_pb2

SHOWN_PATH = ("shown_gains", "score")  # feedback on what was shown alone


class Replay:
    """Plays entries into a learner, one by one, by a plan; `amended` holds what takes the place of feedback."""

    def __init__(self, plan: Plan, base: bytes, amended: dict[int, bytes]) -> None:
        spec = CombinerSpec.from_json(plan.spec)
        limits = Limits(**{**plan.limits, "warm_rounds": 0})
        self.learner = Learner(plan.name, spec, build, limits, lambda: 0.0)
        if base:
            self.learner.restore(base)
        self._plan, self._amended = plan, amended
        self._waiting: dict[str, tuple[Taught, int]] = {}  # and its place
        self._memories = _Memories()
        self._erased = frozenset(plan.erased)
        self.lessons = self.rounds = self.lost = self.erased = 0

    def take(self, entry: StoredEntry) -> None:
        if entry.seq <= self._plan.base:  # its effect is in the base; feedback on it may follow
            event = from_entry(entry)
            if isinstance(event, Chose | Kept):  # the last one counts, where outputs came late
                self._remember(event)
            return
        self.learner.seq, event = entry.seq, from_entry(entry)
        if self._erased and getattr(event, "id", None) in self._erased:
            self._leave_out(event)
            return
        match event:
            case Chose() as event:
                self._choose(event)
            case Kept() as event:
                self._remember(event)
            case TaughtAtOnce() as event:
                self._teach(event, entry.seq)
            case Taught() as event:
                self._waiting[event.id] = event, entry.seq
            case Applied(id_, answer):
                taught = self._waiting.pop(id_, None)
                if answer and taught is not None:
                    self._teach(*taught)
            case Erased(_, started, rounds):
                self._count_erased(started, rounds)
            case Expired(ids):
                self.learner.rounds.expired_count += len(ids)
            case _:
                pass

    def _leave_out(self, event: Event | None) -> None:
        """A round that is to be erased: only its number stays taken."""
        if isinstance(event, Chose) and not isinstance(event, Revised):
            self.erased += 1
            self._count_erased(event.round_number + 1, 1)

    def _count_erased(self, started: int, rounds: int) -> None:
        counts = self.learner.rounds
        counts.started, counts.expired_count = max(counts.started, started), counts.expired_count + rounds

    def _choose(self, event: Chose) -> None:
        memory = self._again(event) if event.utterance else self._recorded(event)
        if not isinstance(event, Revised):
            self.learner.rounds.started = event.round_number + 1
            if memory is not None:
                self.rounds += 1
                self.learner._combiner.observe(memory)
        self._memories.put(event.id, memory, self._recorded(event))

    def _remember(self, event: Chose | Kept) -> None:
        """A round from before the history begins, or of before format 3."""
        recorded = self._recorded(event)
        again = recorded
        if recorded is None and isinstance(event, Chose) and event.utterance:
            again = self._again(event)
        self._memories.put(event.id, again, recorded)

    def _again(self, event: Chose) -> bytes | None:
        """What this learner would remember of a round; None where it cannot play it."""
        spec, message = self.learner.spec, utterance_pb2.Utterance.FromString(event.utterance)
        try:
            utterance = decode_utterance(of_engines(message, spec.engines), spec.engines, None)
            return self.learner._combiner.choose(utterance, event.round_number).memory
        except LearnerError:
            return None

    def _recorded(self, event: Chose | Kept) -> bytes | None:
        """What was remembered of it; None where that was by another spec."""
        return event.memory if event.round_number >= self._plan.memories_since else None

    def _teach(self, event: Taught, seq: int) -> None:
        feedback = self._amended.get(seq, event.feedback)
        if not feedback:
            return
        message = wire.Feedback.FromString(feedback)
        again, recorded = self._memories.take(event.id)
        memory = recorded if message.WhichOneof("feedback") in SHOWN_PATH else again
        if memory is None:
            self.lost += 1  # this learner cannot play that round
            return
        try:
            check_accepted(message, self.learner.setting)
            lesson = self.learner._combiner.learn(memory, feedback_from_wire(message))
        except (LearnerError, WrongSetting):
            self.lost += 1
            return
        self.lessons += 1
        self.learner.rounds.learned(lesson.gain)


class _Memories:
    """What was remembered of rounds until they are taught, in a file: there may be a million."""

    def __init__(self) -> None:
        self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115  # as long as the process
        self._places: dict[str, tuple[int, int, int]] = {}  # where, and the length of each; -1: there is none

    def put(self, id_: str, again: bytes | None, recorded: bytes | None) -> None:
        at = self._file.seek(0, 2)
        first, second = (-1 if memory is None else self._file.write(memory) for memory in (again, recorded))
        self._places[id_] = (at, first, second)

    def take(self, id_: str) -> tuple[bytes | None, bytes | None]:
        at, again, recorded = self._places.get(id_, (0, -1, -1))
        self._file.seek(at)
        return self._read(again), self._read(recorded)

    def _read(self, length: int) -> bytes | None:
        return None if length < 0 else self._file.read(length)


def main() -> None:
    """The other side of the pipe."""
    source = sys.stdin.buffer
    head = json.loads(source.readline())
    base = source.read(head.pop("base_bytes"))
    amended = {int(seq): bytes.fromhex(text) for seq, text in head.pop("amended").items()}
    started = process_time()
    replay = Replay(Plan(**head), base, amended)
    while size := source.read(ENTRY.size):
        seq, kind, key, length = ENTRY.unpack(size)
        if kind == PING:
            sys.stdout.buffer.write(b".")
            sys.stdout.buffer.flush()
            continue
        replay.take(StoredEntry(seq, kind, source.read(length), key))
    told = {
        "seq": replay.learner.seq,
        "lessons": replay.lessons,
        "rounds": replay.rounds,
        "seconds": process_time() - started,
        "lost": replay.lost,
        "erased": replay.erased,
    }
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n" + replay.learner.capture())


if __name__ == "__main__":
    main()
