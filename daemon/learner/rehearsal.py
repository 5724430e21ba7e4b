"""Rounds that a stranger sent, played before they are let in: what is forged in them may fail only later.

`play` does with a combiner of the same state all that will be done with rounds that wait: it explains and teaches
them. What cannot be done is an error here, before anything is written.
"""

from collections.abc import Iterable

from galloon.daemon.learner.answers import explanation_of
from galloon.daemon.learner.events import Chose
from galloon.daemon.learner.round import Round
from galloon.learners.combiners.contract import Combiner, Score, TrueText
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.v1 import combine_pb2 as wire

EXPLAINED = range(32)  # slots


def play(combiner: Combiner, rounds: Iterable[Round]) -> None:
    """Explain and teach these rounds; the combiner is no good for anything else afterwards."""
    for round_ in rounds:
        Chose(round_.number, round_.id, round_.fingerprint, round_.memory, round_.answer).to_bytes()
        known = combiner.explain(round_.memory, EXPLAINED)
        explanation_of(round_.answer, round_.status.on_the_wire, 0, known, EXPLAINED)
        _teach(combiner, round_)


def _teach(combiner: Combiner, round_: Round) -> None:
    shown = wire.CombineResponse.FromString(round_.answer).choice.text
    for feedback in (TrueText(shown), Score(1.0)):
        try:
            combiner.learn(round_.memory, feedback)
        except InvalidInput:
            continue  # not a kind of feedback that this learner takes
        except ArithmeticError as error:
            raise DamagedState("a round of this learner's state cannot be learned") from error
        return
