"""Mutated messages against the codec: every one is a value, or is refused by an error of the table; nothing else.

`run` counts outcomes. `python -m tests.abuse.codec_fuzz COUNT SEED` runs many, and watches memory.
"""

import json
import resource
import sys
from collections import Counter
from random import Random

from galloon.codec.feedback import check_feedback, feedback_from_wire
from galloon.codec.spec import spec_from_wire, spec_to_wire
from galloon.codec.utterance import canonical_bytes, decode_utterance, fingerprint
from galloon.daemon.errors import Internal, refusal
from galloon.daemon.learner.accepted_feedback import check_accepted
from galloon.daemon.limits import Limits
from galloon.daemon.rpc.stream import read_request
from galloon.learners.paths.protocol import Setting
from galloon.v1 import combine_pb2 as wire
from tests.abuse.mutation import mutated
from tests.abuse.restructure import restructured
from tests.abuse.seeds import REQUESTS
from tests.abuse.words import has_internal_text
from tests.daemon.serving import EXPERTS

LIMITS = Limits()


def run(count: int, seed: int) -> Counter[str]:
    """Raises AssertionError with the bytes of the first message that is handled wrongly."""
    random, seeds, outcomes = (
        Random(seed),
        [message.SerializeToString() for message in REQUESTS],
        Counter[str](),
    )
    for _ in range(count):
        if random.random() < 0.5:
            data = mutated(random.choice(seeds), random.choice(seeds), random)
        else:
            data = restructured(random.choice(REQUESTS), random)
        outcomes[_outcome(data)] += 1
    return outcomes


def _outcome(data: bytes) -> str:
    message = read_request(data).message
    if message is None:
        return "unreadable"
    error = _raised(message)
    if error is None:
        return "good"
    refused = refusal(error)
    assert not isinstance(refused, Internal), f"{data!r}: {error!r} is no refusal"
    # What the client itself sent may stand in the sentence.
    assert not has_internal_text(refused.message) or not refused.message.isascii(), (data, refused.message)
    return type(refused).__name__


def _raised(message: wire.CombineRequest) -> Exception | None:
    try:
        _read(message)
    except Exception as error:  # judged by who asked
        return error
    return None


def _read(message: wire.CombineRequest) -> None:
    """What the service does with a request before any learner sees it."""
    match message.WhichOneof("request"):
        case "open":
            if message.open.HasField("create"):
                spec_to_wire(spec_from_wire(message.open.create, LIMITS, "open.create"))
        case "utterance":
            fingerprint(canonical_bytes(message.utterance))
            decode_utterance(message.utterance, EXPERTS, LIMITS)
        case "feedback":
            for setting in Setting:
                check_accepted(message.feedback, setting)
            check_feedback(message.feedback)
            feedback_from_wire(message.feedback)


def main() -> None:
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    outcomes = run(count // 10, seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcomes += run(count - count // 10, seed + 1)
    grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps({"messages": count, "outcomes": dict(outcomes), "grown_mb": round(grown_mb, 1)}))
    assert grown_mb < 16, f"memory grew by {grown_mb} MB"


if __name__ == "__main__":
    main()
