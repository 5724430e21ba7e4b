"""What lattices are worth: the default learner on a file with 1-best, n-best or lattice input.

The bundled sample holds few lattices, so name a file that has them; to write the table into a page:
`python -m bench.lattices docs/results.md FILE`. A learner that has begun elsewhere errs elsewhere, so each input
is also played from other starting points of the file, and the mean is shown.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.markdown import page_command, table
from bench.progressive import learned_scores
from galloon.clients.replay.baselines import baselines
from galloon.clients.replay.material import Input, Material, normalizer_for, read_material
from galloon.clients.scores.systems import SystemScores, difference
from galloon.learners.alignment.graph import SILENT, graph_of
from galloon.learners.alignment.settings import AlignmentSettings
from galloon.learners.evaluation.error_rate import total, word_errors
from galloon.learners.observation import ExpertOutput
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import WORD

STARTS = 8
WHOLE = AlignmentSettings(lattice_beam=np.inf)


@dataclass(frozen=True, slots=True)
class InputScores:
    """What the learner made of one kind of input, from the beginning and from other starts, and the best offer."""

    played: SystemScores
    mean_wer: float
    oracle_wer: float


def scores(material: Material, starts: int = STARTS) -> InputScores:
    """Play the file from several starting points; what comes before them is played last."""
    count = len(material.utterances)
    systems = []
    for start in range(starts):
        cut = start * count // starts
        turned = material.utterances[cut:] + material.utterances[:cut]
        systems.append(learned_scores(replace(material, utterances=turned)))
    rule = normalizer(normalizer_for(material.utterances))
    offers = baselines(material.utterances, WORD, rule, seed=0)
    best = [
        word_errors(rule(utterance.target or ""), found.oracle_with_alternatives or "")
        for utterance, found in zip(material.utterances, offers, strict=True)
    ]
    mean = float(np.mean([system.wer for system in systems]))
    return InputScores(systems[0], mean, total(best).rate)


def engine_rates(material: Material) -> dict[str, tuple[float, float]]:
    """Of engines with lattices: the WER of the 1-best, and that of the path nearest to the truth."""
    rule = normalizer(normalizer_for(material.utterances))
    found = {}
    for column, name in enumerate(material.experts):
        outputs = [utterance.outputs[column] for utterance in material.utterances]
        if not any(output.lattice for output in outputs):
            continue
        counts, wrong = [], 0
        for utterance, output in zip(material.utterances, outputs, strict=True):
            truth = rule(utterance.target or "")
            counts.append(word_errors(truth, rule(output.text)))
            wrong += nearest_path(output, truth.split(), rule.name) if output.lattice else counts[-1].errors
        said = total(counts)
        found[name] = said.rate, 100 * wrong / max(1, said.reference_length)
    return found


def nearest_path(output: ExpertOutput, truth: list[str], rule: str) -> int:
    """Word errors of the path that has fewest: edit distances to all beginnings of the truth, state by state."""
    graph = graph_of(output, WORD, normalizer(rule), WHOLE)
    steps = np.arange(len(truth) + 1)
    distance = np.full((graph.state_count, len(steps)), np.inf)
    distance[graph.initial] = steps
    same = {token: np.array([word == token for word in truth], dtype=bool) for token in graph.vocabulary}
    for source, target, token in zip(graph.sources, graph.targets, graph.tokens, strict=True):
        here = distance[source]
        if token == SILENT:
            reached = here
        else:
            reached = here + 1
            unlike = ~same[graph.vocabulary[token]]
            reached[1:] = np.minimum(reached[1:], here[:-1] + unlike)
            reached = np.minimum.accumulate(reached - steps) + steps
        distance[target] = np.minimum(distance[target], reached)
    return int(distance[graph.finals, -1].min())


def page(file: Path, limit: int | None = None) -> str:
    """FILE played with each input: the table, and a sentence on the engines with lattices."""
    materials = {kind: read_material(file, (), limit, kind) for kind in Input}
    found = {kind: scores(material) for kind, material in materials.items()}
    plain = found[Input.BEST].played
    lines = []
    for kind, entry in found.items():
        paired = difference(entry.played, plain, WORD)
        between = "" if kind is Input.BEST else f"{paired.low:+.2f} to {paired.high:+.2f}"
        lines.append(
            (
                kind.value,
                f"{entry.played.wer:.2f}",
                between,
                f"{entry.mean_wer:.2f}",
                f"{entry.oracle_wer:.2f}",
            )
        )
    heads = (
        "input",
        "WER",
        "95 % of the difference to 1best",
        f"mean of {STARTS} starts",
        "best token per slot",
    )
    rates = engine_rates(materials[Input.LATTICE]).items()
    engines = ", ".join(f"{name} {one:.1f} and {best:.1f}" for name, (one, best) in rates)
    said = f"WER of the 1-best, and of the lattice's path nearest to the truth: {engines}."
    return f"{table(heads, lines)}\n\n{said}"


main = page_command("lattices", page, "file")


if __name__ == "__main__":
    main()
