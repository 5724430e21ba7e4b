"""What `galloon score` found: `ScoreReport`, as a table for people and as JSON for programs."""

from dataclasses import dataclass
from typing import Any

from rich.console import Console

from galloon.clients.replay.table import comparison, score_table, system_row
from galloon.clients.scores.systems import SystemScores, difference, difference_to_json
from galloon.learners.unit import Unit


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """Systems scored on the same utterances. The baseline is the best one unless it is named."""

    file: str
    utterances: int
    unit: Unit
    normalizer: str
    systems: tuple[SystemScores, ...]
    baseline_name: str | None = None

    @property
    def baseline(self) -> SystemScores:
        if self.baseline_name is not None:
            return next(system for system in self.systems if system.name == self.baseline_name)
        return min(self.systems, key=lambda system: system.total(self.unit).rate)

    @property
    def others(self) -> list[SystemScores]:
        return [system for system in self.systems if system is not self.baseline]

    def as_json(self) -> dict[str, Any]:
        baseline = self.baseline
        return {
            "reference": self.file,
            "utterances": self.utterances,
            "unit": self.unit.name,
            "metric": self.unit.metric,
            "normalizer": self.normalizer,
            "systems": {system.name: system.as_json(self.unit) for system in self.systems},
            "baseline": baseline.name,
            "vs_baseline": {
                system.name: difference_to_json(difference(system, baseline, self.unit), self.unit)
                for system in self.others
            },
        }

    def show(self, console: Console) -> None:
        title = f"{self.file}: {self.utterances:,} utterances, unit {self.unit}, normalizer {self.normalizer}"
        table = score_table(title, self.unit)
        for system in self.systems:
            table.add_row(*system_row(system, self.unit))
        console.print(table)
        for system in self.others:
            paired = difference(system, self.baseline, self.unit)
            console.print(comparison(system.name, self.baseline.name, paired, self.unit), highlight=False)
