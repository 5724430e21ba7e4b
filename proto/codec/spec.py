"""Learner specs: galloon.v1.LearnerSpec to and from `CombinerSpec`.

`spec_to_wire` fills in all defaults, `given_to_wire` sets only what the creator gave; `spec_from_wire` reads both.
`changed_spec` is a spec with what somebody wants to be other.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from galloon.codec.errors import InvalidMessage, MessageTooLarge, SizeLimits, check_size
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import InvalidInput
from galloon.v1 import spec_pb2 as wire


def _names(enum: Any, default: str) -> dict[Any, str]:
    """Names of the library by the wire's numbers: ALGORITHM_COM_BAND is com_band, zero is the default."""
    (zero,) = (name for name, number in enum.items() if number == 0)
    prefix = zero.removesuffix("UNSPECIFIED")
    return {number: name.removeprefix(prefix).lower() if number else default for name, number in enum.items()}


ALGORITHMS = _names(wire.Algorithm, "tied")
UNITS = _names(wire.Unit, "word")
DECISIONS = _names(wire.Decide, "")
SETTINGS = {
    wire.SETTING_UNSPECIFIED: "",
    wire.SETTING_FULL: "full",
    wire.SETTING_SEMI_BANDIT: "semi",
    wire.SETTING_BANDIT: "bandit",
}
NUMBERED: Mapping[str, Mapping[Any, str]] = {
    "algorithm": ALGORITHMS,
    "setting": SETTINGS,
    "unit": UNITS,
    "decide": DECISIONS,
}
# Named alike and of the same meaning on both sides.
LISTS = ("engines", "derived", "labels")
SCALARS = ("normalizer", "window", "automaton", "horizon", "learning_rate", "gain_bound", "seed", "answer")
GAINS = tuple(field.name for field in wire.Gain.DESCRIPTOR.oneofs_by_name["gain"].fields)

# Counted before anything is made of them: a message of a megabyte holds 200,000 of each.
MOST = {"derived": 64, "labels": 16, "options": 64, "text_options": 64}
PATTERN_TOKENS = 20_000
NAME_BYTES = 256  # of an engine; it is a label of metrics and stands in every choice


def spec_from_wire(
    message: wire.LearnerSpec, limits: SizeLimits | None = None, field: str = "spec"
) -> CombinerSpec:
    """The spec, checked; `field` is where the message stands in its request."""
    check_size(limits, "engines", len(message.engines), f"{field}.engines")
    check_size(limits, "slots", message.window, f"{field}.window")
    for name, most in MOST.items():
        if len(getattr(message, name)) > most:
            raise MessageTooLarge(f"{field}.{name}", name, len(getattr(message, name)), most, "give fewer")
    for number, name in enumerate(message.engines):
        if len(name.encode()) > NAME_BYTES or not name.isprintable():
            where = f"{field}.engines[{number}]"
            raise InvalidMessage(where, f"a name has at most {NAME_BYTES} bytes, and nothing unprintable")
    for gain in (message.gain.patterns, message.gain.gappy):
        tokens = sum(len(pattern.tokens) for pattern in gain.patterns)
        if tokens > PATTERN_TOKENS:
            where = f"{field}.gain.patterns"
            raise MessageTooLarge(
                where, "tokens of all patterns", tokens, PATTERN_TOKENS, "give fewer patterns"
            )
    try:
        spec = CombinerSpec(**_given_fields(message, field))
        spec.to_json()
    except InvalidMessage:
        raise
    except InvalidInput as error:
        raise error.under(field) from error
    except ValueError as error:
        raise InvalidMessage(field, "every number must be finite") from error
    return spec


def spec_to_wire(spec: CombinerSpec) -> wire.LearnerSpec:
    """The message, all defaults filled in."""
    return _to_wire(spec, (*NUMBERED, *LISTS, *SCALARS, "gain", "options"))


def given_to_wire(spec: CombinerSpec) -> wire.LearnerSpec:
    """The message with what the creator gave, and nothing else set."""
    return _to_wire(spec, spec.given)


