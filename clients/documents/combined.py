"""The combined document, as values that every writer can write: `CombinedPage`, `CombinedLine`, `CombinedWord`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from galloon.clients.documents.page_images import PageImage
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
    continues: bool = False  # the line before it: one line that was combined in pieces

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
    image: PageImage | None = None  # where the user gave it

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


def joined(lines: Iterable[CombinedLine]) -> tuple[CombinedLine, ...]:
    """The lines that say something; those that were combined in pieces in one."""
    found: list[CombinedLine] = []
    for line in lines:
        if line.continues and found:
            found[-1] = _one(found[-1], line)
        else:
            found.append(line)
    return tuple(line for line in found if line.words)


def _one(first: CombinedLine, rest: CombinedLine) -> CombinedLine:
    sizes = len(first.words), len(rest.words)
    shares = (first.agreement * sizes[0] + rest.agreement * sizes[1]) / max(1, sum(sizes))
    return replace(
        first,
        words=(*first.words, *rest.words),
        box=Box.around(box for box in (first.box, rest.box) if box),
        start=first.start if first.start is not None else rest.start,
        end=rest.end if rest.end is not None else first.end,
        engines=tuple(dict.fromkeys((*first.engines, *rest.engines))),
        agreement=shares,
    )


def regions(lines: Sequence[CombinedLine]) -> list[list[CombinedLine]]:
    """Lines that follow each other and stand in the same region, as formats with blocks want them."""
    found: list[list[CombinedLine]] = []
    for line in lines:
        if found and found[-1][-1].region == line.region:
            found[-1].append(line)
        else:
            found.append([line])
    return found
