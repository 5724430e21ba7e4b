"""The options of commands that need a learner for some files: `learner_options`, `spec_for`, `check_spec`.

What is not given is chosen to fit the files. A learner that was saved before has its spec already; options that
were given must then agree with it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

import click

from galloon.clients.api.errors import WrongUsage
from galloon.clients.commands.aliases import Aliased
from galloon.clients.replay.material import normalizer_for
from galloon.learners.combiners.spec import ALGORITHMS, DECISIONS, CombinerSpec
from galloon.learners.observation import Utterance
from galloon.learners.paths.protocol import Setting
from galloon.learners.text.normalizers import NAMES as NORMALIZERS
from galloon.learners.unit import UNITS

GAINS = ("slot_match", "ngram", "gappy")
ORDER, MAX_GAP, DISCOUNT = 2, 1, 0.5


def learner_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; fields of the spec that were given arrive as `given`, by name."""

    @wraps(command)
    def with_given(*arguments: Any, **values: Any) -> Any:
        given = {field: values.pop(field) for field in _FIELDS}
        gain = [values.pop(name) for name in ("gain", "order", "max_gap", "discount")]
        given["gain"] = _gain(*gain)
        given["labels"] = tuple(given["labels"]) or None
        for name in ("engines", "derived"):
            if given[name] is not None:
                given[name] = tuple(part.strip() for part in given[name].split(",") if part.strip())
        return command(*arguments, given={name: v for name, v in given.items() if v is not None}, **values)

    decorated: Callable[..., Any] = with_given
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


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


def _gain(kind: str | None, order: int | None, max_gap: int | None, discount: float | None) -> Any:
    """The gain as the spec has it; None where nothing was said of it."""
    if kind is None and order is None and max_gap is None and discount is None:
        return None
    if kind is None:
        kind = "ngram" if max_gap is None and discount is None else "gappy"
    if kind == "slot_match":
        return {"kind": kind}
    if kind == "ngram":
        return {"kind": kind, "order": order or ORDER}
    return {
        "kind": kind,
        "lengths": [order or ORDER],
        "discount": DISCOUNT if discount is None else discount,
        "max_gap": MAX_GAP if max_gap is None else max_gap,
    }


def _shown(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


_FIELDS = (
    *("engines", "algorithm", "setting", "unit", "normalizer", "window", "derived", "labels", "horizon"),
    *("learning_rate", "decide", "seed"),
)
_OPTIONS = [
    click.option(
        "--engines",
        cls=Aliased,
        aliases=["--experts"],
        metavar="A,B,...",
        help="These engines alone, in this order. Default: all.",
    ),
    click.option(
        "--learner", "algorithm", type=click.Choice(list(ALGORITHMS)), help="How it learns. Default: tied."
    ),
    click.option(
        "--setting", type=click.Choice([s.value for s in Setting]), help="What the learner is told."
    ),
    click.option("--unit", type=click.Choice(tuple(UNITS)), help="What a token is. Default: word."),
    click.option(
        "--normalizer",
        type=click.Choice(NORMALIZERS),
        help="What counts as the same text. Default: basic; basic-speech where the files say they are speech.",
    ),
    click.option(
        "--context",
        "labels",
        multiple=True,
        metavar="FIELD",
        help="A field that the tied learner may look at.",
    ),
    click.option("--gain", type=click.Choice(GAINS), help="What it maximises. Default: slot_match."),
    click.option("--order", type=click.IntRange(1), help=f"Length of n-grams. Default: {ORDER}."),
    click.option("--max-gap", type=click.IntRange(0), help=f"Most skipped tokens. Default: {MAX_GAP}."),
    click.option("--discount", type=float, help=f"Factor for each skipped token. Default: {DISCOUNT}."),
    click.option("--window", type=int, help="Slots of a round, for learners that need it. Default: 8."),
    click.option("--derived", metavar="A,B,...", help="Experts computed from the engines, e.g. vote."),
    click.option("--decide", type=click.Choice(DECISIONS), help="Draw a path, or take the most probable."),
    click.option("--horizon", type=int, help="Rounds to tune the learning rate for. Default: self-tuning."),
    click.option("--learning-rate", type=float, help="Default: the theorem's."),
    click.option("--seed", type=int, help="Keys the random numbers. Default: 0."),
]
