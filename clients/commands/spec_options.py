"""The options of a command that makes a learner: `spec_options`, which gives it a `CombinerSpec`,
and of one that changes it: `change_options`, which gives it the fields that are to be other.

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
    def with_spec(*arguments: Any, **values: Any) -> Any:
        with failing_well():
            spec = CombinerSpec.from_json(json.dumps(_given(values)))
        return command(*arguments, spec=spec, **values)

    return _with_fields(with_spec)


def change_options(command: Command) -> Command:
    """The same for a learner that is there: the fields that were given arrive as `given`, by name."""

    @wraps(command)
    def with_given(*arguments: Any, **values: Any) -> Any:
        with failing_well():
            given = _given(values)
            checked = CombinerSpec.from_json(json.dumps({"engines": ["any"], **given}))
        return command(*arguments, given={name: getattr(checked, name) for name in given}, **values)

    return _with_fields(with_given)


def _with_fields(command: Command) -> Command:
    return gain_options(None)(with_options(command, (_SPEC, *SPEC_OPTIONS, *_OTHERS)))


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Takes the fields of a spec out of a command's values: those of the file, changed by flags."""
    spec_file, options = values.pop("spec_file"), values.pop("option")
    automaton, gain_bound, answer = (values.pop(name) for name in ("automaton", "gain_bound", "answer"))
    flags = given_fields(values)
    if automaton is not None:
        flags["automaton"] = automaton.read()
    if gain_bound is not None:
        flags["gain_bound"] = gain_bound
    if answer is not None:
        flags["answer"] = answer
    return _fields(spec_file, flags, options)


def _fields(spec_file: TextIO | None, flags: dict[str, Any], options: tuple[str, ...]) -> dict[str, Any]:
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
    return values


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
    click.option(
        "--answer",
        metavar="ENGINE",
        help="Run in the shadow: answer this engine, or vote, and learn until `learners go-live`.",
    ),
    click.option("--option", multiple=True, metavar="NAME=VALUE", help="The algorithm's own. Repeatable."),
)
