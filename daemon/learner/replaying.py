"""The process that plays a history again, `python -m galloon.daemon.learner.replaying`: see `rebuild.Player`.

Where feedback is true texts every utterance is chosen again, so the state is that of a run that never saw what is
left out, to the bit. Where it is shown gains or scores the recorded memory of the round is kept, because what was
judged is the path that was shown. Feedback that no entry says to be applied is left to the running daemon.
"""

import json
import sys
from tempfile import TemporaryFile
from time import process_time
from typing import IO

from galloon.codec.feedback import feedback_from_wire
from galloon.codec.utterance import decode_utterance
from galloon.daemon.learner.events import Applied, Chose, Kept, Taught, TaughtAtOnce, from_entry
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
        self.lessons = self.rounds = 0

    def take(self, entry: StoredEntry) -> None:
        if entry.seq <= self._plan.base:  # its effect is in the base; feedback on it may follow
            event = from_entry(entry)
            if isinstance(event, Chose | Kept):
                self._memories.put(event.id, event.memory)
            return
        self.learner.seq = entry.seq
        match from_entry(entry):
            case Chose() as event:
                self._choose(event)
            case Kept() as event:
                self._memories.put(event.id, event.memory)
            case TaughtAtOnce() as event:
                self._teach(event, entry.seq)
            case Taught() as event:
                self._waiting[event.id] = event, entry.seq
            case Applied(id_, answer):
                taught = self._waiting.pop(id_, None)
                if answer and taught is not None:
                    self._teach(*taught)
            case _:
                pass

    def _choose(self, event: Chose) -> None:
        combiner, self.rounds = self.learner._combiner, self.rounds + 1
        memory = event.memory
        if event.utterance:
            message = utterance_pb2.Utterance.FromString(event.utterance)
            utterance = decode_utterance(message, self.learner.spec.engines, None)
            memory = combiner.choose(utterance, event.round_number).memory
        combiner.observe(memory)
        self.learner.rounds.started = event.round_number + 1
        self._memories.put(event.id, memory, event.memory)

    def _teach(self, event: Taught, seq: int) -> None:
        feedback = self._amended.get(seq, event.feedback)
        if not feedback:
            return
        message = wire.Feedback.FromString(feedback)
        again, recorded = self._memories.take(event.id)
        shown = message.WhichOneof("feedback") in SHOWN_PATH
        try:
            lesson = self.learner._combiner.learn(recorded if shown else again, feedback_from_wire(message))
        except LearnerError:
            return
        self.lessons += 1
        self.learner.rounds.learned(lesson.gain)


class _Memories:
    """What was remembered of rounds until they are taught, in a file: there may be a million."""

    def __init__(self) -> None:
        self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115  # as long as the process
        self._places: dict[str, tuple[int, int, int]] = {}

    def put(self, id_: str, again: bytes, recorded: bytes | None = None) -> None:
        at = self._file.seek(0, 2)
        kept = again if recorded is None else recorded
        self._file.write(again)
        self._file.write(kept)
        self._places[id_] = (at, len(again), len(kept))

    def take(self, id_: str) -> tuple[bytes, bytes]:
        at, again, recorded = self._places[id_]
        self._file.seek(at)
        return self._file.read(again), self._file.read(recorded)


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
    }
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n" + replay.learner.capture())


if __name__ == "__main__":
    main()
