"""The combined document, as values that every writer can write: `CombinedPage`, `CombinedLine`, `CombinedWord`."""

from collections.abc import Sequence
from dataclasses import dataclass

from galloon.learners.documents.document import Box


@dataclass(frozen=True, slots=True)
class CombinedWord:
    """A word that was chosen, how probable it was, and where or when it stands."""

    text: str
    confidence: float
    box: Box | None = None
    start: float | None = None
    end: float | None = None
    alternatives: tuple[tuple[str, float], ...] = ()  # other words on offer here, and their probabilities


@dataclass(frozen=True, slots=True)
class CombinedLine:
    """A line or a piece of speech in reading order."""

    id: str
    words: tuple[CombinedWord, ...]
    box: Box | None = None
    start: float | None = None
    end: float | None = None
    region: str = ""
    speaker: str = ""
    channel: str = ""
    engines: tuple[str, ...] = ()  # that had something to say here
    agreement: float = 1.0

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> float:
        """The mean of its words'."""
        return sum(word.confidence for word in self.words) / len(self.words) if self.words else 0.0


@dataclass(frozen=True, slots=True)
class CombinedPage:
    """One page, or one recording."""

    lines: tuple[CombinedLine, ...]
    width: float | None = None
    height: float | None = None
    timed: bool = False
    name: str = ""  # of the image or recording

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in whole pixels, at least so large that every box is on the page."""
        right = max((line.box.right for line in self.lines if line.box), default=1.0)
        bottom = max((line.box.bottom for line in self.lines if line.box), default=1.0)
        return max(1, round(self.width or right)), max(1, round(self.height or bottom))


@dataclass(frozen=True, slots=True)
class CombinedDocument:
    """All pages of one document under the stem of its files."""

    stem: str
    pages: tuple[CombinedPage, ...]


def regions(lines: Sequence[CombinedLine]) -> list[list[CombinedLine]]:
    """Lines that follow each other and stand in the same region, as formats with blocks want them."""
    found: list[list[CombinedLine]] = []
    for line in lines:
        if found and found[-1][-1].region == line.region:
            found[-1].append(line)
        else:
            found.append([line])
    return found
