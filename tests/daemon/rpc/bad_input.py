"""Bad requests, each with the answer that the daemon documents: shared by the test and docs/errors.md.

`STREAM_CASES` are sent over a stream that is open on the case's learner (or, where it has none, over a new one),
`CALL_CASES` to the learners' service. `python -m tests.daemon.rpc.bad_input` prints the tables of docs/errors.md.
"""

from dataclasses import dataclass
from typing import Any

import grpc

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2 as learners
from galloon.v1 import spec_pb2 as spec
from galloon.v1 import utterance_pb2 as said
from tests.daemon.serving import EXPERTS, simple_spec, utterance

NAN, INF = float("nan"), float("inf")
INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
EXISTS, ORDER = grpc.StatusCode.ALREADY_EXISTS, grpc.StatusCode.FAILED_PRECONDITION
LIMIT = grpc.StatusCode.RESOURCE_EXHAUSTED
AUTOMATON = "0 1 a\n0 2 b\n1 3 c\n2 3 d\n3\n"


@dataclass(frozen=True)
class Case:
    """What is sent, in words and as a message, and what comes back. `learner` is whom a new stream is open on."""

    what: str
    request: Any
    code: grpc.StatusCode
    sentence: str
    learner: str | None = "full"


def opening(**changes: Any) -> wire.Open:
    """An open that would create a learner, but for one thing."""
    return wire.Open(learner="new", create=simple_spec(**changes))


def slots(*offers: said.SlotOffers, **changes: Any) -> said.Utterance:
    return said.Utterance(**{"id": "bad", "slots": said.Slots(offers=offers), **changes})


def offer(
    expert: str, tokens: list[str] | None = None, confidences: tuple[float, ...] = ()
) -> said.SlotOffers:
    return said.SlotOffers(
        engine=expert, tokens=["a", "b"] if tokens is None else tokens, confidences=confidences
    )


def three(third: said.SlotOffers, **changes: Any) -> said.Utterance:
    return slots(offer("ann"), offer("bob"), third, **changes)


def outputs(third: said.EngineOutput) -> said.Utterance:
    first = [said.EngineOutput(engine=name, words=["a"]) for name in ("ann", "bob")]
    return said.Utterance(id="bad", outputs=said.EngineOutputs(engines=[*first, third]))


def named(names: str, tokens: str) -> said.Utterance:
    return said.Utterance(id="bad", named_tokens=said.NamedTokens(names=names.split(), tokens=tokens.split()))


def lattice(**changes: Any) -> said.EngineOutput:
    values = {
        "state_count": 2,
        "finals": [1],
        "sources": [0],
        "targets": [1],
        "words": ["a"],
        "log_scores": [0.0],
        **changes,
    }
    return said.EngineOutput(engine="cy", lattice=said.Lattice(**values))


def teach(**feedback: Any) -> wire.Feedback:
    return wire.Feedback(id="pending", **feedback)


GAPPY, PATTERN = spec.GappyGain, spec.Pattern

