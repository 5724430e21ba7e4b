"""Everything that a replay came to, scored: `score_runs` makes `Results` of what was played."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from galloon.clients.replay.baselines import Baselines, baselines
from galloon.clients.replay.names import (
    GALLOON,
    MBR,
    ORACLE,
    ORACLE_LATTICE,
    ORACLE_WITH_ALTERNATIVES,
    UNIFORM,
    VOTE,
)
from galloon.clients.replay.play import Played
from galloon.clients.scores.systems import SystemScores, difference, score_texts
from galloon.codec.explanation import Explanation
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.evaluation.bootstrap import Interval
from galloon.learners.observation import Utterance
from galloon.learners.text.normalizers import normalizer as named
from galloon.learners.unit import Unit


@dataclass(frozen=True, slots=True)
class Results:
    """The scores of all systems on the utterances that have a true text, in the order of the file.

    `runs` is what was played: first the learner that the report is about, then those beside it, by name.
    """

    file: str
    unit: Unit
    normalizer: str
    utterances: tuple[Utterance, ...]  # all that were played
    scored: tuple[int, ...]  # indices of those that have a true text
    references: tuple[str, ...]  # their true texts, normalised
    engines: Mapping[str, SystemScores]
    vote: SystemScores
    uniform: SystemScores
    oracle: SystemScores
    oracle_with_alternatives: SystemScores | None  # where engines sent more than their 1-best
    oracle_lattice: SystemScores | None  # where engines sent lattices
    mbr: Mapping[
        str, SystemScores
    ]  # minimum Bayes risk of the lattices' union, and of each alone; or nothing
    galloon: Mapping[str, SystemScores]  # by name of the run
    runs: Mapping[str, Played]

    @property
    def metric(self) -> str:
        return self.unit.metric

    @property
    def main(self) -> SystemScores:
        return self.galloon[GALLOON]

    @property
    def played(self) -> Played:
        return self.runs[GALLOON]

    @property
    def best_engine(self) -> SystemScores:
        """The best of those that ran about as often as any: of two lines one is easily free of errors."""
        most = max(system.runs for system in self.engines.values())
        regular = (system for system in self.engines.values() if 2 * system.runs >= most)
        return min(regular, key=lambda system: system.total(self.unit).rate)

    @property
    def systems(self) -> tuple[SystemScores, ...]:
        """Engines, then what is computed from them, then what learned."""
        return (
            *self.engines.values(),
            self.uniform,
            self.vote,
            *self.mbr.values(),
            *self.galloon.values(),
        )

    @property
    def oracles(self) -> dict[str, SystemScores]:
        """What nobody can reach without knowing the truth, by what the slots may offer."""
        if self.oracle_with_alternatives is None:
            return {"best token per slot": self.oracle}
        found = {
            "best token per slot, of the 1-best": self.oracle,
            "best token per slot, lattices too": self.oracle_with_alternatives,
        }
        if self.oracle_lattice is not None:
            found["best path of a lattice"] = self.oracle_lattice
        return found

    def explanation_of(self, utterance_id: str) -> Explanation:
        """Of the utterance that was asked about."""
        (round_,) = (round_ for round_ in self.played.rounds if round_.utterance.id == utterance_id)
        assert round_.explanation is not None, "this utterance was not asked about"
        return round_.explanation

    def against(self, other: SystemScores) -> Interval:
        return difference(self.main, other, self.unit)


def score_runs(
    file: str, utterances: Sequence[Utterance], spec: CombinerSpec, runs: Mapping[str, Played]
) -> Results:
    """Score engines, baselines and runs on the normalised texts; the learner's spec says unit and normaliser."""
    rule = named(spec.normalizer)
    unit = spec.unit
    scored = [i for i, utterance in enumerate(utterances) if utterance.target is not None]
    known = [utterances[i] for i in scored]
    references = [rule(utterance.target or "") for utterance in known]
    without_learning = baselines(known, unit, rule, spec.seed)
    said = [{output.name: output.text for output in entry.outputs} for entry in known]

    lattices = any(entry.mbr is not None for entry in without_learning)

    def system(name: str, texts: Sequence[str | None]) -> SystemScores:
        return score_texts(name, references, texts, rule)

    return Results(
        file,
        unit,
        spec.normalizer,
        tuple(utterances),
        tuple(scored),
        tuple(references),
        {
            name: system(name, [texts.get(name) for texts in said])
            for name in spec.engines
            if any(name in texts for texts in said)
        },
        system(VOTE, [entry.vote for entry in without_learning]),
        system(UNIFORM, [entry.uniform for entry in without_learning]),
        system(ORACLE, [entry.oracle or "" for entry in without_learning]),
        system(ORACLE_WITH_ALTERNATIVES, [entry.oracle_with_alternatives or "" for entry in without_learning])
        if any(output.lattice or output.nbest for entry in known for output in entry.outputs)
        else None,
        system(ORACLE_LATTICE, [entry.oracle_lattice or "" for entry in without_learning])
        if lattices
        else None,
        _mbr_texts(without_learning, system) if lattices else {},
        {name: system(name, [played.rounds[i].choice.text for i in scored]) for name, played in runs.items()},
        dict(runs),
    )


def _mbr_texts(
    found: Sequence[Baselines], system: Callable[[str, Sequence[str | None]], SystemScores]
) -> dict[str, SystemScores]:
    """Of the union: the vote where nobody has a lattice. Of an engine alone: where it has one."""
    alone = dict.fromkeys(name for entry in found for name in entry.mbr_alone)
    return {
        MBR: system(MBR, [entry.vote if entry.mbr is None else entry.mbr for entry in found]),
        **{
            f"{MBR}, {name}": system(f"{MBR}, {name}", [entry.mbr_alone.get(name) for entry in found])
            for name in alone
        },
    }
