"""The same events once more, in a process that nobody interrupts: `python -m tests.fault.replay DATA_DIR`.

Prints the digests of each learner as JSON. Two ways, which share no state: all events through the daemon's one
state transition, from the first event on and without any snapshot; and the learner alone, fed with utterances made
from their ids, and the recorded feedback. The second one chooses again: every choice must be the same to the bit.
"""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from galloon.codec.feedback import feedback_from_wire
from galloon.codec.request import utterance_request
from galloon.codec.utterance import decode_utterance
from galloon.daemon.learner.events import Applied, Chose, Taught
from galloon.daemon.learner.fold import fold
from galloon.daemon.learner.learner import Learner
from galloon.daemon.limits import Limits
from galloon.learners import state
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import combine_pb2 as wire
from tests.fault.archive import History, histories
from tests.fault.workload import POSTS, utterance_of

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What an uninterrupted run comes to."""

    digest: str
    state_digest: str
    state_digest_alone: str
    choices_compared: int


def replay(history: History, limits: Limits) -> Replayed:
    spec = CombinerSpec.from_json(history.spec)
    limits = replace(limits, warm_rounds=10**9)  # it has no store to read others from
    host = Learner(history.name, spec, build, limits, lambda: 0.0)
    fold(host, history.entries)
    captured = host.capture()
    alone, compared = _play_alone(history, spec)
    return Replayed(state.digest(captured), host._combiner.digest(), alone, compared)


def _play_alone(history: History, spec: CombinerSpec) -> tuple[str, int]:
    """The learner without the daemon: it chooses, observes and learns where the history says that it did."""
    post = next(post for post in POSTS if post.name == history.name)
    combiner, compared = build(spec), 0
    rounds: dict[str, Chose] = {}
    taught: dict[str, Taught] = {}
    for event in history.events:
        match event:
            case Chose():
                rounds[event.id] = event
                _compare(combiner, event, history.name, post, spec)
                compared += 1
            case Taught():
                taught[event.id] = event
            case Applied(id_, answer) if answer:
                _learn(combiner, rounds[id_], taught.pop(id_))
    for left in taught.values():
        _learn(combiner, rounds[left.id], left)
    return combiner.digest(), compared


def _compare(combiner: Any, event: Chose, name: str, post: Any, spec: CombinerSpec) -> None:
    message = utterance_request(utterance_of(post, event.id)).utterance
    decision = combiner.choose(decode_utterance(message, spec.engines, Limits()), event.round_number)
    answer = wire.CombineResponse.FromString(event.answer).choice
    assert decision.memory == event.memory, f"{name} {event.id}: another memory"
    assert decision.log_probability == answer.log_probability, f"{name} {event.id}: another path"
    assert [token.expert for token in decision.tokens] == list(answer.experts)
    combiner.observe(event.memory, decision.view)


def _learn(combiner: Any, chose: Chose, taught: Taught) -> None:
    combiner.learn(chose.memory, feedback_from_wire(wire.Feedback.FromString(taught.feedback)))


def in_own_process(data_dir: Path, limits: Limits) -> dict[str, dict[str, Any]]:
    """`replay` of every learner in a process of its own, which has seen nothing else."""
    command = [sys.executable, "-m", "tests.fault.replay", str(data_dir), json.dumps(asdict(limits))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"the uninterrupted run failed:\n{done.stderr}"
    replayed: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return replayed


def main() -> None:
    data_dir, limits = Path(sys.argv[1]), Limits(**json.loads(sys.argv[2]))
    replayed = {history.name: replay(history, limits) for history in histories(data_dir)}
    json.dump(
        {
            name: {
                "digest": one.digest,
                "state_digest": one.state_digest,
                "state_digest_alone": one.state_digest_alone,
                "choices_compared": one.choices_compared,
            }
            for name, one in replayed.items()
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
