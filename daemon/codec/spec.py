"""Learner specs: galloon.v1.LearnerSpec to and from `CombinerSpec`."""

from collections.abc import Mapping, Sequence
from typing import Any

from galloon.daemon.errors import Invalid, LimitPassed, placed
from galloon.daemon.limits import Limits, check
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.learners.unit import unit_named
from galloon.v1 import spec_pb2 as wire

DEFAULT = CombinerSpec(experts=("any",))
# Names of the wire beside those of the library; the wire's zero is the library's default.
ALGORITHMS = {
    wire.ALGORITHM_UNSPECIFIED: "tied",
    wire.ALGORITHM_TIED: "tied",
    wire.ALGORITHM_COMPONENT_HEDGE: "component_hedge",
    wire.ALGORITHM_EXPANDED_HEDGE: "expanded_hedge",
    wire.ALGORITHM_PERTURBED_LEADER: "perturbed_leader",
    wire.ALGORITHM_SEMI_BANDIT: "semi_bandit",
    wire.ALGORITHM_COM_BAND: "com_band",
    wire.ALGORITHM_EXP3_PATHS: "exp3_paths",
}
SETTINGS = {
    wire.SETTING_UNSPECIFIED: "",
    wire.SETTING_FULL: "full",
    wire.SETTING_SEMI_BANDIT: "semi",
    wire.SETTING_BANDIT: "bandit",
}
UNITS = {wire.UNIT_UNSPECIFIED: "word", wire.UNIT_WORD: "word", wire.UNIT_CHAR: "char"}
DECISIONS = {
    wire.DECIDE_UNSPECIFIED: "sample",
    wire.DECIDE_SAMPLE: "sample",
    wire.DECIDE_BEST: "best",
}


# Counted before anything is made of them: a message of a megabyte holds 200,000 of each.
MOST = {"derived": 64, "labels": 16, "options": 64, "text_options": 64}
PATTERN_TOKENS = 20_000
NAME_BYTES = 256  # of an expert; it is a label of metrics and stands in every choice


def spec_from_wire(message: wire.LearnerSpec, limits: Limits, field: str) -> CombinerSpec:
    """The spec, checked; `field` is where the message stands in its request."""
    check(limits, "experts", len(message.experts), f"{field}.experts")
    check(limits, "slots", message.window, f"{field}.window")
    for name, most in MOST.items():
        if len(getattr(message, name)) > most:
            raise LimitPassed(name, len(getattr(message, name)), most, "give fewer", f"{field}.{name}")
    for number, name in enumerate(message.experts):
        if len(name.encode()) > NAME_BYTES or not name.isprintable():
            where = f"{field}.experts[{number}]"
            raise Invalid(f"{where}: a name has at most {NAME_BYTES} bytes, and nothing unprintable", where)
    for gain in (message.gain.patterns, message.gain.gappy):
        tokens = sum(len(pattern.tokens) for pattern in gain.patterns)
        if tokens > PATTERN_TOKENS:
            where = f"{field}.gain.patterns"
            raise LimitPassed("tokens of all patterns", tokens, PATTERN_TOKENS, "give fewer patterns", where)
    try:
        spec = CombinerSpec(
            experts=tuple(message.experts),
            algorithm=_named(ALGORITHMS, message.algorithm, f"{field}.algorithm"),
            gain=_gain_from_wire(message.gain),
            setting=_named(SETTINGS, message.setting, f"{field}.setting"),
            unit=unit_named(_named(UNITS, message.unit, f"{field}.unit")),
            normalizer=message.normalizer or DEFAULT.normalizer,
            window=message.window or DEFAULT.window,
            automaton=message.automaton,
            derived=tuple(message.derived),
            labels=tuple(message.labels),
            horizon=message.horizon,
            learning_rate=message.learning_rate,
            gain_bound=message.gain_bound,
            decide=_named(DECISIONS, message.decide, f"{field}.decide"),
            seed=message.seed,
            options=_options(message, field),
        )
        spec.to_json()
    except InvalidInput as error:
        raise placed(error, field) from error
    except ValueError as error:
        raise Invalid(f"{field}: every number must be finite", field) from error
    return spec


