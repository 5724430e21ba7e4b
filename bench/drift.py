"""An engine that changes overnight: two engines of a sample exchange their names half way, and what that costs.

`figures` plays each sample, taught line by line, with and without the exchange; the excess is the number of errors
that the second half has more with it. Then what noticing costs where nothing changes: each sample from four places
on (rotated by a quarter), with and without the detector, in points of word error rate. Run:
`python -m bench drift`.
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
from galloon.learners.combiners import error_streams
from galloon.learners.observation import Utterance

ROTATIONS = 4
SWAPS = (
    ("OCR", ("tess_eng", "tess_legacy")),
    ("ASR", ("moonshine_base", "moonshine_tiny")),
    ("ASR", ("moonshine_base", "ps_fast")),
)


def figures() -> dict[str, dict[str, float]]:
    """By exchange: errors in the second half."""
    samples = {
        "OCR": read_material(ocr_sample(), FIRST_FIVE, most=Input.BEST),
        "ASR": read_material(asr_sample(), most=Input.BEST),
    }
    plain = {name: _second_half(material) for name, material in samples.items()}
    found = {}
    for sample, engines in SWAPS:
        errors = _second_half(exchanged(samples[sample], engines))
        found[f"{sample}: {' and '.join(engines)}"] = {
            "without": plain[sample],
            "with": errors,
            "excess": errors - plain[sample],
        }
    return found | {f"{name}, no exchange": _cost(material) for name, material in samples.items()}


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


def _second_half(material: Material) -> int:
    counts = play(material)[0].words
    return sum(count.errors for count in counts[len(counts) // 2 :])


def _cost(material: Material) -> dict[str, float]:
    """Percent of words, the mean over rotations, with and without the detector."""
    rotated = [_rotated(material, turn) for turn in range(ROTATIONS)]
    noticing = mean(play(each)[0].wer for each in rotated)
    with _without_detector():
        blind = mean(play(each)[0].wer for each in rotated)
    return {"with the detector": noticing, "without it": blind, "cost": noticing - blind}


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
