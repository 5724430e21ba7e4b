"""What a learner is made from: a spec that checks itself, travels as JSON, and builds a combiner.

`CombinerSpec.from_json` names the field that is wrong and what it may be. Everything has a default but the
engines. The same spec always builds the same combiner.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from galloon.learners.errors import InvalidInput
from galloon.learners.gains.bounds import MOST_GAIN
from galloon.learners.paths.catalogue import CATALOGUE
from galloon.learners.paths.protocol import Setting
from galloon.learners.unit import WORD, Unit, unit_named

ALGORITHMS: Mapping[str, Setting] = {name: learner.setting for name, learner in CATALOGUE.items()}
DECISIONS = ("sample", "best")
VOTE = "vote"
DERIVED_NAMES = (VOTE, "frequency_vote", "confidence_vote", "most_confident")  # see `alignment.vote`


# What a learner adds up over its life stays a finite number, and what it exponentiates stays exact.
MOST = {"horizon": 2**53, "learning_rate": 1e3, "gain_bound": MOST_GAIN, "seed": 2**63 - 1}


@dataclass(frozen=True, slots=True)
class CombinerSpec:
    """One learner, as its creator describes it.

    `given` are the names of the fields that the creator gave. A learner that exists must agree with these alone.
    """

    engines: tuple[str, ...] = ()
    algorithm: str = "tied"
    gain: Mapping[str, Any] = field(default_factory=lambda: {"kind": "slot_match"})
    setting: str = ""  # "" is the algorithm's own; the tied learner has all three
    unit: Unit = WORD  # or its name
    normalizer: str = "none"
    window: int = 8  # slots of a round of the fixed automaton; the tied learner needs none
    automaton: str = ""  # an explicit automaton as AT&T text; "" is the ensemble of engines and window
    derived: tuple[str, ...] = ()  # experts computed from the engines: vote, frequency_vote, ...
    labels: tuple[str, ...] = ()  # labels of the utterance that the learner may look at
    horizon: int = 0  # rounds that the learning rate is tuned for; 0 is self-tuning
    learning_rate: float = 0.0  # 0 is the theorem's
    gain_bound: float = 0.0  # of one transition of A'; 0 is the gain's own worst case
    decide: str = ""  # "" becomes best for the tied learner that is told everything, and sample for others
    seed: int = 0
    options: Mapping[str, float | str] = field(default_factory=dict)  # the algorithm's own, e.g. bias
    answer: str = ""  # who is answered while the learner runs in the shadow: vote, or an engine; "" is itself
    given: frozenset[str] = field(init=False, repr=False, compare=False)

    def __new__(cls, *values: Any, **named: Any) -> Self:
        made = object.__new__(cls)
        object.__setattr__(made, "given", frozenset((*cls.__match_args__[: len(values)], *named)))
        return made

    def __post_init__(self) -> None:
        _one_of("algorithm", self.algorithm, tuple(ALGORITHMS))
        _one_of("setting", self.setting, ("", *(s.value for s in Setting)))
        object.__setattr__(self, "unit", unit_named(str(self.unit)))
        if not self.decide:
            object.__setattr__(self, "decide", self._own_decision())
        _one_of("decide", self.decide, DECISIONS)
        if not self.engines and not self.automaton:
            raise InvalidInput("name at least one engine, or give an automaton", field="engines")
        if len(set(self.engines)) != len(self.engines) or not all(self.engines):
            raise InvalidInput("names must be different and not empty", field="engines")
        for name in self.derived:
            _one_of("derived", name, DERIVED_NAMES)
            if name in self.engines or self.derived.count(name) > 1:
                raise InvalidInput(
                    f"{name!r} comes twice: name it once, and no engine like a derived expert",
                    field="derived",
                )
        self._check_answer()
        for name, option in self.options.items():
            if isinstance(option, bool) or not isinstance(option, int | float | str):
                raise InvalidInput(f"{name} must be a number or a word", field="options")
        if not 1 <= self.window <= 4096:
            raise InvalidInput(f"{self.window} slots; allowed are 1 to 4096", field="window")
        for name, most in MOST.items():
            value = getattr(self, name)
            if not 0 <= value <= most:  # also refuses NaN
                raise InvalidInput(f"{value} is not a number from 0 to {most:.6g}", field=name)

    def differences(self, other: "CombinerSpec") -> list[str]:
        """The given fields in which the other spec differs."""
        return [name for name in sorted(self.given) if getattr(self, name) != getattr(other, name)]

    def to_json(self) -> str:
        """Canonical JSON, fields in alphabetical order."""
        values = {name: getattr(self, name) for name in _names(self)} | {"unit": self.unit.name}
        if not self.answer:
            del values["answer"]  # as it was before there were shadows: the same spec has the same bytes
        return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "CombinerSpec":
        try:
            values = json.loads(text)
        except ValueError as error:
            raise InvalidInput(f"the spec is not JSON: {error}") from error
        if not isinstance(values, dict):
            raise InvalidInput("the spec must be a JSON object")
        known = _names(cls)
        for name in values:
            if name not in known:
                raise InvalidInput(f"unknown field; known are {', '.join(sorted(known))}", field=name)
        return cls(**{name: _typed(name, value, cls) for name, value in values.items()})

    def _check_answer(self) -> None:
        if not self.answer:
            return
        _one_of("answer", self.answer, (*self.engines, VOTE))
        if self.automaton or self._told() is not Setting.FULL:
            raise InvalidInput(
                "a learner runs in the shadow only where it is told true texts: what is judged of another's text "
                "says nothing of its own",
                field="answer",
            )

    def _told(self) -> Setting:
        return Setting(self.setting) if self.setting else ALGORITHMS[self.algorithm]

    def _own_decision(self) -> str:
        """Who is told everything loses nothing by showing the most probable text; others must explore."""
        return "best" if self.algorithm == "tied" and self._told() is Setting.FULL else "sample"


def _names(spec: CombinerSpec | type[CombinerSpec]) -> list[str]:
    return [each.name for each in fields(spec) if each.init]


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InvalidInput(f"{value!r} is not one of {', '.join(repr(a) for a in allowed)}", field=name)


def _typed(name: str, value: Any, cls: type[CombinerSpec]) -> Any:
    """A JSON value as the field's type, or an error that names the field."""
    default = cls(engines=("x",)).__getattribute__(name)
    match default:
        case tuple():
            if isinstance(value, list) and all(isinstance(v, str) for v in value):
                return tuple(value)
            raise InvalidInput("must be a list of strings", field=name)
        case str() | Unit():
            if isinstance(value, str):
                return value
            raise InvalidInput("must be a string", field=name)
        case int():
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            raise InvalidInput("must be a whole number", field=name)
        case float():
            if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
            raise InvalidInput("must be a number", field=name)
        case _:
            if isinstance(value, dict):
                return value
            raise InvalidInput("must be an object", field=name)
