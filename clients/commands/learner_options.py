"""The options that describe a learner, the same in every command: `learner_options`, `spec_for`, `check_spec`.

What is not given is chosen to fit the files. A learner that was saved before has its spec already; options that
were given must then agree with it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

import click

from galloon.clients.api.errors import WrongUsage
from galloon.clients.commands.aliases import Aliased
from galloon.clients.commands.gain_option import gain_options
from galloon.clients.commands.options import with_options
from galloon.clients.replay.material import normalizer_for
from galloon.learners.combiners.spec import ALGORITHMS, DECISIONS, CombinerSpec
from galloon.learners.observation import Utterance
from galloon.learners.paths.protocol import Setting
from galloon.learners.text.normalizers import NAMES as NORMALIZERS
from galloon.learners.unit import UNITS

Command = Callable[..., Any]


def learner_options(command: Command) -> Command:
    """Adds the options; fields of the spec that were given arrive as `given`, by name, and --learner as `name`."""

    @wraps(command)
    def with_given(*arguments: Any, learner: str | None, **values: Any) -> Any:
        if learner in ALGORITHMS and values.get("server") is None and values["algorithm"] is None:
            values["algorithm"], learner = learner, None  # no daemon, so no learner of it: the older meaning
        given = given_fields(values)
        return command(*arguments, given=given, name=learner, **values)

    return gain_options(None)(with_options(with_given, (*_LEARNER, *SPEC_OPTIONS)))


def given_fields(values: dict[str, Any]) -> dict[str, Any]:
    """Takes the fields of a spec out of a command's values; those that were not given are left out."""
    given = {field: values.pop(field) for field in (*_FIELDS, "gain")}
    given["labels"] = names_in(",".join(given["labels"])) or None
    for name in ("engines", "derived"):
        given[name] = None if given[name] is None else names_in(given[name])
    trusted = values.pop("trusted")
    given["options"] = None if trusted is None else {"trusted": trusted}
    return {name: value for name, value in given.items() if value is not None}


def names_in(text: str) -> tuple[str, ...]:
    """a,b as ("a", "b")."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def spec_for(
    given: Mapping[str, Any], engines: tuple[str, ...], utterances: Iterable[Utterance]
) -> CombinerSpec:
    """The spec of a new learner: what was given, and for the rest what fits these utterances."""
    return CombinerSpec(**{"normalizer": normalizer_for(utterances), **given, "engines": engines})


def check_spec(given: Mapping[str, Any], spec: CombinerSpec, where: str) -> None:
    """Refuse options that contradict a learner's spec."""
    for name, value in given.items():
        there = getattr(spec, name)
        if there != value and not (name == "setting" and not there and value == ALGORITHMS[spec.algorithm]):
            raise WrongUsage(
                f"{where} holds a learner with {name} {_shown(there)}, not {_shown(value)}: "
                "leave the option out, or start another learner"
            )


def _shown(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


_FIELDS = (
    *("engines", "algorithm", "setting", "unit", "normalizer", "window", "derived", "labels", "horizon"),
    *("learning_rate", "decide", "seed"),
)
_LEARNER = (
    click.option(
        "--learner",
        cls=Aliased,
        aliases=["--name"],
        metavar="NAME",
        help="With --server: the learner of this name, which stays there.",
    ),
)
SPEC_OPTIONS = (
    click.option(
        "--engines",
        cls=Aliased,
        aliases=["--experts"],
        metavar="A,B,...",
        help="These engines, in this order. Default: all of the files.",
    ),
    click.option("--algorithm", type=click.Choice(list(ALGORITHMS)), help="How it learns. Default: tied."),
    click.option(
        "--setting", type=click.Choice([s.value for s in Setting]), help="What the learner is told."
    ),
    click.option("--unit", type=click.Choice(list(UNITS)), help="What a token is. Default: word."),
    click.option(
        "--normalizer",
        type=click.Choice(NORMALIZERS),
        help="What counts as the same text. Default: basic, or basic-speech for files of speech; none for create.",
    ),
    click.option(
        "--labels",
        cls=Aliased,
        aliases=["--context"],
        multiple=True,
        metavar="A,B,...",
        help="Labels of utterances that the learner may look at.",
    ),
    click.option("--window", type=int, help="Slots of a round, for learners that need it. Default: 8."),
    click.option("--derived", metavar="A,B,...", help="Experts computed from the engines, e.g. vote."),
    click.option("--decide", type=click.Choice(DECISIONS), help="Draw a path, or take the most probable."),
    click.option("--horizon", type=int, help="Rounds to tune the learning rate for. Default: self-tuning."),
    click.option("--learning-rate", type=float, help="Default: the theorem's."),
    click.option("--seed", type=int, help="Keys the random numbers. Default: 0."),
    click.option(
        "--trusted",
        metavar="ENGINE",
        help="Believe this engine from the first line on, until true texts say otherwise.",
    ),
)
