"""What one engine made of a document: its pages or recordings (`Page`), their lines (`Line`).

A page has lines with boxes, in pixels from the upper left corner; a recording is a page whose lines and words
have times in seconds (`timed`). A word carries its place itself: `start` and `end` from left to right or in
seconds, `top` and `bottom` on pages. Engines that give no places give lines of words alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from galloon.learners.observation import Word


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @classmethod
    def around(cls, boxes: Iterable["Box"]) -> "Box | None":
        """The smallest that holds all of these."""
        found = list(boxes)
        if not found:
            return None
        return cls(
            min(box.left for box in found),
            min(box.top for box in found),
            max(box.right for box in found),
            max(box.bottom for box in found),
        )


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page or a segment of a recording, as one engine cut it."""

    id: str
    words: tuple[Word, ...]
    box: Box | None = None  # on pages
    slope: float | None = None  # of the baseline, downwards for each pixel to the right
    start: float | None = None  # of recordings, in seconds
    end: float | None = None
    confidence: float | None = None
    region: str = ""  # the block or paragraph that it stands in
    speaker: str = ""
    channel: str = ""
    continues: bool = False  # the line before it: one line that was cut because it is long

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Page:
    """One page, or one recording where `timed`; lines in the engine's own order."""

    lines: tuple[Line, ...]
    width: float | None = None
    height: float | None = None
    timed: bool = False
    name: str = ""  # of the image or the recording, where the engine says it
    relative: bool = False  # boxes are shares of a page whose true width and height the engine does not say

    def resized(self, width: float | None, height: float | None) -> "Page":
        """The same page with another width and height, and its boxes with it."""
        if not width or not height or not self.width or not self.height:
            return self
        across, down = width / self.width, height / self.height
        lines = tuple(_scaled_line(line, across, down) for line in self.lines)
        return replace(self, lines=lines, width=width, height=height, relative=False)

    @property
    def word_count(self) -> int:
        return sum(len(line.words) for line in self.lines)

    @property
    def has_boxes(self) -> bool:
        """Whether the engine says where most of its lines stand."""
        placed = sum(word_box(word) is not None for line in self.lines for word in line.words)
        boxed = sum(len(line.words) for line in self.lines if line.box is not None)
        return not self.timed and max(placed, boxed) * 2 > self.word_count

    @property
    def has_times(self) -> bool:
        """Whether the engine says when most of its words were spoken, by themselves or by their segments."""
        known = sum(
            len(line.words)
            for line in self.lines
            if line.start is not None or any(word.start is not None for word in line.words)
        )
        return self.timed and known * 2 > self.word_count


def _scaled_line(line: Line, across: float, down: float) -> Line:
    box = line.box
    return replace(
        line,
        words=tuple(_scaled_word(word, across, down) for word in line.words),
        box=box and Box(box.left * across, box.top * down, box.right * across, box.bottom * down),
        slope=None if line.slope is None else line.slope * down / across,
    )


def _scaled_word(word: Word, across: float, down: float) -> Word:
    if word_box(word) is None:
        return word
    return replace(
        word,
        start=(word.start or 0.0) * across,
        end=(word.end or 0.0) * across,
        top=(word.top or 0.0) * down,
        bottom=(word.bottom or 0.0) * down,
    )


def word_box(word: Word) -> Box | None:
    """Where a word stands on its page, if its engine says so."""
    if word.start is None or word.end is None or word.top is None or word.bottom is None:
        return None
    return Box(word.start, word.top, word.end, word.bottom)
