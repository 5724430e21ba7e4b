"""How a learner compares with others: `Comparison`, `Contestant`, to and from the wire."""

from dataclasses import dataclass

from galloon.v1 import challenge_pb2 as wire

_KINDS = {
    number: name.removeprefix("CONTESTANT_KIND_").lower() for name, number in wire.ContestantKind.items()
}
_VERDICTS = {number: name.removeprefix("VERDICT_").lower() for name, number in wire.Verdict.items()}
_OPTIONAL = ("error_rate", "learner_error_rate", "difference", "difference_low", "difference_high")


@dataclass(frozen=True, slots=True)
class Contestant:
    """One of those that are compared: its error rate and the learner's own in the same corrections, in percent.

    `difference` is in points, with the interval that holds it at 95 %: below 0 is better than the learner.
    """

    name: str
    kind: str  # learner, challenger, vote, engine
    corrections: int
    error_rate: float | None = None
    learner_error_rate: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    behind: int = 0  # of a challenger: entries of the history that it has still to play


@dataclass(frozen=True, slots=True)
class Comparison:
    """A learner and all others."""

    learner: Contestant
    others: tuple[Contestant, ...]
    verdict: str  # too_early, stay, go_live, promote
    sentence: str  # what to do, and why
    answered: str  # who is answered where the learner is in the shadow, else empty
    lessons: int
    characters: bool  # that the rates are of; else words


def comparison_to_wire(comparison: Comparison) -> wire.CompareLearnerResponse:
    return wire.CompareLearnerResponse(
        learner=_to_wire(comparison.learner),
        others=map(_to_wire, comparison.others),
        verdict=wire.Verdict.Value(f"VERDICT_{comparison.verdict.upper()}"),
        sentence=comparison.sentence,
        answered=comparison.answered,
        lessons=comparison.lessons,
        characters=comparison.characters,
    )


def comparison_from_wire(message: wire.CompareLearnerResponse) -> Comparison:
    return Comparison(
        _from_wire(message.learner),
        tuple(map(_from_wire, message.others)),
        _VERDICTS.get(message.verdict, ""),
        message.sentence,
        message.answered,
        message.lessons,
        message.characters,
    )


def _to_wire(contestant: Contestant) -> wire.Contestant:
    known = {name: getattr(contestant, name) for name in _OPTIONAL}
    return wire.Contestant(
        name=contestant.name,
        kind=wire.ContestantKind.Value(f"CONTESTANT_KIND_{contestant.kind.upper()}"),
        corrections=contestant.corrections,
        behind=contestant.behind,
        **{name: value for name, value in known.items() if value is not None},
    )


def _from_wire(message: wire.Contestant) -> Contestant:
    known = {name: getattr(message, name) for name in _OPTIONAL if message.HasField(name)}  # type: ignore[arg-type]  # names that it knows
    return Contestant(
        message.name,
        _KINDS.get(message.kind, ""),
        message.corrections,
        behind=message.behind,
        **known,
    )