STREAM_CASES = [
    # The order of requests.
    Case("an utterance before open", utterance(1), ORDER, "the first request of a stream must be open", None),
    Case("feedback before open", teach(score=1), ORDER, "the first request of a stream must be open", None),
    Case(
        "open twice",
        wire.Open(learner="full"),
        ORDER,
        "open: this stream is open on 'full'; use another stream",
    ),
    Case(
        "a request without content",
        wire.CombineRequest(),
        INVALID,
        "request: not a readable CombineRequest with open, utterance, feedback or page",
    ),
    Case(
        "bytes that are no message",
        b"\xff\xfe\xfd",
        INVALID,
        "request: not a readable CombineRequest with open, utterance, feedback or page",
    ),
    Case(
        "a text that is not UTF-8",
        b"\x12\x04\x0a\x02\xff\xff",
        INVALID,
        "request: not a readable CombineRequest with open, utterance, feedback or page",
    ),
    Case(
        "a message over the limit",
        said.Utterance(id="x" * 1_100_000),
        LIMIT,
        "message_bytes: 1100008 asked, 1048576 allowed; send shorter utterances, or raise limits.message_bytes",
    ),
    # Opening.
    Case(
        "an unknown learner",
        wire.Open(learner="nobody"),
        NOT_FOUND,
        "open.learner: no learner is called 'nobody'; create it first",
        None,
    ),
    Case(
        "a learner without a name",
        wire.Open(),
        INVALID,
        "open.learner: a name has 1 to 128 of the characters",
        None,
    ),
    Case(
        "a name with other characters",
        wire.Open(learner="a b\n"),
        INVALID,
        "open.learner: a name has 1 to 128 of the characters",
        None,
    ),
    Case(
        "a name that is too long",
        wire.Open(learner="a" * 129),
        INVALID,
        "open.learner: a name has 1 to 128 of the characters",
        None,
    ),
    Case(
        "another spec for a learner that exists",
        wire.Open(learner="full", create=simple_spec(seed=9)),
        EXISTS,
        "open.learner: a learner called 'full' exists with another spec",
        None,
    ),
    Case(
        "too many unsure ids",
        wire.Open(learner="full", unsure_ids=["x"] * 10_001),
        LIMIT,
        "unsure_ids: 10001 asked, 10000 allowed; ask for fewer",
        None,
    ),
    # Specs.
    Case(
        "a spec without engines",
        opening(engines=[]),
        INVALID,
        "open.create.engines: name at least one engine, or give an automaton",
        None,
    ),
    Case(
        "two engines of one name",
        opening(engines=["a", "a"]),
        INVALID,
        "open.create.engines: names must be different and not empty",
        None,
    ),
    Case(
        "too many engines",
        opening(engines=[f"e{n}" for n in range(4097)]),
        LIMIT,
        "engines: 4097 asked, 4096 allowed; use fewer engines, or raise limits.engines",
        None,
    ),
    Case("a window that is too long", opening(window=5000), LIMIT, "slots: 5000 asked, 4096 allowed", None),
    Case(
        "an algorithm that this version does not know",
        opening(algorithm=99),
        INVALID,
        "open.create.algorithm: 99 is not known to this version",
        None,
    ),
    Case(
        "a setting that this version does not know",
        opening(setting=99),
        INVALID,
        "open.create.setting: 99 is not known to this version",
        None,
    ),
    Case(
        "a setting that the algorithm does not have",
        opening(setting=spec.SETTING_BANDIT),
        INVALID,
        "open.create.setting: expanded_hedge learns from full feedback, not from bandit",
        None,
    ),
    Case(
        "a negative learning rate",
        opening(learning_rate=-1),
        INVALID,
        "open.create.learning_rate: -1.0 is not a number from 0 to 1000",
        None,
    ),
    Case(
        "a learning rate that is not a number",
        opening(learning_rate=NAN),
        INVALID,
        "open.create.learning_rate: nan is not a number from 0 to 1000",
        None,
    ),
    Case(
        "an infinite bound",
        opening(gain_bound=INF),
        INVALID,
        "open.create.gain_bound: inf is not a number from 0 to 1e+09",
        None,
    ),
    Case(
        "a seed that is too large",
        opening(seed=2**63),
        INVALID,
        "open.create.seed: 9223372036854775808",
        None,
    ),
    Case(
        "an option that is not a number",
        opening(options={"beta": NAN}),
        INVALID,
        "open.create: every number must be finite",
        None,
    ),
    Case(
        "an unknown option",
        opening(options={"colour": 1}),
        INVALID,
        "open.create.options: expanded_hedge has no option 'colour'; it takes tuning",
        None,
    ),
    Case(
        "an option that is a word and not a number",
        opening(algorithm=spec.ALGORITHM_SEMI_BANDIT, text_options={"confidence": "high"}),
        INVALID,
        "open.create.options: confidence must be a number, not 'high'",
        None,
    ),
    Case(
        "an option with an unknown word",
        opening(algorithm=spec.ALGORITHM_SEMI_BANDIT, text_options={"bias": "left"}),
        INVALID,
        "open.create.options: bias 'left' is not one of everywhere, none, implicit",
        None,
    ),
    Case(
        "an option twice, as a word and as a number",
        opening(options={"bias": 1}, text_options={"bias": "none"}),
        INVALID,
        "open.create.text_options: 'bias' is in options too: send it once",
        None,
    ),
    Case(
        "an unknown derived expert",
        opening(derived=["oracle"]),
        INVALID,
        "open.create.derived: 'oracle' is not one of 'vote', 'frequency_vote', 'confidence_vote'",
        None,
    ),
    Case(
        "a derived expert twice",
        opening(derived=["vote", "vote"]),
        INVALID,
        "open.create.derived: 'vote' comes twice",
        None,
    ),
    Case(
        "an engine called like a derived expert",
        opening(engines=["ann", "vote"], derived=["vote"]),
        INVALID,
        "open.create.derived: 'vote' comes twice",
        None,
    ),
    Case(
        "an engine called like an expert that the learner computes",
        opening(engines=["ann", "scorer"], algorithm=spec.ALGORITHM_TIED),
        INVALID,
        "open.create.engines: this learner computes an expert 'scorer'; name the engine otherwise",
        None,
    ),
    Case(
        "an unknown normaliser",
        opening(normalizer="latin"),
        INVALID,
        "open.create.normalizer: no normalizer is called 'latin'",
        None,
    ),
    Case(
        "a huge automaton",
        opening(
            engines=[f"e{n}" for n in range(64)], window=4096, gain=spec.Gain(ngram=spec.NgramGain(order=9))
        ),
        LIMIT,
        "transitions: 7.36428611067624e+19 asked, 2000000 allowed; use fewer experts",
        None,
    ),
    Case(
        "n-grams of order 0",
        opening(gain=spec.Gain(ngram=spec.NgramGain())),
        INVALID,
        "open.create.gain.order: 0 is not at least 1",
        None,
    ),
    Case(
        "a pattern that is worth no number",
        opening(gain=spec.Gain(patterns=spec.PatternsGain(patterns=[PATTERN(tokens=["a"], weight=NAN)]))),
        INVALID,
        "open.create: every number must be finite",
        None,
    ),
    Case(
        "no patterns",
        opening(gain=spec.Gain(patterns=spec.PatternsGain())),
        INVALID,
        "open.create.gain.patterns: at least one pattern is needed",
        None,
    ),
    Case(
        "a negative discount",
        opening(gain=spec.Gain(gappy=GAPPY(lengths=[2], discount=-0.5))),
        INVALID,
        "open.create.gain.discount: -0.5 is not between 0 and 1",
        None,
    ),
    Case(
        "a gap that blows the automaton up",
        opening(window=60, gain=spec.Gain(gappy=GAPPY(lengths=[4], max_gap=40))),
        LIMIT,
        "gap placements that end at one token: 12341 asked, 1000 allowed",
        None,
    ),
    Case(
        "gappy n-grams and patterns at once",
        opening(gain=spec.Gain(gappy=GAPPY(lengths=[2], patterns=[PATTERN(tokens=["a"])]))),
        INVALID,
        "needs either lengths (for all n-grams) or patterns, not both",
        None,
    ),
    Case(
        "an unbounded expression",
        opening(gain=spec.Gain(regex=spec.RegexGain(expression="a*"))),
        INVALID,
        "'*' has no end, and patterns must be bounded",
        None,
    ),
    Case(
        "a broken expression",
        opening(gain=spec.Gain(regex=spec.RegexGain(expression="(a"))),
        INVALID,
        "a closing ) is missing",
        None,
    ),
    Case(
        "a score without bound",
        opening(gain=spec.Gain(arbitrary=spec.ArbitraryGain(bound=-1))),
        INVALID,
        "open.create.gain.bound: -1.0 is not a positive number",
        None,
    ),
    # Automata.
    Case(
        "a cyclic automaton",
        opening(automaton="0 1 a\n1 0 b\n1\n"),
        INVALID,
        "open.create.automaton: the automaton has a cycle through transition 'b' (state 1 to 0)",
        None,
    ),
    Case(
        "an automaton that is no automaton",
        opening(automaton="hello world"),
        INVALID,
        "open.create.automaton: line 1: 'hello' is not the number of a state",
        None,
    ),
    Case(
        "an automaton without final state", opening(automaton="0 1 a\n"), INVALID, "no state is final", None
    ),
    Case(
        "two transitions of one name",
        opening(automaton="0 1 a\n0 2 a\n1\n2\n"),
        INVALID,
        "the name 'a' stands on two transitions",
        None,
    ),
    # Utterances.
    Case(
        "an utterance without id",
        three(offer("cy"), id=""),
        INVALID,
        "utterance.id: missing; give every utterance an id of its own",
    ),
    Case(
        "an id that is too long",
        three(offer("cy"), id="x" * 257),
        INVALID,
        "utterance.id: 257 bytes, at most 256",
    ),
    Case(
        "an utterance without outputs",
        said.Utterance(id="bad"),
        INVALID,
        "utterance: give slots, outputs or named_tokens",
    ),
    Case(
        "no offers",
        slots(),
        INVALID,
        "utterance.slots.offers: nothing from any engine; send an engine that ran",
    ),
    Case(
        "too many engines in one utterance",
        slots(*[offer(f"e{n}") for n in range(65)]),
        LIMIT,
        "outputs: 65 asked, 64 allowed",
    ),
    Case(
        "an unknown engine",
        three(offer("dan")),
        INVALID,
        "utterance.slots.offers[2].engine: 'dan' is not an engine of this learner; known are ann, bob, cy",
    ),
    Case(
        "an engine twice", three(offer("ann")), INVALID, "utterance.slots.offers[2].engine: 'ann' comes twice"
    ),
    Case(
        "uneven slots",
        three(offer("cy", ["a"])),
        INVALID,
        "utterance.slots.offers[2].tokens: 1 tokens, but offers[0] has 2",
    ),
    Case(
        "no slots",
        slots(*(offer(name, []) for name in EXPERTS)),
        INVALID,
        "utterance.slots.offers[0].tokens: no slots",
    ),
    Case(
        "too many slots",
        slots(*(offer(name, ["a"] * 4097) for name in EXPERTS)),
        LIMIT,
        "slots: 4097 asked, 4096",
    ),
    Case(
        "too few confidences",
        three(offer("cy", confidences=(0.5,))),
        INVALID,
        "utterance.slots.offers[2].confidences: 1 numbers for 2 tokens; send as many, or none",
    ),
    Case(
        "an infinite confidence",
        three(offer("cy", confidences=(INF, 0.5))),
        INVALID,
        "utterance.slots.offers: an infinite confidence",
    ),
    Case(
        "too many labels",
        three(offer("cy"), labels={f"l{n}": "x" for n in range(17)}),
        INVALID,
        "utterance.labels: 17 labels, at most 16 are allowed",
    ),
    Case(
        "a label that is too long",
        three(offer("cy"), labels={"l": "x" * 300}),
        INVALID,
        "utterance.labels: names and values have at most 256 bytes",
    ),
    Case(
        "an id that was used for other content",
        slots(*(offer(name) for name in EXPERTS), id="pending"),
        EXISTS,
        "utterance 'pending' was sent before with other content",
    ),
    Case(
        "tokens by name for an ensemble",
        named("a b", "x y"),
        INVALID,
        "this learner takes slots or engines' outputs, not tokens by transition name",
    ),
    Case(
        "slots for an automaton",
        three(offer("cy")),
        INVALID,
        "utterance.slots.offers: this learner has an automaton: send named_tokens",
        "automaton",
    ),
    Case(
        "a transition without token",
        named("a b c", "x y z"),
        INVALID,
        "transition 'd' has no token",
        "automaton",
    ),
    Case(
        "a token for no transition",
        named("a b c d e", "v w x y z"),
        INVALID,
        "the automaton has no transition 'e'",
        "automaton",
    ),
    Case(
        "a transition twice",
        named("a b c d a", "v w x y z"),
        INVALID,
        "utterance.named_tokens.names: 'a' comes twice",
        "automaton",
    ),
    Case(
        "more names than tokens",
        named("a b", "x"),
        INVALID,
        "utterance.named_tokens: 2 names but 1 tokens",
        "automaton",
    ),
    Case(
        "an empty word",
        outputs(said.EngineOutput(engine="cy", words=["a", ""])),
        INVALID,
        "utterance.outputs.engines[2].words[1]: empty; leave out what was not said",
    ),
    Case(
        "starts without words",
        outputs(said.EngineOutput(engine="cy", words=["a"], starts=[0, 1])),
        INVALID,
        "utterance.outputs.engines[2].starts: 2 numbers for 1 tokens",
    ),
    Case(
        "a line confidence that is not a number",
        outputs(said.EngineOutput(engine="cy", confidence=NAN)),
        INVALID,
        "utterance.outputs.engines[2].confidence: nan is not a finite number",
    ),
    Case(
        "a lattice that names a state it has not",
        outputs(lattice(targets=[7])),
        INVALID,
        "utterance.outputs.engines[2].lattice: state 7 is named, but there are only 2",
    ),
    Case(
        "a lattice without final state",
        outputs(lattice(finals=[])),
        INVALID,
        "utterance.outputs.engines[2].lattice.finals: none; name at least one final state",
    ),
    Case(
        "a lattice with uneven arcs",
        outputs(lattice(words=[])),
        INVALID,
        "utterance.outputs.engines[2].lattice.words: 0 for 1 arcs; send one for each",
    ),
    Case(
        "a lattice with an infinite score",
        outputs(lattice(log_scores=[INF])),
        INVALID,
        "utterance.outputs.engines[2].lattice: log_scores and times must be finite",
    ),
    # Feedback.
    Case(
        "feedback on an unknown round",
        wire.Feedback(id="never", true_text="x"),
        NOT_FOUND,
        "no round is known for utterance 'never': either the utterance was never sent",
    ),
    Case(
        "feedback without id", wire.Feedback(true_text="x"), NOT_FOUND, "no round is known for utterance ''"
    ),
    Case(
        "feedback without content",
        teach(),
        INVALID,
        "feedback: give one of true_text, true_tokens, shown_gains and score",
    ),
    Case(
        "a score in the full setting",
        teach(score=1),
        ORDER,
        "feedback.score: this learner's setting is full, which takes true_text or true_tokens",
    ),
    Case(
        "shown gains in the full setting",
        teach(shown_gains=wire.ShownGains(gains=[1])),
        ORDER,
        "feedback.shown_gains: this learner's setting is full, which takes true_text or true_tokens",
    ),
    Case(
        "a score in the semi-bandit setting",
        teach(score=1),
        ORDER,
        "feedback.score: this learner's setting is semi, which takes true_text or true_tokens or shown_gains",
        "semi",
    ),
    Case(
        "a score that is not a number",
        teach(score=NAN),
        INVALID,
        "feedback.score: nan is not a finite number",
        "bandit",
    ),
    Case(
        "a score out of range",
        teach(score=1000),
        INVALID,
        "the gain of a path is 1000, outside of 0 to 6",
        "bandit",
    ),
    Case(
        "a negative score", teach(score=-1), INVALID, "the gain of a path is -1, outside of 0 to 6", "bandit"
    ),
    Case(
        "an infinite gain",
        teach(shown_gains=wire.ShownGains(gains=[0, INF])),
        INVALID,
        "feedback.shown_gains.gains[1]: inf is not a finite number",
        "semi",
    ),
    Case(
        "too few gains",
        teach(shown_gains=wire.ShownGains(gains=[0])),
        INVALID,
        "1 shown gains, but the shown path has 8 transitions; send one each",
        "semi",
    ),
    Case(
        "too few true tokens",
        teach(true_tokens=wire.TrueTokens(tokens=["a"])),
        INVALID,
        "1 true tokens for 6 slots: send one a slot, empty for null, or send the text",
    ),
    Case(
        "other feedback on a round that has learned",
        wire.Feedback(id="done", true_text="other"),
        EXISTS,
        "the round of utterance 'done' has other feedback already; set replace",
    ),
    Case(
        "a withdrawal that does not say so twice",
        wire.Feedback(id="done", withdrawn=True),
        EXISTS,
        "has other feedback already; set replace to put this in its place",
    ),
    Case(
        "a withdrawal of nothing",
        wire.Feedback(id="old", withdrawn=True, replace=True),
        NOT_FOUND,
        "utterance 'old' has no feedback to withdraw",
    ),
]

