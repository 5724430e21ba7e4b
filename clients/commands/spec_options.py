"""The options that describe a learner: `spec_options` adds them to a command, which gets a `CombinerSpec`.

A file with the spec as JSON comes first, flags change it. A gain is written KIND or KIND:FIELD=VALUE,FIELD=VALUE.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, TextIO

import click

from galloon.clients.api.errors import WrongUsage
from galloon.clients.commands.aliases import Aliased
from galloon.clients.commands.server_option import failing_well
from galloon.learners.combiners.spec import ALGORITHMS, DECISIONS, CombinerSpec
from galloon.learners.paths.protocol import Setting
from galloon.learners.unit import UNITS


def spec_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --spec and a flag for each field; they arrive as `spec`."""

    @wraps(command)
    def with_spec(*arguments: Any, spec_file: TextIO | None, option: tuple[str, ...], **values: Any) -> Any:
        flags = {name: values.pop(name) for name in list(values) if name in _FLAGS}
        with failing_well():
            spec = _spec(spec_file, flags, option)
        return command(*arguments, spec=spec, **values)

    decorated: Callable[..., Any] = with_spec
    for declared in reversed(_OPTIONS):
        decorated = declared(decorated)
    return decorated


def _spec(spec_file: TextIO | None, flags: dict[str, Any], options: tuple[str, ...]) -> CombinerSpec:
    values: dict[str, Any] = {}
    if spec_file is not None:
        try:
            values = json.load(spec_file)
        except ValueError as error:
            raise WrongUsage(f"--spec {spec_file.name}: not JSON: {error}") from error
        if not isinstance(values, dict):
            raise WrongUsage(f"--spec {spec_file.name}: must be a JSON object")
    for name, value in flags.items():
        if value is not None:
            values[name] = _FLAGS[name](value)
    if options:
        values["options"] = {**values.get("options", {}), **dict(map(_named_option, options))}
    return CombinerSpec.from_json(json.dumps(values))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _gain(text: str) -> dict[str, Any]:
    """ngram:order=2 as {"kind": "ngram", "order": 2}; values are JSON where they can be, else text."""
    kind, _, fields = text.partition(":")
    gain: dict[str, Any] = {"kind": kind}
    if kind == "regex" and "=" not in fields:
        raise WrongUsage("--gain regex: write regex:expression=..., or give the gain in a --spec file")
    for part in [fields] if kind == "regex" else filter(None, fields.split(",")):
        name, separator, value = part.partition("=")
        if not separator:
            raise WrongUsage(f"--gain {text}: write KIND:FIELD=VALUE,..., e.g. ngram:order=2")
        try:
            gain[name] = json.loads(value)
        except ValueError:
            gain[name] = value
    return gain


def _named_option(text: str) -> tuple[str, float | str]:
    name, _, value = text.partition("=")
    if not name or not value:
        raise WrongUsage(f"--option {text}: write NAME=VALUE, e.g. bias=implicit")
    try:
        return name, float(value)
    except ValueError:
        return name, value


def _same(value: Any) -> Any:
    return value


# Flag to the field of the spec that it sets, with how it is read.
_FLAGS: dict[str, Callable[[Any], Any]] = {
    "engines": _names,
    "algorithm": _same,
    "gain": _gain,
    "setting": _same,
    "unit": _same,
    "normalizer": _same,
    "window": _same,
    "automaton": lambda file: file.read(),
    "derived": _names,
    "labels": _names,
    "horizon": _same,
    "learning_rate": _same,
    "gain_bound": _same,
    "decide": _same,
    "seed": _same,
}
_OPTIONS = [
    click.option(
        "--spec",
        "spec_file",
        type=click.File("r", encoding="utf-8"),
        help="The spec as JSON; - is standard input.",
    ),
    click.option(
        "--engines", cls=Aliased, aliases=["--experts"], metavar="A,B,...", help="Names of the engines."
    ),
    click.option("--algorithm", type=click.Choice(list(ALGORITHMS)), help="How it learns. Default: tied."),
    click.option("--gain", metavar="KIND[:FIELD=VALUE,...]", help="What it maximises. Default: slot_match."),
    click.option("--setting", type=click.Choice([s.value for s in Setting]), help="What feedback reveals."),
    click.option("--unit", type=click.Choice(tuple(UNITS)), help="What a token is. Default: word."),
    click.option("--normalizer", metavar="NAME", help="Applied before texts are compared. Default: none."),
    click.option("--window", type=int, help="Slots of a round. Default: 8."),
    click.option(
        "--automaton", type=click.File("r", encoding="utf-8"), help="An explicit automaton, AT&T text."
    ),
    click.option("--derived", metavar="A,B,...", help="Experts computed from the engines, e.g. vote."),
    click.option("--labels", metavar="A,B,...", help="Labels of utterances that it may look at."),
    click.option("--horizon", type=int, help="Rounds to tune for. Default: self-tuning."),
    click.option("--learning-rate", type=float, help="Default: the theorem's."),
    click.option("--gain-bound", type=float, help="Largest gain of a transition. Default: the worst case."),
    click.option(
        "--decide", type=click.Choice(DECISIONS), help="Draw a path or take the best. Default: sample."
    ),
    click.option("--seed", type=int, help="Keys the random numbers. Default: 0."),
    click.option("--option", multiple=True, metavar="NAME=VALUE", help="The algorithm's own. Repeatable."),
]
