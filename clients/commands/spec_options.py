"""The options of a command that makes a learner: `spec_options`, which gives it a `CombinerSpec`.

A file with the spec as JSON comes first, flags change it. They are those of every command that needs a learner,
and some that only a learner on a daemon has.
"""

import json
from functools import wraps
from typing import Any, TextIO

import click

from galloon.clients.api.errors import WrongUsage
from galloon.clients.commands.gain_option import gain_options
from galloon.clients.commands.learner_options import SPEC_OPTIONS, Command, given_fields
from galloon.clients.commands.options import with_options
from galloon.clients.commands.server_option import failing_well
from galloon.learners.combiners.spec import CombinerSpec


def spec_options(command: Command) -> Command:
    """Adds --spec and a flag for each field; they arrive as `spec`."""

    @wraps(command)
    def with_spec(*arguments: Any, spec_file: TextIO | None, option: tuple[str, ...], **values: Any) -> Any:
        automaton, gain_bound = values.pop("automaton"), values.pop("gain_bound")
        with failing_well():
            flags = given_fields(values)
            if automaton is not None:
                flags["automaton"] = automaton.read()
            if gain_bound is not None:
                flags["gain_bound"] = gain_bound
            spec = _spec(spec_file, flags, option)
        return command(*arguments, spec=spec, **values)

    return gain_options(None)(with_options(with_spec, (_SPEC, *SPEC_OPTIONS, *_OTHERS)))


def _spec(spec_file: TextIO | None, flags: dict[str, Any], options: tuple[str, ...]) -> CombinerSpec:
    values: dict[str, Any] = {}
    if spec_file is not None:
        try:
            values = json.load(spec_file)
        except ValueError as error:
            raise WrongUsage(f"--spec {spec_file.name}: not JSON: {error}") from error
        if not isinstance(values, dict):
            raise WrongUsage(f"--spec {spec_file.name}: must be a JSON object")
    named = {**values.get("options", {}), **flags.pop("options", {}), **dict(map(_named_option, options))}
    values.update(flags)
    if named:
        values["options"] = named
    return CombinerSpec.from_json(json.dumps(values))


def _named_option(text: str) -> tuple[str, float | str]:
    name, _, value = text.partition("=")
    if not name or not value:
        raise WrongUsage(f"--option {text}: write NAME=VALUE, e.g. bias=implicit")
    try:
        return name, float(value)
    except ValueError:
        return name, value


_SPEC = click.option(
    "--spec",
    "spec_file",
    type=click.File("r", encoding="utf-8"),
    help="The spec as JSON; - is standard input.",
)
_OTHERS = (
    click.option(
        "--automaton", type=click.File("r", encoding="utf-8"), help="An explicit automaton, AT&T text."
    ),
    click.option("--gain-bound", type=float, help="Largest gain of a transition. Default: the worst case."),
    click.option("--option", multiple=True, metavar="NAME=VALUE", help="The algorithm's own. Repeatable."),
)
