"""Gains from JSON values: what a learner's spec carries, checked field by field.

`gain_from_spec({"kind": "ngram", "order": 4})`. The kinds and their fields: `ngram` (order), `patterns`
(patterns), `regex` (expression, weight), `gappy` (lengths or patterns, discount, max_gap), `slot_match`,
`arbitrary` (bound); those that count also take count_nulls. patterns is a list of
`{"tokens": ["a", "b"], "weight": 1.0}`, the weight being 1 where it is missing.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from galloon.learners.errors import InvalidInput
from galloon.learners.gains.arbitrary import ArbitraryGain
from galloon.learners.gains.bounds import MOST_GAIN
from galloon.learners.gains.gain import Gain
from galloon.learners.gains.gappy import GappyGain
from galloon.learners.gains.ngram import NgramGain
from galloon.learners.gains.occurrences import Pattern
from galloon.learners.gains.patterns import PatternGain
from galloon.learners.gains.regex import RegexGain
from galloon.learners.gains.slot_match import SlotMatch


def gain_from_spec(spec: Mapping[str, Any]) -> Gain:
    """The gain that these JSON values describe; errors name the field that is wrong and what it may be."""
    kind = spec.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidInput(f"{kind!r} is not one of {', '.join(map(repr, _KINDS))}", field="gain.kind")
    make, known = _KINDS[kind]
    for name in spec:
        if name != "kind" and name not in known:
            raise InvalidInput(
                f"a gain of kind {kind!r} has no such field; it has {', '.join(known) or 'none'}",
                field=f"gain.{name}",
            )
    try:
        return make(
            **{known[name][0]: known[name][1](name, value) for name, value in spec.items() if name != "kind"}
        )
    except TypeError as error:  # a field without a default is missing
        raise InvalidInput(f"a gain of kind {kind!r} needs {_obligatory(kind)}", field="gain") from error
    except InvalidInput as error:
        raise error.under("gain") from error


def _whole(name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise InvalidInput(f"{value!r} is not a whole number", field=name)


def _number(name: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidInput(f"{value!r} is not a number", field=name)
    if abs(value) > MOST_GAIN and isfinite(value):  # what is not finite is refused by the gain itself
        raise InvalidInput(f"{value:.6g} is over {MOST_GAIN:.0e}", field=name, advice="scale all gains down")
    return float(value)


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidInput(f"{value!r} is neither true nor false", field=name)


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise InvalidInput(f"{value!r} is not a string", field=name)


def _lengths(name: str, value: Any) -> tuple[int, ...]:
    if isinstance(value, list | tuple):
        return tuple(_whole(f"{name}[{i}]", length) for i, length in enumerate(value))
    raise InvalidInput(f"{value!r} is not a list of whole numbers", field=name)


def _patterns(name: str, value: Any) -> dict[Pattern, float]:
    if not isinstance(value, list | tuple):
        raise InvalidInput("must be a list of objects with tokens and, if not 1, a weight", field=name)
    patterns: dict[Pattern, float] = {}
    for i, item in enumerate(value):
        where = f"{name}[{i}]"
        if not isinstance(item, Mapping) or "tokens" not in item or not set(item) <= {"tokens", "weight"}:
            raise InvalidInput("must be an object with tokens and, if not 1, a weight", field=where)
        tokens = item["tokens"]
        if not isinstance(tokens, list | tuple) or not all(isinstance(token, str) for token in tokens):
            raise InvalidInput("must be a list of strings", field=f"{where}.tokens")
        if tuple(tokens) in patterns:
            raise InvalidInput(f"the pattern {' '.join(tokens)!r} was given before", field=where)
        patterns[tuple(tokens)] = _number(f"{where}.weight", item.get("weight", 1.0))
    return patterns


_Field = tuple[str, Callable[[str, Any], Any]]  # the argument that the field becomes, and how it is read
_NULLS: dict[str, _Field] = {"count_nulls": ("count_nulls", _flag)}
_KINDS: dict[str, tuple[Callable[..., Gain], dict[str, _Field]]] = {
    "slot_match": (SlotMatch, {}),
    "ngram": (NgramGain, {"order": ("order", _whole), **_NULLS}),
    "patterns": (PatternGain, {"patterns": ("patterns", _patterns), **_NULLS}),
    "regex": (RegexGain, {"expression": ("expression", _text), "weight": ("weight_each", _number), **_NULLS}),
    "gappy": (
        GappyGain,
        {
            "lengths": ("lengths", _lengths),
            "patterns": ("patterns", _patterns),
            "discount": ("discount", _number),
            "max_gap": ("max_gap", _whole),
            **_NULLS,
        },
    ),
    "arbitrary": (ArbitraryGain, {"bound": ("bound", _number)}),
}


def _obligatory(kind: str) -> str:
    return {"ngram": "an order", "patterns": "patterns", "regex": "an expression"}.get(kind, "other fields")
