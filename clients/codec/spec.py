"""Learner specs: `spec_to_wire` and `spec_from_wire`, inverse to each other."""

from collections.abc import Mapping, Sequence
from typing import Any

from galloon.clients.api.errors import DaemonFailed, WrongUsage
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.unit import unit_named
from galloon.v1 import spec_pb2 as wire

_SETTINGS = {
    "": wire.SETTING_UNSPECIFIED,
    "full": wire.SETTING_FULL,
    "semi": wire.SETTING_SEMI_BANDIT,
    "bandit": wire.SETTING_BANDIT,
}
_SETTING_NAMES = {number: name for name, number in _SETTINGS.items()}
# Named alike and of the same meaning on both sides.
_PLAIN = (
    *("experts", "normalizer", "window", "automaton", "derived", "labels", "horizon", "learning_rate"),
    *("gain_bound", "seed"),
)
_GAINS: dict[str, Any] = {
    "slot_match": wire.SlotMatchGain,
    "ngram": wire.NgramGain,
    "patterns": wire.PatternsGain,
    "regex": wire.RegexGain,
    "gappy": wire.GappyGain,
    "arbitrary": wire.ArbitraryGain,
}


def spec_to_wire(spec: CombinerSpec) -> wire.LearnerSpec:
    return wire.LearnerSpec(
        algorithm=wire.Algorithm.Value(f"ALGORITHM_{spec.algorithm.upper()}"),
        setting=_SETTINGS[spec.setting],
        unit=wire.Unit.Value(f"UNIT_{spec.unit.name.upper()}"),
        decide=wire.Decide.Value(f"DECIDE_{spec.decide.upper()}"),
        gain=_gain_to_wire(spec.gain),
        options={name: value for name, value in spec.options.items() if not isinstance(value, str)},
        text_options={name: value for name, value in spec.options.items() if isinstance(value, str)},
        **{name: getattr(spec, name) for name in _PLAIN},
    )


def spec_from_wire(message: wire.LearnerSpec) -> CombinerSpec:
    """The spec as the daemon shows it, all defaults filled in."""
    plain = {name: getattr(message, name) for name in _PLAIN}
    return CombinerSpec(
        algorithm=_name(wire.Algorithm, message.algorithm, "ALGORITHM_"),
        setting=_SETTING_NAMES[message.setting],
        unit=unit_named(_name(wire.Unit, message.unit, "UNIT_")),
        decide=_name(wire.Decide, message.decide, "DECIDE_"),
        gain=_gain_from_wire(message.gain),
        **{
            **plain,
            "experts": tuple(message.experts),
            "derived": tuple(message.derived),
            "labels": tuple(message.labels),
            "options": {**message.options, **message.text_options},
        },
    )


def _name(enum: Any, number: int, prefix: str) -> str:
    if number not in enum.values():
        raise DaemonFailed(
            f"spec: {prefix}{number} is not known to this client: upgrade it to the daemon's version",
            code="UNKNOWN",
        )
    return str(enum.Name(number)).removeprefix(prefix).lower()


def _gain_to_wire(gain: Mapping[str, Any]) -> wire.Gain:
    values = {name: value for name, value in gain.items() if name != "kind"}
    kind = gain.get("kind", "slot_match")
    if kind not in _GAINS:
        raise WrongUsage(f"gain.kind: {kind!r} is not one of {', '.join(_GAINS)}")
    try:
        if "patterns" in values:
            values["patterns"] = [wire.Pattern(**pattern) for pattern in values["patterns"]]
        return wire.Gain(**{kind: _GAINS[kind](**values)})
    except (TypeError, ValueError) as error:
        raise WrongUsage(
            f"gain: a gain of kind {kind!r} cannot be sent with these values: {error}"
        ) from error


def _gain_from_wire(message: wire.Gain) -> dict[str, Any]:
    kind = message.WhichOneof("gain") or "slot_match"
    gain = getattr(message, kind)
    values: dict[str, Any] = {"kind": kind}
    for field, value in gain.ListFields():  # only what was given: the rest keeps its default
        match field.name:
            case "patterns":
                values["patterns"] = _patterns(value)
            case "lengths":
                values["lengths"] = list(value)
            case name:
                values[name] = value
    return values


def _patterns(patterns: Sequence[wire.Pattern]) -> list[dict[str, Any]]:
    return [
        {"tokens": list(p.tokens), **({"weight": p.weight} if p.HasField("weight") else {})} for p in patterns
    ]
