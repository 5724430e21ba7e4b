"""What a client sends on a stream: `open_request`, `utterance_request`, `feedback_request`."""

from collections.abc import Iterable

from galloon.codec.feedback import Withdrawn, feedback_to_wire
from galloon.codec.spec import given_to_wire
from galloon.codec.utterance import utterance_to_wire
from galloon.learners.combiners.contract import Feedback
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from galloon.v1 import combine_pb2 as wire


def open_request(
    learner: str, create: CombinerSpec | None, alternatives: bool, unsure_ids: Iterable[str]
) -> wire.CombineRequest:
    spec = None if create is None else given_to_wire(create)
    return wire.CombineRequest(
        open=wire.Open(learner=learner, create=spec, alternatives=alternatives, unsure_ids=unsure_ids)
    )


def utterance_request(utterance: Utterance, late: bool = False) -> wire.CombineRequest:
    request = wire.CombineRequest(utterance=utterance_to_wire(utterance))
    request.utterance.late = late
    return request


def feedback_request(
    utterance_id: str, feedback: Feedback | Withdrawn, replace: bool = False
) -> wire.CombineRequest:
    return wire.CombineRequest(feedback=feedback_to_wire(feedback, utterance_id, replace))
