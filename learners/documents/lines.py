"""The lines of a page that engines support best, and which words of each engine belong to them: `find_lines`.

Fragments of all engines compete: the support of one is how well it coincides with fragments of the others, in
place and in letters. The best is taken and those that overlap it go, until none is left (non-maximum suppression).
Then every word of every engine goes to the line it stands in. So lines that an engine split, merged or read across
columns need nothing of their own: their words find their lines one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from galloon.learners.documents.fragments import Fragment, cut_fragments, make_fragment
from galloon.learners.documents.layout import Layout

# In heights of the line.
_SUPPORTS, _EXCLUDES, _BELONGS, _BEYOND, _NEXT, _APART = 0.6, 0.55, 0.75, 1.2, 1.5, 4.0
_SHARED = 0.25  # of the shorter line's width
_INSIDE = 0.4  # of the word's width
_PLACE_ALONE = 0.3  # of the support that coinciding places give, whatever the letters
# Support of a line that another engine has as two of running text: it may run across columns, and two that are
# really one are joined again.
_DIVIDED, _WITHIN, _RUNNING = 0.8, 0.8, 15
_ROUNDS = 3
_TWICE = 0.6  # of its width an engine's second reading of the same place covers the first


@dataclass(slots=True)
class FoundLine:
    """A line of the page, and the words that each engine has there (rows of the layout)."""

    left: float
    right: float
    middle: float
    height: float
    support: float
    words: dict[int, NDArray[np.int64]] = field(default_factory=dict)


def find_lines(layout: Layout) -> list[FoundLine]:
    """The lines of the page, in no particular order, each with the words of every engine that has some there."""
    lines: list[FoundLine] = []
    owner = np.full(len(layout.words), -1, dtype=np.int64)
    fragments = cut_fragments(layout)
    pieces = np.zeros(len(layout.words), dtype=np.int64)
    for number, fragment in enumerate(fragments):
        pieces[fragment.words] = number
    for _ in range(_ROUNDS):
        if not fragments:
            break
        lines += _best(fragments, lines)
        _assign(layout, lines, owner)
        fragments = _left_over(layout, owner)
    _join_neighbours(layout, lines, owner, pieces)
    for number, line in enumerate(lines):
        rows = np.flatnonzero(owner == number)
        for engine in np.unique(layout.engines[rows]):
            line.words[int(engine)] = _in_order(layout, rows[layout.engines[rows] == engine])
    return [line for line in lines if line.words]


def _best(fragments: Sequence[Fragment], taken: Sequence[FoundLine]) -> list[FoundLine]:
    """The fragments that the others support most, none of which overlaps another or a line taken before."""
    support = _supports(fragments)
    order = sorted(
        range(len(fragments)),
        key=lambda i: (-support[i], -len(fragments[i].text), fragments[i].middle, fragments[i].left),
    )
    kept = list(taken)
    found = []
    for number in order:
        fragment = fragments[number]
        if any(_overlap(fragment, line) for line in kept):
            continue
        line = FoundLine(
            fragment.left, fragment.right, fragment.middle, fragment.height, float(support[number])
        )
        kept.append(line)
        found.append(line)
    return found


def _overlap(fragment: Fragment, line: FoundLine) -> bool:
    if abs(fragment.middle - line.middle) >= _EXCLUDES * (fragment.height + line.height) / 2:
        return False
    shared = min(fragment.right, line.right) - max(fragment.left, line.left)
    return shared > _SHARED * min(fragment.width, line.right - line.left)


def _supports(fragments: Sequence[Fragment]) -> NDArray[np.float64]:
    """For each fragment the sum over other engines of the best coincidence with one of theirs."""
    order = sorted(range(len(fragments)), key=lambda i: fragments[i].middle)
    middles = np.array([fragments[i].middle for i in order])
    support = np.zeros(len(fragments))
    for place, number in enumerate(order):
        this = fragments[number]
        high = int(np.searchsorted(middles, this.middle + _SUPPORTS * this.height))
        low = int(np.searchsorted(middles, this.middle - _SUPPORTS * this.height))
        best: dict[int, float] = {}
        inside: dict[int, int] = {}
        for other_place in range(low, high):
            other = fragments[order[other_place]]
            if other.engine == this.engine or other_place == place:
                continue
            shared = min(this.right, other.right) - max(this.left, other.left)
            if shared <= 0:
                continue
            if (
                shared > _WITHIN * other.width
                and shared < _WITHIN * this.width
                and len(other.text) >= _RUNNING
            ):
                inside[other.engine] = inside.get(other.engine, 0) + 1
            union = max(this.right, other.right) - min(this.left, other.left)
            overlap = shared / union
            if overlap <= best.get(other.engine, 0.0):
                continue
            alike = Indel.normalized_similarity(this.text, other.text)
            value = overlap * (_PLACE_ALONE + (1 - _PLACE_ALONE) * alike)
            best[other.engine] = max(value, best.get(other.engine, 0.0))
        divided = any(count > 1 for count in inside.values())
        support[number] = sum(best.values()) * (_DIVIDED if divided else 1.0)
    return support


def _assign(layout: Layout, lines: Sequence[FoundLine], owner: NDArray[np.int64]) -> None:
    """Give each word that has no line the one that it stands in, or just beyond, or that its neighbour is in."""
    free = np.flatnonzero(owner < 0)
    if not len(free) or not lines:
        return
    order = free[np.argsort(layout.middle[free], kind="stable")]
    middles = layout.middle[order]
    nearest = np.full(len(layout.words), np.inf)
    beyond = np.full(len(layout.words), np.inf)
    at_end = np.full(len(layout.words), -1, dtype=np.int64)
    for number, line in enumerate(lines):
        reach = _BELONGS * line.height
        low, high = np.searchsorted(middles, [line.middle - reach, line.middle + reach])
        rows = order[low:high]
        if not len(rows):
            continue
        left, right = layout.left[rows], layout.right[rows]
        away = np.abs(layout.middle[rows] - line.middle) / line.height
        width = np.maximum(right - left, 1e-9)
        inside = (np.minimum(right, line.right) - np.maximum(left, line.left)) / width >= _INSIDE
        closer = inside & (away < nearest[rows])
        nearest[rows[closer]] = away[closer]
        owner[rows[closer]] = number
        gap = np.maximum(np.maximum(line.left - right, left - line.right), 0.0) / line.height + away
        ends = ~inside & (gap < _BEYOND) & (gap < beyond[rows])
        beyond[rows[ends]] = gap[ends]
        at_end[rows[ends]] = number
    loose = (owner < 0) & (at_end >= 0)
    owner[loose] = at_end[loose]
    _follow_neighbours(layout, lines, owner)


def _follow_neighbours(layout: Layout, lines: Sequence[FoundLine], owner: NDArray[np.int64]) -> None:
    """A word without a line goes where its neighbour of the engine's own line went, if it stands close by."""
    for step in (1, -1):
        rows = np.flatnonzero(owner < 0)
        for row in rows if step == 1 else rows[::-1]:
            other = row - step
            if not 0 <= other < len(owner) or owner[other] < 0 or layout.lines[other] != layout.lines[row]:
                continue
            line = lines[owner[other]]
            gap = max(layout.left[row] - layout.right[other], layout.left[other] - layout.right[row])
            level = abs(layout.middle[row] - line.middle) < _BELONGS * line.height
            if level and gap < _NEXT * layout.usual_height:
                owner[row] = owner[other]