def changed_spec(
    present: CombinerSpec, change: wire.LearnerSpec, default_fields: Iterable[str]
) -> wire.LearnerSpec:
    """The message of a spec in which what the change sets takes the place of what is there."""
    message, names = spec_to_wire(present), {field.name for field, _ in change.ListFields()}
    for name in default_fields:
        if name not in (*NUMBERED, *LISTS, *SCALARS, "gain", "options") or name == "engines":
            raise InvalidMessage("default_fields", f"{name!r} is not a field of a spec that has a default")
        if name in names:
            raise InvalidMessage(f"spec.{name}", "it cannot be set and go back to its default")
        names.add(name)
    if names & {"options", "text_options"}:
        names |= {"options", "text_options"}
    if names & {"algorithm", "setting"}:
        names.add("decide")  # each has its own default
    for name in names:
        message.ClearField(name)  # type: ignore[arg-type]  # a name that it knows
    message.MergeFrom(change)
    return message


def _to_wire(spec: CombinerSpec, names: Collection[str]) -> wire.LearnerSpec:
    values: dict[str, Any] = {name: getattr(spec, name) for name in (*LISTS, *SCALARS) if name in names}
    for name, numbers in NUMBERED.items():
        if name in names:
            values[name] = _numbered(numbers, str(getattr(spec, name)))
    if "gain" in names:
        values["gain"] = _gain_to_wire(spec.gain)
    if "options" in names:
        words = {name for name, value in spec.options.items() if isinstance(value, str)}
        values["options"] = {name: value for name, value in spec.options.items() if name not in words}
        values["text_options"] = {name: spec.options[name] for name in words}
    return wire.LearnerSpec(**values)


def _given_fields(message: wire.LearnerSpec, field: str) -> dict[str, Any]:
    """The fields that are set. An enum that is set to 0 is not: zero stands for the default."""
    values: dict[str, Any] = {}
    for name in LISTS:
        if given := tuple(getattr(message, name)):
            values[name] = given
    for name in SCALARS:
        if message.HasField(name):  # type: ignore[arg-type]  # a name that it knows
            values[name] = getattr(message, name)
    for name, numbers in NUMBERED.items():
        if number := getattr(message, name):
            values[name] = _named(numbers, number, f"{field}.{name}")
    if message.HasField("gain"):
        values["gain"] = _gain_from_wire(message.gain)
    if options := _options(message, field):
        values["options"] = options
    return values


def _options(message: wire.LearnerSpec, field: str) -> dict[str, float | str]:
    for name in message.text_options:
        if name in message.options:
            where = f"{field}.text_options"
            raise InvalidMessage(where, f"{name!r} is in options too: send it once")
    return {**message.options, **message.text_options}


def _named(names: Mapping[Any, str], number: int, field: str) -> str:
    if number not in names:
        raise InvalidMessage(field, f"{number} is not known to this version", f"known are 0 to {max(names)}")
    return names[number]


def _numbered(names: Mapping[Any, str], name: str) -> Any:
    """The last number of a name: the explicit one, where zero means the same."""
    return max(number for number, known in names.items() if known == name)


def _gain_from_wire(message: wire.Gain) -> dict[str, Any]:
    """What was given: the rest keeps its default."""
    kind = message.WhichOneof("gain") or "slot_match"
    values: dict[str, Any] = {"kind": kind}
    gain = getattr(message, kind)
    if kind == "ngram":
        values["order"] = gain.order  # has no default: a zero is refused by name
    if kind == "regex":
        values["expression"] = gain.expression
    if kind == "patterns":
        values["patterns"] = []
    for given, value in gain.ListFields():
        match given.name:
            case "patterns":
                values["patterns"] = [_pattern_from_wire(pattern) for pattern in value]
            case "lengths":
                values["lengths"] = list(value)
            case name:
                values[name] = value
    return values


def _pattern_from_wire(pattern: wire.Pattern) -> dict[str, Any]:
    weight = {"weight": pattern.weight} if pattern.HasField("weight") else {}
    return {"tokens": list(pattern.tokens), **weight}


def _gain_to_wire(gain: Mapping[str, Any]) -> wire.Gain:
    values: Any = {name: value for name, value in gain.items() if name != "kind"}
    kind = gain.get("kind", "slot_match")
    if kind not in GAINS:
        raise InvalidMessage("gain.kind", f"{kind!r} is not one of {', '.join(GAINS)}")
    try:
        message = wire.Gain(**{kind: values})
    except (TypeError, ValueError) as error:
        raise InvalidMessage(
            "gain", f"a gain of kind {kind!r} cannot be sent with these values: {error}"
        ) from error
    getattr(message, kind).SetInParent()  # a gain without fields is a gain too
    return message
