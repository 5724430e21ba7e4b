"""What lattices are worth: the default learner on a file with 1-best or lattice input, for sets of engines.

The bundled sample holds few lattices, so name a file that has them; to write the table into a page:
`python -m bench.lattices docs/results.md FILE`. A learner that has begun elsewhere errs elsewhere, so each input
is played from several starting points of the file, and means are shown. Beside it stand minimum Bayes risk of the
union of the same lattices, with nothing learned, and what the lattices hold in hindsight.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.markdown import page_command, table
from bench.progressive import learned_scores
from galloon.clients.replay.baselines import baselines
from galloon.clients.replay.material import Input, Material, normalizer_for, read_material
from galloon.clients.scores.systems import SystemScores, difference
from galloon.learners.evaluation.error_rate import total, word_errors
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import WORD

STARTS = 4
SETS = (("ps_dom",), ("ps_gen",), ("ps_dom", "ps_gen"), ("ps_dom", "ps_gen", "ps_fast"), ())  # () is all
HEADS = (
    "engines",
    "best engine",
    "galloon, 1-best",
    "galloon, lattices",
    "95 % of the difference",
    "MBR of the union",
    "best path",
    "best token per slot",
)


def played(material: Material) -> tuple[SystemScores, float]:
    """From the first line on, and the mean over all starts; what comes before a start is played last."""
    count = len(material.utterances)
    systems = []
    for start in range(STARTS):
        cut = start * count // STARTS
        turned = material.utterances[cut:] + material.utterances[:cut]
        systems.append(learned_scores(replace(material, utterances=turned)))
    return systems[0], float(np.mean([system.wer for system in systems]))


def row(engines: tuple[str, ...], file: Path, limit: int | None = None) -> tuple[str, ...]:
    """A row of the table: word error rates of these engines."""
    plain, heard = (read_material(file, engines, limit, kind) for kind in (Input.BEST, Input.LATTICE))
    rule = normalizer(normalizer_for(heard.utterances))
    truths = [rule(utterance.target or "") for utterance in heard.utterances]

    def rate(texts: list[str]) -> float:
        return total(map(word_errors, truths, texts)).rate

    best = min(
        rate([rule(utterance.outputs[place].text) for utterance in heard.utterances])
        for place in range(len(heard.experts))
    )
    found = baselines(heard.utterances, WORD, rule, seed=0)
    (without, mean_without), (with_lattices, mean_with) = played(plain), played(heard)
    paired = difference(with_lattices, without, WORD)
    return (
        ", ".join(engines) or "all",
        f"{best:.2f}",
        f"{mean_without:.2f}",
        f"{mean_with:.2f}",
        f"{paired.low:+.2f} to {paired.high:+.2f}",
        f"{rate([entry.vote if entry.mbr is None else entry.mbr for entry in found]):.2f}",
        f"{rate([entry.oracle_lattice or '' for entry in found]):.2f}",
        f"{rate([entry.oracle_with_alternatives or '' for entry in found]):.2f}",
    )


def page(file: Path, limit: int | None = None) -> str:
    """FILE played with 1-best and with lattices, by several sets of its engines: the table."""
    return table(HEADS, [row(engines, file, limit) for engines in SETS])


main = page_command("lattices", page, "file")


if __name__ == "__main__":
    main()
