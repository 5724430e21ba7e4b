"""The words of all engines on one page, made upright: `lay_out` gives a `Layout` of arrays.

Engines that read a scaled image are scaled back to the first one's size, by what they say of it, or by the words
that both have. A line that has only its own box shares its width evenly among its letters, along its slope. The
page's skew is the median slope of all lines; it is taken out, so that afterwards a line of text has one height.
Pages that run from right to left are mirrored: further on, everything runs from left to right.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.documents.document import Box, Line, Page, word_box
from galloon.learners.observation import Word

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_STEEPEST = 0.25  # what is steeper is no line of text
_SAME_SCALE = 0.02
_LONG_WORD, _FEWEST_WORDS = 5, 8  # letters; words that tell the scale of a page whose size nobody says


@dataclass(frozen=True, slots=True)
class Layout:
    """A row a word, engine by engine and line by line; places are of the upright page."""

    words: list[Word]
    engines: Ints  # number of the engine
    lines: Ints  # number of the line, counted over all engines
    left: Floats
    right: Floats
    middle: Floats  # from the top
    height: Floats
    boxes: list[Box]  # as on the image
    sources: list[Line]  # by their numbers
    usual_height: float
    mirrored: bool

    @property
    def centre(self) -> Floats:
        return (self.left + self.right) / 2


def lay_out(pages: Sequence[Page]) -> Layout:
    """The words of these pages, which must be of the same page of the document and have boxes."""
    words: list[Word] = []
    boxes: list[Box] = []
    engines: list[int] = []
    lines: list[int] = []
    sources: list[Line] = []
    slopes: list[float] = []
    widths: list[float] = []
    for engine, page in enumerate(pages):
        scale = _scale(pages[0], page)
        for line in page.lines:
            placed = [_scaled(box, scale) for box in _word_boxes(line)]
            if not placed:
                continue
            slope = _slope(line, placed)
            if slope is not None:
                slopes.append(slope)
                widths.append(max(box.right for box in placed) - min(box.left for box in placed))
            sources.append(line)
            words += line.words
            boxes += placed
            engines += [engine] * len(placed)
            lines += [len(sources) - 1] * len(placed)
    edges = np.array([(box.left, box.top, box.right, box.bottom) for box in boxes]).reshape(-1, 4)
    slope = _weighted_median(slopes, widths)
    across, down = (edges[:, 0] + edges[:, 2]) / 2, (edges[:, 1] + edges[:, 3]) / 2
    origin = (edges[:, 2].max() / 2, edges[:, 3].max() / 2) if len(edges) else (0.0, 0.0)
    centre = across + slope * (down - origin[1])
    half = (edges[:, 2] - edges[:, 0]) / 2
    # The hull of a leaning word is higher than the word; boxes made from a line's own are not hulls.
    lean = abs(slope) * 2 * half * [word_box(word) is not None for word in words]
    height = np.maximum(edges[:, 3] - edges[:, 1] - lean, 1.0)
    mirrored = _runs_right_to_left(words)
    if mirrored:
        centre = -centre
    return Layout(
        words,
        np.array(engines, dtype=np.int64),
        np.array(lines, dtype=np.int64),
        centre - half,
        centre + half,
        down - slope * (across - origin[0]),
        height,
        boxes,
        sources,
        float(np.median(height)) if len(height) else 1.0,
        mirrored,
    )


def _word_boxes(line: Line) -> list[Box]:
    """Where the words of a line stand: all of them, or none."""
    known = [word_box(word) for word in line.words]
    found = [box for box in known if box is not None]
    if len(found) == len(line.words):
        return found
    if line.box is None:
        return []
    letters = sum(len(word.text) + 1 for word in line.words) - 1
    if letters <= 0:
        return []
    slope = line.slope or 0.0
    step = line.box.width / letters
    height = max(line.box.height - abs(slope) * line.box.width, 1.0)
    top = line.box.top if slope >= 0 else line.box.bottom - height
    boxes, at = [], 0
    for word in line.words:
        begin, at = line.box.left + at * step, at + len(word.text)
        end = line.box.left + at * step
        shift = top + slope * ((begin + end) / 2 - line.box.left)
        boxes.append(Box(begin, shift, end, shift + height))
        at += 1
    return boxes


def _slope(line: Line, boxes: Sequence[Box]) -> float | None:
    """Of the line's own words, between those half a line apart; else as its engine says."""
    half = len(boxes) // 2
    if half < 2 or line.slope is not None:
        return line.slope
    found = []
    for first, second in zip(boxes[:half], boxes[-half:], strict=True):
        run = (second.left + second.right - first.left - first.right) / 2
        rise = (second.top + second.bottom - first.top - first.bottom) / 2
        if run > 0:
            found.append(rise / run)
    return float(np.median(found)) if found else None


def _weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    pairs = sorted((v, w) for v, w in zip(values, weights, strict=True) if abs(v) < _STEEPEST and w > 0)
    if not pairs:
        return 0.0
    reached = np.cumsum([weight for _, weight in pairs])
    return pairs[int(np.searchsorted(reached, reached[-1] / 2))][0]


def _scale(first: Page, page: Page) -> float:
    """What brings the page to the size of the first one, if it is the same page at another resolution."""
    if not (first.width and first.height and page.width and page.height):
        return _scale_by_words(first, page)
    across, down = first.width / page.width, first.height / page.height
    same_shape = abs(across / down - 1) < _SAME_SCALE
    return across if same_shape and abs(across - 1) > _SAME_SCALE else 1.0


def _scale_by_words(first: Page, page: Page) -> float:
    """The same where an engine does not say how large its page is: by the words that both have once."""
    theirs, own = _telling_words(first), _telling_words(page)
    ratios = [
        (theirs[text].top + theirs[text].bottom) / (own[text].top + own[text].bottom)
        for text in theirs.keys() & own.keys()
        if own[text].top + own[text].bottom > 0
    ]
    if len(ratios) < _FEWEST_WORDS:
        return 1.0
    scale = float(np.median(ratios))
    agreeing = sum(abs(ratio / scale - 1) < _SAME_SCALE for ratio in ratios) if scale > 0 else 0
    sure = 2 * agreeing > len(ratios) and abs(scale - 1) > _SAME_SCALE
    return scale if sure else 1.0


def _telling_words(page: Page) -> dict[str, Box]:
    """The long words that stand on a page once, and where."""
    found: dict[str, list[Box]] = {}
    for line in page.lines:
        for word, box in zip(line.words, _word_boxes(line), strict=False):
            if len(word.text) >= _LONG_WORD:
                found.setdefault(word.text, []).append(box)
    return {text: boxes[0] for text, boxes in found.items() if len(boxes) == 1}


def _scaled(box: Box, scale: float) -> Box:
    if scale == 1.0:
        return box
    return Box(box.left * scale, box.top * scale, box.right * scale, box.bottom * scale)


def _runs_right_to_left(words: Sequence[Word]) -> bool:
    sample = "".join(word.text for word in words[:: max(1, len(words) // 200)])
    if sample.isascii():
        return False
    directions = [unicodedata.bidirectional(letter) for letter in sample if letter.isalpha()]
    return sum(way in {"R", "AL"} for way in directions) * 2 > len(directions)
