"""The options that describe a gain, the same in every command: `gain_options`, `read_gain`.

--gain is KIND or KIND:FIELD=VALUE,FIELD=VALUE. The fields of n-grams have options of their own, which are shorter:
-n, --max-gap and --discount.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from galloon.clients.api.errors import WrongUsage
from galloon.clients.commands.server_option import failing_well

KINDS = ("slot_match", "ngram", "gappy", "patterns", "regex")
ORDER, MAX_GAP, DISCOUNT = 2, 1, 0.5
_OPTIONS = (
    click.option("--order", "-n", type=click.IntRange(1), help=f"Length of the n-grams. Default: {ORDER}."),
    click.option(
        "--max-gap",
        type=click.IntRange(0),
        help=f"Most tokens that a gappy n-gram skips. Default: {MAX_GAP}.",
    ),
    click.option("--discount", type=float, help=f"Factor for each skipped token. Default: {DISCOUNT}."),
)


def gain_options(default: str | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the options; they arrive as `gain`, the JSON values of a spec. Without a default it may be None."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_gain(*arguments: Any, **values: Any) -> Any:
            text, order = values.pop("gain"), values.pop("order")
            max_gap, discount = values.pop("max_gap"), values.pop("discount")
            with failing_well():
                gain = read_gain(text, order, max_gap, discount, default)
            return command(*arguments, gain=gain, **values)

        decorated: Callable[..., Any] = with_gain
        for option in reversed((_gain_option(default or "slot_match"), *_OPTIONS)):
            decorated = option(decorated)
        return decorated

    return decorate


def read_gain(
    text: str | None,
    order: int | None,
    max_gap: int | None,
    discount: float | None,
    default: str | None,
) -> dict[str, Any] | None:
    """The gain as a spec has it; None where nothing was said of it and there is no default."""
    if text is None:
        implied = "gappy" if (max_gap, discount) != (None, None) else None if order is None else "ngram"
        text = implied or default
        if text is None:
            return None
    kind, _, fields = text.partition(":")
    gain = {"kind": kind, **_fields(kind, fields)}
    if kind != "gappy" and (max_gap, discount) != (None, None):
        raise WrongUsage(f"--max-gap and --discount are for --gain gappy, not for {kind}")
    if kind not in {"ngram", "gappy"} and order is not None:
        raise WrongUsage(f"-n is for n-grams, not for --gain {kind}")
    if kind == "ngram":
        return {"order": ORDER, **gain, **_given(order=order)}
    if kind == "gappy" and "patterns" not in gain:
        usual = {"lengths": [ORDER], "discount": DISCOUNT, "max_gap": MAX_GAP}
        lengths = None if order is None else [order]
        return {**usual, **gain, **_given(lengths=lengths, discount=discount, max_gap=max_gap)}
    return gain


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _fields(kind: str, text: str) -> dict[str, Any]:
    """ngram:order=2 as {"order": 2}; values are JSON where they can be, else text."""
    if kind == "regex" and "=" not in text:
        raise WrongUsage("--gain regex: write regex:expression=..., or give the gain in a --spec file")
    fields: dict[str, Any] = {}
    for part in [text] if kind == "regex" else filter(None, text.split(",")):
        name, separator, value = part.partition("=")
        if not separator:
            raise WrongUsage(f"--gain {kind}:{text}: write KIND:FIELD=VALUE,..., e.g. ngram:order=2")
        try:
            fields[name] = json.loads(value)
        except ValueError:
            fields[name] = value
    return fields


def _gain_option(default: str) -> Callable[..., Any]:
    return click.option(
        "--gain",
        metavar="KIND[:FIELD=VALUE,...]",
        help=f"What is counted: {', '.join(KINDS)}. Default: {default}.",
    )