CALL_CASES = [
    Case(
        "GetLearner of an unknown learner",
        learners.GetLearnerRequest(name="nobody"),
        NOT_FOUND,
        "name: no learner",
    ),
    Case("GetLearner without name", learners.GetLearnerRequest(), INVALID, "name: a name has 1 to 128"),
    Case(
        "DeleteLearner of an unknown learner",
        learners.DeleteLearnerRequest(name="nobody"),
        NOT_FOUND,
        "name: no",
    ),
    Case(
        "SnapshotLearner of an unknown learner",
        learners.SnapshotLearnerRequest(name="no"),
        NOT_FOUND,
        "name: no",
    ),
    Case(
        "ExportLearner of an unknown learner", learners.ExportLearnerRequest(name="no"), NOT_FOUND, "name: no"
    ),
    Case(
        "CreateLearner without spec",
        learners.CreateLearnerRequest(name="new"),
        INVALID,
        "spec.engines: name at least",
    ),
    Case(
        "CreateLearner with another spec",
        learners.CreateLearnerRequest(name="full", spec=simple_spec(seed=3)),
        EXISTS,
        "name: a learner called 'full'",
    ),
    Case(
        "ImportLearner of no bytes",
        learners.ImportLearnerRequest(name="new"),
        INVALID,
        "these 0 bytes are not a",
    ),
    Case(
        "ImportLearner of other bytes",
        learners.ImportLearnerRequest(name="new", chunk=b"x" * 99),
        INVALID,
        "these 99 bytes are not a galloon state",
    ),
    Case(
        "ImportLearner over a learner that exists",
        learners.ImportLearnerRequest(name="full", chunk=b"x"),
        EXISTS,
        "name: a learner called 'full' exists; delete it first",
    ),
    Case(
        "ExplainUtterance of an unknown learner",
        learners.ExplainUtteranceRequest(name="no", id="pending"),
        NOT_FOUND,
        "name: no learner",
    ),
    Case(
        "ExplainUtterance of an unknown utterance",
        learners.ExplainUtteranceRequest(name="full", id="never sent"),
        NOT_FOUND,
        "no round is known for utterance 'never sent'",
    ),
    Case(
        "ExplainUtterance without an id",
        learners.ExplainUtteranceRequest(name="full"),
        NOT_FOUND,
        "no round is known for utterance ''",
    ),
    Case(
        "ExplainUtterance of too many slots at once",
        learners.ExplainUtteranceRequest(name="full", id="pending", most_slots=33),
        INVALID,
        "most_slots: 33 is not from 1 to 32",
    ),
    Case(
        "WatchStatistics too often",
        learners.WatchStatisticsRequest(name="full", interval_s=0.001),
        INVALID,
        "interval_s: 0.001 is not from 0.1 to 3600.0 seconds",
    ),
    Case(
        "WatchStatistics at no interval",
        learners.WatchStatisticsRequest(name="full", interval_s=NAN),
        INVALID,
        "interval_s: nan is not from",
    ),
]


def table(cases: list[Case]) -> str:
    """The rows of docs/errors.md."""
    rows = ["| what is wrong | code | the sentence begins or contains |", "| --- | --- | --- |"]
    for case in cases:
        sentence = case.sentence.replace("|", "\\|")
        rows.append(f"| {case.what} | `{case.code.name}` | {sentence} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table(STREAM_CASES), table(CALL_CASES), sep="\n\n")
