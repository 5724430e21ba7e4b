"""The first answer: the default learner before anybody has corrected anything, line by line, as in the daemon.

Each file is played in several orders of its engines and lines, from a cold start. `figures` has the mean error
rate, that of the best engine and of the vote on the same lines, the paired interval of the difference to the vote,
and the mean difference of estimated and true error rates of the engines. Public files are not part of the project:
name the folder that holds them with `--data`. Run: `python -m bench untaught --data FOLDER`.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean

from bench.progressive import FIRST_FIVE, scored
from galloon.clients.commands.learner_options import spec_for
from galloon.clients.formats.notes import NoteBook
from galloon.clients.formats.utterances import read_utterances
from galloon.clients.replay.material import (
    Input,
    Material,
    normalizer_for,
    read_material,
    same_experts,
    shown_to_learner,
)
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.clients.scores.systems import difference
from galloon.learners.alignment import align, majority_vote
from galloon.learners.combiners.build import build
from galloon.learners.combiners.text import TextCombiner
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import WORD

ORDERS = 8


def figures(data: Path | None = None, orders: int = ORDERS) -> dict[str, dict[str, float]]:
    """By file: percent of words."""
    return {name: compared(material, orders) for name, material in materials(data)}


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


def compared(material: Material, orders: int) -> dict[str, float]:
    """The mean over orders of engines and lines; the first order is that of the file."""
    found, apart = [], []
    for seed in range(orders):
        shuffled = in_order(material, seed)
        texts, combiner = played(shuffled)
        system = scored("untaught", shuffled, texts)
        found.append(system.wer)
        if seed == 0:
            rule = normalizer(normalizer_for(material.utterances))
            networks = [align(u, normalizer=rule) for u in material.utterances]
            votes = [
                " ".join(filter(None, (n.vocabulary[t] for t in majority_vote(n, "agreement").tokens)))
                for n in networks
            ]
            voted = scored("vote", material, votes)
            paired = difference(system, voted, WORD)
            estimated = {e.expert: e.error_rate for e in combiner.estimates()}
            engines = {
                name: scored(name, material, [u.outputs[j].text for u in material.utterances]).wer
                for j, name in enumerate(material.experts)
            }
            apart = [abs(estimated[name] - rate) for name, rate in engines.items()]
    return {
        "wer": round(mean(found), 2),
        "least": round(min(found), 2),
        "most": round(max(found), 2),
        "best_engine": round(min(engines.values()), 2),
        "vote": round(voted.wer, 2),
        "low": round(paired.low, 2),
        "high": round(paired.high, 2),
        "estimates_off": round(mean(apart), 2),
    }


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


def played(material: Material) -> tuple[list[str], TextCombiner]:
    """What the default learner shows without any truth."""
    spec = spec_for({}, material.experts, material.utterances)
    combiner, texts = build(spec), []
    assert isinstance(combiner, TextCombiner)
    for number, utterance in enumerate(material.utterances):
        choice = combiner.choose(shown_to_learner(utterance, utterance.id, spec.labels), number)
        combiner.observe(choice.memory, choice.view)
        texts.append(choice.text)
    return texts, combiner
