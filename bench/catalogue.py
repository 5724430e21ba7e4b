"""The paper's learners on real text: error rate, gain, regret and bound of each, for n-grams and gappy n-grams.

Utterances are cut into windows; the experts are the engines and their vote. `figures` are the rows; to write them
into a page as a table: `python -m bench.catalogue docs/results.md`.
"""

from dataclasses import dataclass, replace
from typing import Any

from bench.markdown import page_command, table
from bench.progressive import FIRST_FIVE, progressive, scored
from galloon.clients.replay.baselines import baselines
from galloon.clients.replay.material import Input, Material, normalizer_for, read_material
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.clients.scores.systems import SystemScores
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import WORD

PAPER = {"tuning": "paper"}
LEARNERS: dict[str, tuple[str, dict[str, str]]] = {
    "CDCH": ("component_hedge", {}),
    "CDCH, paper's rates": ("component_hedge", PAPER),
    "Expanded Hedge": ("expanded_hedge", {}),
    "Expanded Hedge, paper's rates": ("expanded_hedge", PAPER),
    "Mirror descent, semi-bandit": ("mirror_semi_bandit", {}),
    "Barrier semi-bandit": ("barrier_semi_bandit", {}),
    "CDSB": ("semi_bandit", {}),
    "Barrier bandit": ("barrier_bandit", {}),
    "CDCB": ("com_band", {}),
    "EXP3-AG": ("exp3_paths", {}),
}
GAINS: dict[str, dict[str, Any]] = {
    "n = 1": {"kind": "ngram", "order": 1},
    "n = 2": {"kind": "ngram", "order": 2},
    "n = 3": {"kind": "ngram", "order": 3},
    "gappy 2": {"kind": "gappy", "lengths": [2], "discount": 0.5, "max_gap": 1},
}
# Experts to the power of n, times slots, is what a round costs: 6^3 x 8 transitions at most.
WINDOW = 8


@dataclass(frozen=True, slots=True)
class Row:
    """One learner with one gain on one file."""

    file: str
    learner: str
    gain_name: str
    wer: float  # of drawn paths, as gain, regret and bound are
    wer_best: float  # of the most probable path
    gain: float
    regret: float | None
    bound: float | None
    limit: float | None
    transitions: int

    def as_figures(self) -> dict[str, float]:
        known = {"regret": self.regret, "bound": self.bound}
        rates = {"wer": round(self.wer, 2), "wer_best": round(self.wer_best, 2)}
        numbers = {"gain": round(self.gain, 1), "transitions": self.transitions}
        return rates | numbers | {name: round(value, 1) for name, value in known.items() if value is not None}


def figures(limit: int | None = None) -> dict[str, dict[str, float]]:
    """By file, learner and gain; regret is against the best fixed path of the windows, in hindsight."""
    found: dict[str, dict[str, float]] = {}
    for name, material in materials(limit).items():
        for system in compared(material):
            found[f"{name}, {system.name}"] = {"wer": round(system.wer, 2)}
        found |= {f"{name}, {row.learner}, {row.gain_name}": row.as_figures() for row in rows(name, material)}
    return found


def materials(limit: int | None = None) -> dict[str, Material]:
    return {
        "OCR": read_material(ocr_sample(), FIRST_FIVE, limit, Input.BEST),
        "ASR": read_material(asr_sample(), (), limit, Input.BEST),
    }


def rows(file: str, material: Material) -> list[Row]:
    """Every learner with every gain."""
    base = CombinerSpec(
        engines=material.experts,
        derived=("vote",),
        window=WINDOW,
        normalizer=normalizer_for(material.utterances),
        algorithm="expanded_hedge",
    )
    found = []
    for learner, (algorithm, options) in LEARNERS.items():
        for gain_name, gain in GAINS.items():
            spec = replace(base, algorithm=algorithm, gain=gain, options=options)
            played, best = (progressive(material, replace(spec, decide=d)) for d in ("sample", "best"))
            statistics = played.statistics
            found.append(
                Row(
                    file,
                    learner,
                    gain_name,
                    scored(learner, material, played.texts).wer,
                    scored(learner, material, best.texts).wer,
                    statistics.gain,
                    statistics.regret,
                    statistics.bound,
                    statistics.regret_limit,
                    statistics.context_transitions,
                )
            )
    return found


def compared(material: Material) -> list[SystemScores]:
    """What the learners' error rates are to be compared with."""
    rule = normalizer(normalizer_for(material.utterances))
    without = baselines(material.utterances, WORD, rule, seed=0)
    engines = [
        scored(name, material, [u.outputs[column].text for u in material.utterances])
        for column, name in enumerate(material.experts)
    ]
    best = min(engines, key=lambda system: system.wer)
    return [
        replace(best, name=f"best engine ({best.name})"),
        scored("majority vote", material, [entry.vote for entry in without]),
        scored("random engine per slot", material, [entry.uniform for entry in without]),
    ]


def page(limit: int | None = None) -> str:
    """Every learner with every gain, a table for each file."""
    parts = []
    for name, material in materials(limit).items():
        rates = ", ".join(f"{system.name} {system.wer:.2f}" for system in compared(material))
        parts.append(
            f"**{name}**, {len(material.utterances):,} utterances, {len(material.experts)} engines: {rates}."
        )
        lines = [
            (
                row.learner,
                row.gain_name,
                f"{row.wer:.2f}",
                f"{row.wer_best:.2f}",
                f"{row.gain:,.0f}",
                _shown(row.regret),
                _shown(row.bound),
                f"{row.transitions:,}",
            )
            for row in rows(name, material)
        ]
        heads = (
            "learner",
            "patterns",
            "WER, drawn",
            "WER, most probable",
            "gain, drawn",
            "regret, drawn",
            "bound",
            "transitions of A'",
        )
        parts.append(table(heads, lines, left=2))
    return "\n\n".join(parts)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


main = page_command("catalogue", page)


if __name__ == "__main__":
    main()