def spec_to_wire(spec: CombinerSpec) -> wire.LearnerSpec:
    """The message, all defaults filled in."""
    return wire.LearnerSpec(
        experts=spec.experts,
        algorithm=_numbered(ALGORITHMS, spec.algorithm),
        gain=_gain_to_wire(spec.gain),
        setting=_numbered(SETTINGS, spec.setting),
        unit=_numbered(UNITS, spec.unit.name),
        normalizer=spec.normalizer,
        window=spec.window,
        automaton=spec.automaton,
        derived=spec.derived,
        labels=spec.labels,
        horizon=spec.horizon,
        learning_rate=spec.learning_rate,
        gain_bound=spec.gain_bound,
        decide=_numbered(DECISIONS, spec.decide),
        seed=spec.seed,
        options={name: value for name, value in spec.options.items() if not isinstance(value, str)},
        text_options={name: value for name, value in spec.options.items() if isinstance(value, str)},
    )


def _options(message: wire.LearnerSpec, field: str) -> dict[str, float | str]:
    for name in message.text_options:
        if name in message.options:
            where = f"{field}.text_options"
            raise Invalid(f"{where}: {name!r} is in options too: send it once", where)
    return {**message.options, **message.text_options}


def _named(names: Mapping[Any, str], number: int, field: str) -> str:
    if number not in names:
        raise Invalid(f"{field}: {number} is not known to this version; known are 0 to {max(names)}", field)
    return names[number]


def _numbered(names: Mapping[Any, str], name: str) -> Any:
    """The last number of a name: the explicit one, where zero means the same."""
    return max(number for number, known in names.items() if known == name)


def _gain_from_wire(message: wire.Gain) -> dict[str, Any]:
    match message.WhichOneof("gain"):
        case None | "slot_match":
            return {"kind": "slot_match"}
        case "ngram":
            return {"kind": "ngram", "order": message.ngram.order, **_nulls(message.ngram)}
        case "patterns":
            patterns = message.patterns
            return {"kind": "patterns", "patterns": _patterns(patterns.patterns), **_nulls(patterns)}
        case "regex":
            regex = message.regex
            gain = {"kind": "regex", "expression": regex.expression, **_given(regex, "weight")}
            return {**gain, **_nulls(regex)}
        case "gappy":
            gappy = message.gappy
            gain = {"kind": "gappy", **_given(gappy, "discount", "max_gap"), **_nulls(gappy)}
            if gappy.lengths:
                gain["lengths"] = list(gappy.lengths)
            if gappy.patterns:
                gain["patterns"] = _patterns(gappy.patterns)
            return gain
        case "arbitrary":
            return {"kind": "arbitrary", **_given(message.arbitrary, "bound")}


def _gain_to_wire(gain: Mapping[str, Any]) -> wire.Gain:
    values = {name: value for name, value in gain.items() if name != "kind"}
    if "patterns" in values:
        values["patterns"] = [wire.Pattern(**pattern) for pattern in values["patterns"]]
    match gain["kind"]:
        case "slot_match":
            return wire.Gain(slot_match=wire.SlotMatchGain())
        case "ngram":
            return wire.Gain(ngram=wire.NgramGain(**values))
        case "patterns":
            return wire.Gain(patterns=wire.PatternsGain(**values))
        case "regex":
            return wire.Gain(regex=wire.RegexGain(**values))
        case "gappy":
            return wire.Gain(gappy=wire.GappyGain(**values))
        case "arbitrary":
            return wire.Gain(arbitrary=wire.ArbitraryGain(**values))
        case kind:
            raise InvalidInput(f"gain.kind: {kind!r} does not travel on the wire")


def _given(message: Any, *names: str) -> dict[str, Any]:
    """The optional fields that were given."""
    return {name: getattr(message, name) for name in names if message.HasField(name)}


def _nulls(message: Any) -> dict[str, Any]:
    return {"count_nulls": True} if message.count_nulls else {}


def _patterns(patterns: Sequence[wire.Pattern]) -> list[dict[str, Any]]:
    return [{"tokens": list(pattern.tokens), **_given(pattern, "weight")} for pattern in patterns]
