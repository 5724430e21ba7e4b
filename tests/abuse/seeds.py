"""Good messages of every kind, to be damaged: `REQUESTS` of a stream, `CALLS` of the learners' service by
method, `DOCUMENTS` of the documents' service.
"""

from google.protobuf.message import Message

from galloon.codec.document import document_to_wire
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import document_pb2 as documents
from galloon.v1 import learners_pb2 as learners
from galloon.v1 import spec_pb2 as spec
from galloon.v1 import utterance_pb2 as said
from tests.daemon.serving import EXPERTS, feedback, simple_spec, utterance
from tests.learners.documents.pages import TEXT, columns, page, recording, without_places

_WORDS = [said.EngineOutput(engine=name, words=["a", "b"], confidences=[0.5, 0.9]) for name in EXPERTS]
_LATTICE = said.Lattice(
    state_count=3, finals=[2], sources=[0, 1], targets=[1, 2], words=["a", "b"], log_scores=[-1.0, -2.0],
    times=[0, 1, 2]
)  # fmt: skip
_GAINS = (
    spec.Gain(ngram=spec.NgramGain(order=2)),
    spec.Gain(patterns=spec.PatternsGain(patterns=[spec.Pattern(tokens=["a", "b"], weight=2.0)])),
    spec.Gain(regex=spec.RegexGain(expression="a(b|c)")),
    spec.Gain(gappy=spec.GappyGain(lengths=[2], discount=0.5, max_gap=1)),
    spec.Gain(arbitrary=spec.ArbitraryGain(bound=1.0)),
)

REQUESTS: tuple[wire.CombineRequest, ...] = (
    wire.CombineRequest(open=wire.Open(learner="fuzz", create=simple_spec(), unsure_ids=["u1", "u2"])),
    *(wire.CombineRequest(open=wire.Open(learner="fuzz", create=simple_spec(gain=gain))) for gain in _GAINS),
    wire.CombineRequest(
        open=wire.Open(learner="fuzz", create=spec.LearnerSpec(automaton="0 1 a\n0 1 b\n1\n"))
    ),
    wire.CombineRequest(utterance=utterance(1, labels={"language": "en"})),
    wire.CombineRequest(utterance=said.Utterance(id="o", outputs=said.EngineOutputs(engines=_WORDS))),
    wire.CombineRequest(
        utterance=said.Utterance(
            id="l",
            outputs=said.EngineOutputs(
                engines=[said.EngineOutput(engine=EXPERTS[0], lattice=_LATTICE), *_WORDS[1:]]
            ),
        )
    ),
    wire.CombineRequest(
        utterance=said.Utterance(id="n", named_tokens=said.NamedTokens(names=["a", "b"], tokens=["x", "y"]))
    ),
    wire.CombineRequest(feedback=feedback(1)),
    wire.CombineRequest(feedback=wire.Feedback(id="u1", true_text="a b c")),
    wire.CombineRequest(feedback=wire.Feedback(id="u1", shown_gains=wire.ShownGains(gains=[0.0, 1.0]))),
    wire.CombineRequest(feedback=wire.Feedback(id="u1", score=0.5)),
    wire.CombineRequest(
        page=wire.Page(
            requests=[
                wire.CombineRequest(utterance=utterance(2)),
                wire.CombineRequest(feedback=feedback(2)),
                wire.CombineRequest(utterance=utterance(2, labels={"language": "de"})),
                wire.CombineRequest(page=wire.Page(requests=[wire.CombineRequest(utterance=utterance(3))])),
                wire.CombineRequest(open=wire.Open(learner="fuzz")),
            ]
        )
    ),
)

CALLS: dict[str, Message] = {
    "CreateLearner": learners.CreateLearnerRequest(name="fuzz", spec=simple_spec()),
    "GetLearner": learners.GetLearnerRequest(name="fuzz"),
    "ListLearners": learners.ListLearnersRequest(page_size=3, prefix="f"),
    "DeleteLearner": learners.DeleteLearnerRequest(name="fuzz-other"),
    "ExplainUtterance": learners.ExplainUtteranceRequest(name="fuzz", id="u1", first_slot=1, most_slots=9),
    "SnapshotLearner": learners.SnapshotLearnerRequest(name="fuzz"),
}

_PAGES = (
    dict(
        zip(
            EXPERTS, (page(TEXT[:3]), page(TEXT[:4], slope=0.02), without_places(page(TEXT[:3]))), strict=True
        )
    ),
    dict(zip(EXPERTS, (columns(TEXT[:2], TEXT[2:4]), columns(TEXT[:2], TEXT[2:4], "across")), strict=False)),
    dict(zip(EXPERTS, (recording(TEXT[:3]), recording([" ".join(TEXT[:3])])), strict=False)),
)
DOCUMENTS: tuple[tuple[str, Message], ...] = (
    *(
        (
            "CombineDocument",
            documents.CombineDocumentRequest(
                learner="fuzz", document=document_to_wire(f"d{number}", [said], number, EXPERTS[0])
            ),
        )
        for number, said in enumerate(_PAGES)
    ),
    ("CorrectDocument", documents.CorrectDocumentRequest(learner="fuzz", id="d0", pages=[" ".join(TEXT)])),
)
