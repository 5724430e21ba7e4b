"""Absent is not silent: what it costs when engines do not answer, and what a crowd of hundreds costs in time.

`figures` plays the OCR sample with each engine missing in 30 % of the lines at random (one always runs), taught
line by line: as absent, as silent (an empty output), the vote of those that ran, and the best engine where it
ran. With a folder of public files each crowd of more than 64 named transcribers is played by name and by seat:
error rates, and lines a second of processor time. Run: `python -m bench absence --data FOLDER`.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time

from bench.progressive import FIRST_FIVE, scored
from bench.untaught import seats
from galloon.clients.commands.learner_options import spec_for
from galloon.clients.replay.baselines import baselines
from galloon.clients.replay.material import Input, Material, normalizer_for, read_material, shown_to_learner
from galloon.clients.samples import ocr_sample
from galloon.clients.scores.systems import SystemScores
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueText
from galloon.learners.observation import ExpertOutput, Utterance
from galloon.learners.present import MANY
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import WORD

MISSING = 0.3
SEED = 15


def figures(data: Path | None = None, limit: int | None = None) -> dict[str, dict[str, float]]:
    """By file and way of playing it: percent of words, and lines a second of processor time."""
    sample = with_absent(read_material(ocr_sample(), FIRST_FIVE, limit, Input.BEST))
    found = {f"OCR, 5 engines, each missing in {100 * MISSING:.0f} %": compared(sample)}
    for path, named in crowds(data, limit):
        by_seat = seats(path)
        by_seat = replace(by_seat, utterances=by_seat.utterances[: len(named.utterances)])
        by_name, quick = play(named)
        forgotten, quick_seats = play(by_seat)
        found[f"{path.name}, {len(named.experts)} by name"] = {
            "named": round(by_name.wer, 2),
            "seats": round(forgotten.wer, 2),
            "lines_per_s_named": round(quick),
            "lines_per_s_seats": round(quick_seats),
            "rate": round(quick / quick_seats, 2),
        }
    return found


def crowds(data: Path | None, limit: int | None) -> Iterator[tuple[Path, Material]]:
    for path in sorted(data.glob("*.jsonl.gz")) if data else ():
        material = read_material(path, (), limit, Input.BEST)
        if len(material.experts) > MANY:
            yield path, material


def with_absent(material: Material) -> Material:
    """Each engine is left out of a line with the same chance; the last one stays."""
    draw = random.Random(SEED)

    def thinned(utterance: Utterance) -> Utterance:
        kept = tuple(output for output in utterance.outputs if draw.random() >= MISSING)
        return replace(utterance, said=kept or utterance.outputs[:1])

    return replace(material, utterances=tuple(map(thinned, material.utterances)))


def compared(material: Material) -> dict[str, float]:
    rule = normalizer(normalizer_for(material.utterances))
    votes = [entry.vote for entry in baselines(material.utterances, WORD, rule, 0)]
    texts = [{output.name: output.text for output in u.outputs} for u in material.utterances]
    engines = [scored(name, material, [said.get(name) for said in texts]) for name in material.experts]
    return {
        "absent": round(play(material)[0].wer, 2),
        "silent": round(play(_silenced(material))[0].wer, 2),
        "vote": round(scored("vote", material, votes).wer, 2),
        "best_engine": round(min(engine.wer for engine in engines), 2),
    }


def _silenced(material: Material) -> Material:
    """The same with an empty output of everybody who is absent."""

    def filled(utterance: Utterance) -> Utterance:
        said = {output.name: output for output in utterance.outputs}
        return replace(utterance, said=tuple(said.get(e, ExpertOutput(e, ())) for e in material.experts))

    return replace(material, utterances=tuple(map(filled, material.utterances)))


def play(material: Material) -> tuple[SystemScores, float]:
    """The default learner, taught line by line: its scores, and lines a second of processor time."""
    spec = spec_for({}, material.experts, material.utterances)
    combiner, texts = build(spec), []
    start = process_time()
    for number, utterance in enumerate(material.utterances):
        choice = combiner.choose(shown_to_learner(utterance, utterance.id, spec.labels), number)
        combiner.observe(choice.memory, choice.view)
        combiner.learn(choice.memory, TrueText(utterance.target or ""), choice.view)
        texts.append(choice.text)
    return scored("galloon", material, texts), len(texts) / (process_time() - start)