def _left_over(layout: Layout, owner: NDArray[np.int64]) -> list[Fragment]:
    """Fragments of words that stand in no line yet: neighbours of one engine's line stay together."""
    rows = np.flatnonzero(owner < 0)
    if not len(rows):
        return []
    apart = (np.diff(rows) > 1) | (np.diff(layout.lines[rows]) != 0)
    apart |= np.abs(np.diff(layout.middle[rows])) > 0.9 * layout.usual_height
    apart |= np.diff(layout.left[rows]) < -2 * layout.usual_height
    return [make_fragment(layout, part) for part in np.split(rows, np.flatnonzero(apart) + 1)]


def _join_neighbours(
    layout: Layout, lines: Sequence[FoundLine], owner: NDArray[np.int64], pieces: NDArray[np.int64]
) -> None:
    """Make one line of two side by side that most engines there have in one fragment."""
    together: dict[tuple[int, int], set[int]] = {}
    same = np.flatnonzero((np.diff(pieces) == 0) & (np.diff(owner) != 0))
    for row in same:
        first, second = int(owner[row]), int(owner[row + 1])
        if min(first, second) < 0 or layout.left[row + 1] < layout.left[row]:
            continue
        a, b = lines[first], lines[second]
        level = abs(a.middle - b.middle) < _EXCLUDES * (a.height + b.height) / 2
        if level and b.left - a.right < _APART * max(a.height, b.height):
            together.setdefault((first, second), set()).add(int(layout.engines[row]))
    merged: dict[int, int] = {}

    def now(line: int) -> int:
        while line in merged:
            line = merged[line]
        return line

    for pair, engines in sorted(together.items()):
        first, second = now(pair[0]), now(pair[1])
        having = set(layout.engines[(owner == first) | (owner == second)])
        if first == second or 2 * len(engines) <= len(having):
            continue
        a, b = lines[first], lines[second]
        a.left, a.right = min(a.left, b.left), max(a.right, b.right)
        a.support = max(a.support, b.support)
        owner[owner == second] = first
        merged[second] = first


def _in_order(layout: Layout, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """From left to right, pieces of the engine's own lines in its own order; a second reading is left out."""
    pieces = np.split(rows, np.flatnonzero(np.diff(layout.lines[rows])) + 1)
    if len(pieces) == 1:
        return rows
    kept: list[NDArray[np.int64]] = []
    for piece in sorted(pieces, key=lambda piece: -sum(len(layout.words[row].text) for row in piece)):
        left, right = layout.left[piece].min(), layout.right[piece].max()
        covered = sum(
            max(0.0, min(right, layout.right[old].max()) - max(left, layout.left[old].min())) for old in kept
        )
        if covered < _TWICE * max(right - left, 1e-9):
            kept.append(piece)
    kept.sort(key=lambda piece: float(layout.left[piece].min()))
    return np.concatenate(kept)
