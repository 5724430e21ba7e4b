"""Mutated messages against the codec: every one is a value, or is refused by an error of the table; nothing else.

`run` counts outcomes. `python -m tests.abuse.codec_fuzz COUNT SEED` runs many, and watches memory.
"""

import json
import resource
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random

from google.protobuf.message import DecodeError

from galloon.codec.document import line_to_wire, pages_from_wire
from galloon.codec.feedback import check_feedback, feedback_from_wire
from galloon.codec.spec import spec_from_wire, spec_to_wire
from galloon.codec.utterance import canonical_bytes, decode_utterance, fingerprint
from galloon.daemon.errors import Internal, refusal
from galloon.daemon.learner.accepted_feedback import check_accepted
from galloon.daemon.limits import Limits
from galloon.daemon.rpc.stream import read_request
from galloon.learners.documents.matching import match
from galloon.learners.documents.word_places import word_places
from galloon.learners.paths.protocol import Setting
from galloon.v1 import combine_pb2 as wire
from galloon.v1.document_pb2 import CombineDocumentRequest
from tests.abuse.mutation import mutated
from tests.abuse.restructure import restructured
from tests.abuse.seeds import DOCUMENTS, REQUESTS
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


def run_documents(count: int, seed: int) -> Counter[str]:
    """The same of documents, which are also matched."""
    random, outcomes = Random(seed), Counter[str]()
    good = [message for _, message in DOCUMENTS[:-1]]
    seeds = [message.SerializeToString() for message in good]
    for _ in range(count):
        if random.random() < 0.5:
            data = mutated(random.choice(seeds), random.choice(seeds), random)
        else:
            data = restructured(random.choice(good), random)
        try:
            request = CombineDocumentRequest.FromString(data)
        except DecodeError:
            outcomes["unreadable"] += 1
            continue
        outcomes[_judged(data, partial(_match, request))] += 1
    return outcomes


def _match(request: CombineDocumentRequest) -> None:
    document = request.document
    for said in pages_from_wire(document, EXPERTS, LIMITS):
        for line in match(said, document.order_from or None).lines:
            words = [word.text for words in line.said.values() for word in words][:9]
            line_to_wire(wire.Choice(), line, word_places(line, words)).SerializeToString()


def _outcome(data: bytes) -> str:
    message = read_request(data).message
    return "unreadable" if message is None else _judged(data, partial(_read, message))


def _judged(data: bytes, read: Callable[[], None]) -> str:
    error = _raised(read)
    if error is None:
        return "good"
    refused = refusal(error)
    assert not isinstance(refused, Internal), f"{data!r}: {error!r} is no refusal"
    # What the client itself sent may stand in the sentence.
    sentence = str(refused)
    assert not has_internal_text(sentence) or not sentence.isascii(), (data, sentence)
    return type(refused).__name__


def _raised(read: Callable[[], None]) -> Exception | None:
    try:
        read()
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
