"""Is the best engine believed early? Every pair and triple of a file's engines, and all of them with one more.

Taught line by line from a cold start; what counts is the text from line 100 on, against the best engine of those
that are present, both in percent of words. The one more has read all the others and is right more often than any:
the truth with 2 % of its words changed. Run: `python -m bench.believed --data FOLDER [--limit LINES]`.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import click

from bench.progressive import progressive, scored
from bench.untaught import materials, with_engines
from galloon.clients.commands.learner_options import spec_for
from galloon.clients.replay.material import Material
from galloon.learners.observation import Utterance, Word

FIRST = 100  # lines that are not counted
CHANGED = 0.02  # of the words of the engine that is right more often than any
ALLOWED = 0.05  # points above the best engine


def figures(data: Path | None = None, limit: int | None = None) -> dict[str, dict[str, float]]:
    """By file: groups of engines, those with an answer above the best engine, the mean and the worst excess."""
    found = {}
    for name, material in materials(data):
        played = replace(material, utterances=material.utterances[:limit])
        excesses = {group: answer - best for group, answer, best in compared(played)}
        worst = max(excesses, key=excesses.__getitem__)
        found[f"{name}, worst: {worst}"] = {
            "groups": len(excesses),
            "above": sum(excess > ALLOWED for excess in excesses.values()),
            "mean": round(sum(excesses.values()) / len(excesses), 2),
            "worst": round(excesses[worst], 2),
        }
    return found


def compared(material: Material) -> Iterator[tuple[str, float, float]]:
    """Each group of engines, the error rate of the answer, and that of its best engine."""
    engines = material.experts
    for size in (2, 3):
        for group in combinations(engines, size):
            yield " ".join(group), *_rates(_only(material, group))
    yield "all and a better one", *_rates(with_a_better_one(material))


def with_a_better_one(material: Material) -> Material:
    draw = random.Random(0)
    words = [word for u in material.utterances for word in (u.target or "").split()]

    def nearly_true(utterance: Utterance) -> tuple[Word, ...]:
        true = (utterance.target or "").split()
        return tuple(Word(draw.choice(words) if draw.random() < CHANGED else word) for word in true)

    return with_engines(material, nearly_true)


def _only(material: Material, engines: tuple[str, ...]) -> Material:
    lines = tuple(
        replace(u, said=tuple(output for output in u.outputs if output.name in engines))
        for u in material.utterances
    )
    return replace(material, utterances=lines, experts=engines)


def _rates(material: Material) -> tuple[float, float]:
    """Of the answer and of the best engine, from line `FIRST` on."""
    spec = spec_for({}, material.experts, material.utterances)
    texts = progressive(material, spec).texts
    counted = replace(material, utterances=material.utterances[FIRST:])
    said = [{output.name: output.text for output in u.outputs} for u in counted.utterances]
    engines = [scored(name, counted, [texts_.get(name) for texts_ in said]).wer for name in material.experts]
    return scored("galloon", counted, texts[FIRST:]).wer, min(engines)


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), help="A folder of public files.")
@click.option("--limit", type=int, help="The first so many lines of each file.")
@click.option("--only", default="", help="Files whose names have this in them.")
def main(data: Path | None, limit: int | None, only: str) -> None:
    """Print a line for each group of engines, and one for each file."""
    for name, material in materials(data):
        if only not in name or len(material.experts) > 8:
            continue
        played = replace(material, utterances=material.utterances[:limit])
        excesses = []
        for group, answer, best in compared(played):
            excesses.append(answer - best)
            mark = "  above" if excesses[-1] > ALLOWED else ""
            print(f"{name}: {group}: {answer:.2f}, best engine {best:.2f}{mark}", flush=True)
        above = sum(excess > ALLOWED for excess in excesses)
        print(f"{name}: {above} of {len(excesses)} above, worst {max(excesses):+.2f}", flush=True)


if __name__ == "__main__":
    main()
