"""A learner whose spec changes while it serves, against learners that had it so from the start.

The OCR sample, taught line by line through a real daemon: the fifth engine is added after 900 lines, another one
is removed after 1,300, and after 1,500 the normaliser changes. One learner carries over what it can, one learns
all again from its history at every change; beside each change one plays that had the new spec from the start.
Error rates are of the lines between two changes, all compared by the last normaliser: `python -m bench update`.
"""

import asyncio
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from bench.progressive import FIRST_FIVE
from bench.servers import daemon
from galloon.clients.api.client import Client
from galloon.clients.replay.material import Input, Material, read_material
from galloon.clients.samples import ocr_sample
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.evaluation.error_rate import ErrorCounts, word_errors
from galloon.learners.observation import Utterance
from galloon.learners.text.normalizers import normalizer

ADDED, REMOVED = FIRST_FIVE[4], FIRST_FIVE[1]
FIRST = CombinerSpec(FIRST_FIVE[:4], normalizer="none")
PLACES = (900, 1300, 1500)
LAST = "basic"  # normaliser


@dataclass(frozen=True, slots=True)
class Change:
    """What `update_learner` is told after so many lines, and the spec that comes of it."""

    name: str
    after: int
    arguments: dict[str, Any]
    spec: CombinerSpec


def figures() -> dict[str, dict[str, float]]:
    return measured(read_material(ocr_sample(), FIRST_FIVE, most=Input.BEST), PLACES)


def measured(material: Material, places: tuple[int, int, int]) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder, daemon(Path(folder)) as server:
        return asyncio.run(_measured(server.address, material, _changes(places)))


def _changes(places: tuple[int, int, int]) -> tuple[Change, ...]:
    added = replace(FIRST, engines=FIRST_FIVE)
    removed = replace(added, engines=tuple(name for name in FIRST_FIVE if name != REMOVED))
    return (
        Change(f"{ADDED} added", places[0], {"add_engines": [ADDED]}, added),
        Change(f"{REMOVED} removed", places[1], {"remove_engines": [REMOVED]}, removed),
        Change("normaliser changed", places[2], {"normalizer": LAST}, replace(removed, normalizer=LAST)),
    )


async def _measured(
    address: str, material: Material, changes: tuple[Change, ...]
) -> dict[str, dict[str, float]]:
    lines = material.utterances
    ends = [change.after for change in changes[1:]] + [len(lines)]
    async with Client(address) as client:
        learners = [
            Play(client, "carried", FIRST, lines),
            Play(client, "rebuilt", FIRST, lines),
            *(Play(client, f"straight-{at}", change.spec, lines) for at, change in enumerate(changes)),
        ]
        carried, rebuilt, *straight = learners
        before = changes[0].after
        await asyncio.gather(*(each.go_on(before, changes) for each in learners))
        found = {f"before, {before} lines": {"wer": carried.rate(), "wer_from_start": straight[0].rate()}}
        for change, end, same in zip(changes, ends, straight, strict=True):
            by_carrying = await client.update_learner("carried", **change.arguments)
            by_history = await client.update_learner("rebuilt", rebuild=True, **change.arguments)
            equal = by_history.learner.digest == (await client.get_learner(same.name)).digest
            await asyncio.gather(*(each.go_on(end, changes) for each in learners))
            found[f"{change.name}, {end - change.after} lines after it"] = {
                "wer_carried_over": carried.rate(),
                "wer_rebuilt": rebuilt.rate(),
                "wer_from_start": same.rate(),
                "rebuilt_equals_from_start": float(equal),
                "carried_without_history": float(not by_carrying.rebuilt),
                "lessons_a_cpu_second": round(by_history.lessons / by_history.cpu_seconds),
            }
    return found


class Play:
    """One learner, and its errors in the lines that it played last."""

    def __init__(self, client: Client, name: str, spec: CombinerSpec, lines: tuple[Utterance, ...]) -> None:
        self._client, self.name, self._spec, self._lines = client, name, spec, lines
        self._played, self._counts = 0, ErrorCounts()

    async def go_on(self, end: int, changes: tuple[Change, ...]) -> None:
        """Play up to this line; engines that were not yet there, or have left, are absent for everybody."""
        self._counts, normalize = ErrorCounts(), normalizer(LAST)
        if not self._played:
            await self._client.create_learner(self.name, self._spec)
        known = (await self._client.get_learner(self.name)).spec.engines
        async with self._client.stream(self.name) as stream:
            for number in range(self._played, end):
                line, there = self._lines[number], _there(number, changes).intersection(known)
                outputs = tuple(output for output in line.outputs if output.name in there)
                choice = await stream.choose(replace(line, said=outputs, target=None))
                truth = line.target or ""
                self._counts += word_errors(normalize(truth), normalize(choice.text))
                await stream.learn(line.id, TrueText(truth))
        self._played = end

    def rate(self) -> float:
        return round(100.0 * self._counts.errors / self._counts.reference_length, 2)


def _there(number: int, changes: tuple[Change, ...]) -> frozenset[str]:
    """The engines that run at this line."""
    specs = [FIRST, *(change.spec for change in changes if change.after <= number)]
    return frozenset(specs[-1].engines)


@click.command()
@click.option(
    "--lines", type=click.IntRange(min=20), help="Play so many lines alone, with changes in proportion."
)
def main(lines: int | None) -> None:
    """Print the figures."""
    material = read_material(ocr_sample(), FIRST_FIVE, most=Input.BEST)
    places = PLACES
    if lines is not None:
        first, second, third = (place * lines // len(material.utterances) for place in PLACES)
        places, material = (first, second, third), replace(material, utterances=material.utterances[:lines])
    for what, numbers in measured(material, places).items():
        click.echo(f"{what}: " + "  ".join(f"{name} {value:g}" for name, value in numbers.items()))


if __name__ == "__main__":
    main()
