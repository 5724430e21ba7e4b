"""An engine that changes overnight: two engines of a sample exchange their names half way, and what that costs.

`figures` plays each sample, taught line by line, with and without the exchange; the excess is the number of errors
that the second half has more with it: in the order of the file, and the mean of four places to begin at (rotated
by a quarter), with the detector and without, because one order alone moves by five errors for nothing. Then what
noticing costs where nothing changes, in points of word error rate. Run: `python -m bench drift`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from statistics import mean

from bench.absence import play
from bench.progressive import FIRST_FIVE
from galloon.clients.replay.material import Input, Material, read_material
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.clients.scores.systems import SystemScores
from galloon.learners.combiners import error_streams
from galloon.learners.observation import Utterance

ROTATIONS = 4
SWAPS = (
    ("OCR", ("tess_eng", "tess_legacy")),
    ("ASR", ("moonshine_base", "moonshine_tiny")),
    ("ASR", ("moonshine_base", "ps_fast")),
)


def figures() -> dict[str, dict[str, float]]:
    """By exchange: errors in the second half; by sample: percent of words."""
    samples = {
        "OCR": read_material(ocr_sample(), FIRST_FIVE, most=Input.BEST),
        "ASR": read_material(asr_sample(), most=Input.BEST),
    }
    rotated = {
        name: [_rotated(material, turn) for turn in range(ROTATIONS)] for name, material in samples.items()
    }
    noticing = {name: [_played(each) for each in materials] for name, materials in rotated.items()}
    with _without_detector():
        blind = {name: [_played(each) for each in materials] for name, materials in rotated.items()}
    found = {}
    for sample, engines in SWAPS:
        swapped = [exchanged(each, engines) for each in rotated[sample]]
        excess = _excess(swapped, noticing[sample])
        with _without_detector():
            unnoticed = _excess(swapped, blind[sample])
        found[f"{sample}: {' and '.join(engines)}"] = {
            "excess": excess[0],
            "mean excess": mean(excess),
            "unnoticed": mean(unnoticed),
        }
    for name in samples:
        rates = [mean(played.wer for played in each[name]) for each in (noticing, blind)]
        found[f"{name}, no exchange"] = {
            "with the detector": rates[0],
            "without it": rates[1],
            "cost": rates[0] - rates[1],
        }
    return found


def exchanged(material: Material, engines: tuple[str, str]) -> Material:
    """From the middle of the file on each of the two says what the other says."""
    other = dict(zip(engines, reversed(engines), strict=True))

    def renamed(utterance: Utterance) -> Utterance:
        outputs = {other.get(o.name, o.name): o for o in utterance.outputs}
        names = (name for name in material.experts if name in outputs)
        return replace(utterance, said=tuple(replace(outputs[name], name=name) for name in names))

    half = len(material.utterances) // 2
    lines = material.utterances
    return replace(material, utterances=(*lines[:half], *map(renamed, lines[half:])))


def _played(material: Material) -> SystemScores:
    return play(material)[0]


def _excess(materials: list[Material], plain: list[SystemScores]) -> list[int]:
    """Errors of the second half beyond those of the same lines without the exchange."""
    return [
        _second_half(_played(each)) - _second_half(before)
        for each, before in zip(materials, plain, strict=True)
    ]


def _second_half(scores: SystemScores) -> int:
    counts = scores.words
    return sum(count.errors for count in counts[len(counts) // 2 :])


def _rotated(material: Material, turn: int) -> Material:
    lines = material.utterances
    start = turn * len(lines) // ROTATIONS
    return replace(material, utterances=(*lines[start:], *lines[:start]))


@contextmanager
def _without_detector() -> Iterator[None]:
    """No change is ever large enough."""
    alarm = error_streams.ALARM
    error_streams.ALARM = inf
    try:
        yield
    finally:
        error_streams.ALARM = alarm
