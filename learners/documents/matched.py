"""What matching gives: `MatchedPage` with its `MatchedLine`s in reading order, or the error `Unmatchable`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from galloon.learners.documents.document import Box
from galloon.learners.errors import InvalidInput
from galloon.learners.observation import ExpertOutput, Utterance, Word


class Unmatchable(InvalidInput):
    """Engines do not describe the same document. `engine` is the one that fits none of the others."""

    def __init__(self, engine: str, why: str) -> None:
        super().__init__(f"{engine}: {why}")
        self.engine, self.why = engine, why


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line of the document and what engines wrote there. An engine that is not in `said` is absent."""

    id: str
    said: Mapping[str, tuple[Word, ...]]
    places: Mapping[str, tuple[Box, ...]] = field(default_factory=dict)  # of the words, of engines with boxes
    box: Box | None = None
    start: float | None = None  # of recordings
    end: float | None = None
    region: str = ""
    speaker: str = ""
    channel: str = ""
    confidence: float = 1.0  # how alike the engines' letters are; 1 where one speaks alone
    line_confidences: Mapping[str, float] = field(default_factory=dict)
    continues: bool = False  # the line before it: one line that was cut because it is long

    def utterance(self, name: str, engines: Sequence[str]) -> Utterance:
        """The line as an utterance under this name: the engines that wrote something there, in this order."""
        outputs = (
            ExpertOutput(engine, self.said[engine], self.line_confidences.get(engine))
            for engine in engines
            if engine in self.said
        )
        return Utterance(name, tuple(outputs))


@dataclass(frozen=True, slots=True)
class MatchedPage:
    """The lines of a page or a recording in reading order, and what could not be matched."""

    lines: tuple[MatchedLine, ...]
    width: float | None = None
    height: float | None = None
    timed: bool = False
    name: str = ""
    absent: Mapping[str, str] = field(default_factory=dict)  # engines that failed on this page, and why
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # lines that an engine invented
    notes: tuple[str, ...] = ()

    @property
    def confidence(self) -> float:
        """How alike the engines are over all lines that two of them have, by letters."""
        shared = [
            (line.confidence, max(map(len, line.said.values()))) for line in self.lines if len(line.said) > 1
        ]
        total = sum(weight for _, weight in shared)
        return sum(value * weight for value, weight in shared) / total if total else 1.0
