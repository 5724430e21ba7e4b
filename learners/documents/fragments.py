"""Pieces of engines' lines that stand in one column: `cut_fragments`.

An engine's line is cut where it jumps back or to another height (an engine that chains columns), and at a gutter:
a wide gap that nearly all text above and below leaves free as well, with running text on both sides. A table's
gaps are wide too, but its cells are short: they stay together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.documents.layout import Floats, Layout

# In usual word heights.
_BACK, _DOWN = 2.0, 0.9
_GUTTER, _NARROW, _SHARED = 0.9, 0.6, 0.5
_WIDER = 1.5  # than the usual blank: no blank between words
_NEIGHBOURS = 9.0  # above and below
_SHARE, _FEWEST, _MANY = 0.8, 4, 8  # of the lines around; rows that there must be, beside a narrow gap more
_RUNNING_TEXT = 12  # letters on either side of a gutter, in the middle of the neighbours


@dataclass(frozen=True, slots=True)
class Fragment:
    """Words of one engine that stand side by side."""

    engine: int
    words: NDArray[np.int64]  # rows of the layout, in the engine's order
    left: float
    right: float
    middle: float
    height: float
    text: str  # without blanks

    @property
    def width(self) -> float:
        return self.right - self.left


def cut_fragments(layout: Layout) -> list[Fragment]:
    """The fragments of all lines of all engines."""
    pieces = []
    if not len(layout.words):
        return []
    edges = np.flatnonzero(np.diff(layout.lines)) + 1
    for rows in np.split(np.arange(len(layout.words)), edges):
        back = layout.left[rows[1:]] < layout.right[rows[:-1]] - _BACK * layout.usual_height
        down = np.abs(np.diff(layout.middle[rows])) > _DOWN * np.maximum(
            layout.usual_height, np.minimum(layout.height[rows[1:]], layout.height[rows[:-1]])
        )
        pieces += np.split(rows, np.flatnonzero(back | down) + 1)
    return [
        make_fragment(layout, part) for rows in _without_gutters(layout, pieces) for part in rows if len(part)
    ]


def make_fragment(layout: Layout, rows: NDArray[np.int64]) -> Fragment:
    return Fragment(
        int(layout.engines[rows[0]]),
        rows,
        float(layout.left[rows].min()),
        float(layout.right[rows].max()),
        float(np.median(layout.middle[rows])),
        float(np.median(layout.height[rows])),
        "".join(layout.words[row].text for row in rows),
    )


@dataclass(frozen=True, slots=True)
class _Gaps:
    """The wide gaps between words of all pieces, from the top of the page down."""

    pieces: NDArray[np.int64]
    places: NDArray[np.int64]  # of the word before, in the piece
    middles: Floats
    starts: Floats
    ends: Floats
    letters: NDArray[np.int64]  # of the shorter of the two cells beside it


def _without_gutters(layout: Layout, pieces: Sequence[NDArray[np.int64]]) -> list[list[NDArray[np.int64]]]:
    usual = layout.usual_height
    middles = np.array([np.median(layout.middle[rows]) for rows in pieces])
    lefts = np.array([layout.left[rows].min() for rows in pieces])
    rights = np.array([layout.right[rows].max() for rows in pieces])
    order = np.argsort(middles, kind="stable")
    sorted_middles = middles[order]
    gaps = _wide_gaps(layout, pieces, middles)
    sure: list[int] = []
    doubtful: list[tuple[int, float]] = []  # narrow gaps with few lines around, and where they are free
    half = _SHARED * usual / 2
    for number in np.flatnonzero(gaps.ends - gaps.starts >= _NARROW * usual).tolist():
        middle = gaps.middles[number]
        window = [middle - _NEIGHBOURS * usual, middle + _NEIGHBOURS * usual]
        free = slice(*np.searchsorted(gaps.middles, window))
        start, end = gaps.starts[number], gaps.ends[number]
        meets = (gaps.starts[free] <= end - 2 * half) & (gaps.ends[free] >= start + 2 * half)
        if np.count_nonzero(meets) < _SHARE * _FEWEST:
            continue
        here = _most_shared(gaps.starts[free][meets], gaps.ends[free][meets], start, end, half)
        near = order[slice(*np.searchsorted(sorted_middles, window))]
        # Other engines' readings of the same line are no evidence of a column.
        across = near[
            (lefts[near] < here) & (rights[near] > here) & (abs(middles[near] - middle) > usual / 2)
        ]
        wide = gaps.ends[number] - gaps.starts[number] >= _GUTTER * usual
        rows_around = len(np.unique(np.round((middles[across] - middle) / usual)))
        if rows_around < _FEWEST:
            continue
        leave = (gaps.starts[free] <= here - half) & (gaps.ends[free] >= here + half)
        leave &= abs(gaps.middles[free] - middle) > usual / 2
        if leave.sum() >= _SHARE * len(across) and np.median(gaps.letters[free][leave]) >= _RUNNING_TEXT:
            if wide or rows_around >= _MANY:
                sure.append(number)
            else:
                doubtful.append((number, here))
    # A narrow gap at the end of a column continues the gutter beside it.
    for number, here in doubtful:
        beside = abs(gaps.middles[sure] - gaps.middles[number]) <= _NEIGHBOURS * usual
        if (beside & (gaps.starts[sure] < here) & (gaps.ends[sure] > here)).any():
            sure.append(number)
    cuts: dict[int, list[int]] = {}
    for number in sure:
        cuts.setdefault(int(gaps.pieces[number]), []).append(int(gaps.places[number]) + 1)
    return [np.split(rows, sorted(cuts.get(number, ()))) for number, rows in enumerate(pieces)]


def _most_shared(starts: Floats, ends: Floats, low: float, high: float, half: float) -> float:
    """The place in a gap that most of these gaps leave free, by half a width on either side."""
    places = np.clip(starts, low, high - 2 * half) + half
    shared = (starts[:, None] <= places - half) & (ends[:, None] >= places + half)
    return float(places[shared.sum(axis=0).argmax()])


def _wide_gaps(layout: Layout, pieces: Sequence[NDArray[np.int64]], middles: Floats) -> _Gaps:
    letters = np.array([len(word.text) for word in layout.words])
    found = []
    # Typewriters and justified lines leave wide blanks between all words.
    blanks = np.concatenate([layout.left[rows[1:]] - layout.right[rows[:-1]] for rows in pieces])
    blank = float(np.median(blanks)) if len(blanks) else 0.0
    least = max(_SHARED * layout.usual_height, _WIDER * blank)
    for number, rows in enumerate(pieces):
        starts, ends = layout.right[rows[:-1]], layout.left[rows[1:]]
        wide = np.flatnonzero(ends - starts >= least)
        if not len(wide):
            continue
        cells = [int(letters[cell].sum()) for cell in np.split(rows, wide + 1)]
        found += [
            (number, place, middles[number], starts[place], ends[place], min(cells[i], cells[i + 1]))
            for i, place in enumerate(wide)
        ]
    found.sort(key=lambda gap: gap[2])
    table = np.array(found).reshape(-1, 6)
    whole = table.astype(np.int64)
    return _Gaps(whole[:, 0], whole[:, 1], table[:, 2], table[:, 3], table[:, 4], whole[:, 5])
