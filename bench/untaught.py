"""The first answer: the default learner before anybody has corrected anything, line by line, as in the daemon.

    answers    over several orders of engines and lines: error rates of the untaught answer, of `combine`'s second
               reading, of the vote, the best engine and the best choice per slot; the paired interval of untaught
               less vote; whether texts are equal when engines are listed in reverse; how far estimates are off
    teaching   with none, 1 %, 5 % and all of the lines corrected
    nuisances  the change by engines that are no help, in percent of the errors without them

Files that are not part of the project: name the folder that holds them with `--data`.
Run: `python -m bench.untaught --data FOLDER [--orders 8] [--limit LINES] [answers|teaching|nuisances ...]`.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean

import click

from bench.progressive import FIRST_FIVE, scored
from bench.robustness import vote
from galloon.clients.commands.learner_options import spec_for
from galloon.clients.formats.notes import NoteBook
from galloon.clients.formats.utterances import read_utterances
from galloon.clients.replay.baselines import baselines
from galloon.clients.replay.material import (
    Input,
    Material,
    normalizer_for,
    read_material,
    same_experts,
    shown_to_learner,
)
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.clients.scores.systems import SystemScores, difference
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.text import TextCombiner
from galloon.learners.observation import ExpertOutput, Utterance, Word
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import WORD

ORDERS = 8


def figures(data: Path | None = None, orders: int = ORDERS) -> dict[str, dict[str, float]]:
    """By file: percent of words."""
    return {name: answers(material, orders) for name, material in materials(data)}


def materials(data: Path | None) -> Iterator[tuple[str, Material]]:
    yield "OCR, 5 engines", read_material(ocr_sample(), FIRST_FIVE, most=Input.BEST)
    yield "OCR, 7 engines", read_material(ocr_sample(), most=Input.BEST)
    yield "ASR, 5 engines", read_material(asr_sample(), most=Input.BEST)
    for path in sorted(data.glob("*.jsonl.gz")) if data else ():
        material = read_material(path, most=Input.BEST)
        yield path.name, seats(path) if len(material.experts) > 64 else material


def seats(path: Path) -> Material:
    """Crowd workers under the names of their seats: who they are is forgotten."""
    named = [
        replace(u, said=tuple(replace(o, name=f"seat{i}") for i, o in enumerate(u.outputs)))
        for u in read_utterances(path, notes=NoteBook())
    ]
    return Material(*same_experts(named))


def answers(material: Material, orders: int) -> dict[str, float]:
    """Means over orders of engines and lines; the first order is that of the file, and the one that is paired."""
    found, again = [], []
    for seed in range(orders):
        shuffled = in_order(material, seed)
        texts, combiner = played(shuffled)
        found.append(scored("untaught", shuffled, texts))
        again.append(scored("again", shuffled, played(shuffled, combiner)[0]).wer)
    texts, combiner = played(material)
    paired = difference(found[0], vote(material), WORD)
    engines = {
        name: scored(name, material, [u.outputs[j].text for u in material.utterances]).wer
        for j, name in enumerate(material.experts)
    }
    off = [abs(e.error_rate - engines[e.expert]) for e in combiner.estimates()]
    rates = [system.wer for system in found]
    return {
        "wer": round(mean(rates), 2),
        "least": round(min(rates), 2),
        "most": round(max(rates), 2),
        "twice": round(mean(again), 2),
        "best_engine": round(min(engines.values()), 2),
        "vote": round(vote(material).wer, 2),
        "low": round(paired.low, 2),
        "high": round(paired.high, 2),
        "best_choice": round(best_choice(material).wer, 2),
        "same_reversed": float(texts == played(reversed_engines(material))[0]),
        "estimates_off": round(mean(off), 2),
    }


def teaching(material: Material, orders: int) -> dict[str, float]:
    """The mean error rate over the whole file, by the share of lines that are corrected."""
    found: dict[float, list[float]] = {share: [] for share in SHARES}
    for seed in range(orders):
        shuffled = in_order(material, seed)
        for share, rates in found.items():
            rates.append(scored("taught", shuffled, played(shuffled, share=share)[0]).wer)
    return {f"{100 * share:g}%": round(mean(rates), 2) for share, rates in found.items()}


def nuisances(material: Material, orders: int) -> dict[str, float]:
    """The change of the mean error rate, in percent of it."""
    changed: dict[str, list[float]] = {name: [] for name in NUISANCES}
    for seed in range(orders):
        shuffled = in_order(material, seed)
        plain = scored("plain", shuffled, played(shuffled)[0]).wer
        for name, more in NUISANCES.items():
            played_more = played(more(shuffled, random.Random(seed)))[0]
            changed[name].append(100 * (scored(name, shuffled, played_more).wer / plain - 1))
    return {name: round(mean(changes), 1) for name, changes in changed.items()}


def reversed_engines(material: Material) -> Material:
    turned = tuple(replace(u, said=u.outputs[::-1]) for u in material.utterances)
    return replace(material, utterances=turned, experts=material.experts[::-1])


def best_choice(material: Material) -> SystemScores:
    """The best token in each slot, in hindsight."""
    rule = normalizer(normalizer_for(material.utterances))
    without = baselines(material.utterances, WORD, rule, seed=0)
    return scored("best choice", material, [entry.oracle or "" for entry in without])


def worst_engine(material: Material) -> int:
    rates = [
        scored(name, material, [u.outputs[j].text for u in material.utterances]).wer
        for j, name in enumerate(material.experts)
    ]
    return rates.index(max(rates))


Maker = Callable[[Utterance], tuple[Word, ...]]


def with_engines(material: Material, *makers: Maker) -> Material:
    """The file with an engine more for each of these."""
    names = tuple(f"more{number}" for number in range(len(makers)))
    more = tuple(
        replace(
            u,
            said=(*u.outputs, *(ExpertOutput(n, make(u)) for n, make in zip(names, makers, strict=True))),
        )
        for u in material.utterances
    )
    return replace(material, utterances=more, experts=(*material.experts, *names))


def _copies(material: Material, _: random.Random) -> Material:
    worst = worst_engine(material)
    return with_engines(material, *[lambda u: u.outputs[worst].words] * 4)


def _near_copies(count: int) -> Callable[[Material, random.Random], Material]:
    def make(material: Material, draw: random.Random) -> Material:
        worst = worst_engine(material)
        words = [word for u in material.utterances for word in u.outputs[worst].words]
        return with_engines(
            material,
            *[
                lambda u: tuple(
                    draw.choice(words) if draw.random() < CHANGED else word for word in u.outputs[worst].words
                )
            ]
            * count,
        )

    return make


def _random_words(material: Material, draw: random.Random) -> Material:
    words = [word for u in material.utterances for word in u.outputs[0].words]
    return with_engines(material, lambda u: tuple(draw.choice(words) for _ in u.outputs[0].words))


def _loops(material: Material, _: random.Random) -> Material:
    """The worst engine's first three words, over and over."""
    worst = worst_engine(material)

    def loop(utterance: Utterance) -> tuple[Word, ...]:
        words = utterance.outputs[worst].words
        return words[:3] * max(1, len(words) // 3)

    return with_engines(material, loop)


SHARES = (0.0, 0.01, 0.05, 1.0)
CHANGED = 0.05  # of the words of a near copy
NUISANCES: dict[str, Callable[[Material, random.Random], Material]] = {
    "four_copies": _copies,
    "random_words": _random_words,
    "empty": lambda material, _: with_engines(material, lambda _: ()),
    "loops": _loops,
    "near_copy": _near_copies(1),
    "four_near_copies": _near_copies(4),
}
PARTS = {"answers": answers, "teaching": teaching, "nuisances": nuisances}


def in_order(material: Material, seed: int) -> Material:
    """The file with its engines and lines in another order; seed 0 is its own."""
    if seed == 0:
        return material
    draw = random.Random(seed)
    places, lines = list(range(len(material.experts))), list(material.utterances)
    draw.shuffle(places)
    draw.shuffle(lines)
    moved = tuple(replace(u, said=tuple(u.outputs[j] for j in places)) for u in lines)
    return replace(material, utterances=moved, experts=tuple(material.experts[j] for j in places))


def played(
    material: Material, combiner: TextCombiner | None = None, share: float = 0.0
) -> tuple[list[str], TextCombiner]:
    """What the default learner, or this one, shows when such a share of the lines is corrected."""
    spec = spec_for({}, material.experts, material.utterances)
    made, texts, draw = combiner or build(spec), [], random.Random(0)
    assert isinstance(made, TextCombiner)
    for number, utterance in enumerate(material.utterances):
        choice = made.choose(shown_to_learner(utterance, utterance.id, spec.labels), number)
        made.observe(choice.memory, choice.view)
        texts.append(choice.text)
        if draw.random() < share and utterance.target is not None:
            made.learn(choice.memory, TrueText(utterance.target), choice.view)
    return texts, made


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
@click.option("--data", type=click.Path(path_type=Path, exists=True), help="A folder of public files.")
@click.option("--orders", default=ORDERS, show_default=True, help="Orders of engines and lines.")
@click.option("--limit", type=int, help="The first so many lines of each file.")
def main(parts: tuple[str, ...], data: Path | None, orders: int, limit: int | None) -> None:
    """Print the figures of the first answer, a line for each file."""
    for name, material in materials(data):
        played_part = replace(material, utterances=material.utterances[:limit])
        for part in parts or PARTS:
            figures_of = PARTS[part](played_part, orders)
            print(f"{name}, {part}: " + "  ".join(f"{key} {value:g}" for key, value in figures_of.items()))


if __name__ == "__main__":
    main()
