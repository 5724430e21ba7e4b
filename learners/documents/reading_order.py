"""The order in which the lines of a page are read: `reading_order` picks the one that most speaks for.

Candidates are the order of each engine that has half of the lines, the columns that the free strips of the page
show, and the rows. Every engine votes with the pairs of lines that follow each other in its own reading, by how
much of the page it has and how well it agrees with the others; the columns vote like two engines. A candidate is
cut down to the lines that a voter has before it is compared, so that a block which a voter skips does no harm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_GEOMETRY = 2.0  # engines' worth of votes
_ZIGZAG = 0.25  # what is left of the vote of an engine that reads across columns
_ACROSS = 0.2  # of its steps go sideways: then it does
_NARROW, _SHORT = (
    0.4,
    0.7,
)  # of the text's width, and of its lines': a note in the margin, read after the text
_COVERS = 0.5
_AMONG, _BESIDE = 6, 4  # lines above and below; at least so many on either side of a strip


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a line stands on the upright page."""

    left: float
    right: float
    middle: float
    height: float
    letters: int = 1


@dataclass(frozen=True, slots=True)
class Voter:
    """An engine's own order of the lines that it has, and how far it is to be believed."""

    order: tuple[int, ...]
    weight: float


def reading_order(
    lines: Sequence[Placed], voters: Mapping[str, Voter], follow: str | None = None
) -> list[int]:
    """Numbers of the lines in reading order; `follow` names a voter whose order is taken as it is."""
    if follow is not None:
        return with_missing(lines, voters[follow].order)
    everything = list(range(len(lines)))
    ballots: list[tuple[list[int], float]] = []
    candidates = [_rows(lines, everything)]
    for voter in voters.values():
        if len(voter.order) < 2:
            continue
        weight = voter.weight * (_ZIGZAG if _zigzags(lines, voter.order) else 1.0)
        ballots.append((list(voter.order), weight * len(voter.order) / max(1, len(lines))))
        if len(voter.order) >= _COVERS * len(lines):
            candidates.append(with_missing(lines, voter.order))

    def support(order: Sequence[int]) -> float:
        return sum(weight * _kept(order, said) for said, weight in ballots)

    # A row of several lines that stands off may be a head of the page, or a heading over each of the columns.
    columns = max((_columns(lines, everything, heads=heads) for heads in (True, False)), key=support)
    ballots.append((columns, _GEOMETRY))
    return _notes_last(lines, max((columns, *candidates), key=support))


def _notes_last(lines: Sequence[Placed], order: Sequence[int]) -> list[int]:
    """The order with notes in the margin after the text that they stand beside: engines read them anywhere."""
    block = _widest_block(lines, _rows(lines, order))
    if block is None:
        return list(order)
    first, last, strip = block
    beside = set(_rows(lines, order)[first:last])
    left = [number for number in order if number in beside and lines[number].right <= strip]
    right = [number for number in order if number in beside and lines[number].right > strip]
    for notes, text in ((left, right), (right, left)):
        if _is_margin(lines, notes, text):
            others = [number for number in order if number not in set(notes)]
            place = max(others.index(number) for number in text) + 1
            return [*others[:place], *notes, *others[place:]]
    return list(order)


def with_missing(lines: Sequence[Placed], order: Sequence[int]) -> list[int]:
    """The order, with each line that it lacks below the line above it in its column."""
    done = list(order)
    there = set(done)
    for number in sorted(set(range(len(lines))) - there, key=lambda i: lines[i].middle):
        above = [other for other in done if _is_above(lines[other], lines[number])]
        if above:
            nearest = max(above, key=lambda other: lines[other].middle)
            done.insert(done.index(nearest) + 1, number)
            continue
        below = [other for other in done if _is_above(lines[number], lines[other])]
        nearest_below = min(below, key=lambda other: lines[other].middle, default=None)
        done.insert(0 if nearest_below is None else done.index(nearest_below), number)
    return done


def _is_above(first: Placed, second: Placed) -> bool:
    shared = min(first.right, second.right) - max(first.left, second.left)
    return first.middle < second.middle and shared > 0.3 * min(
        first.right - first.left, second.right - second.left
    )


def _kept(order: Sequence[int], said: Sequence[int]) -> float:
    """Which share of a voter's steps the order keeps, both cut down to the voter's lines."""
    own = set(said)
    cut = [number for number in order if number in own]
    following = dict(pairwise(cut))
    steps = list(pairwise(said))
    return sum(following.get(a) == b for a, b in steps) / max(1, len(steps))


def _zigzags(lines: Sequence[Placed], order: Sequence[int]) -> bool:
    steps = list(pairwise(order))
    sideways = sum(
        abs(lines[a].middle - lines[b].middle) < 0.5 * lines[a].height
        and min(lines[a].letters, lines[b].letters) > 5
        for a, b in steps
    )
    return sideways > _ACROSS * max(1, len(steps))


def _rows(lines: Sequence[Placed], numbers: Sequence[int]) -> list[int]:
    """From top to bottom; what stands side by side from left to right."""
    ordered: list[int] = []
    row: list[int] = []
    for number in sorted(numbers, key=lambda i: lines[i].middle):
        if row and lines[number].middle - lines[row[0]].middle > 0.5 * lines[row[0]].height:
            ordered += sorted(row, key=lambda i: lines[i].left)
            row = []
        row.append(number)
    return ordered + sorted(row, key=lambda i: lines[i].left)


def _columns(lines: Sequence[Placed], numbers: Sequence[int], *, heads: bool) -> list[int]:
    """Rows, but where a block of them has a free strip down its middle, first what is left of it.

    heads: rows of several lines at the ends of a block that stand off are no part of it.
    """
    rows = _rows(lines, numbers)
    block = _widest_block(lines, rows, heads=heads)
    if block is None:
        return rows
    first, last, strip = block
    left = [number for number in rows[first:last] if lines[number].right <= strip]
    right = [number for number in rows[first:last] if lines[number].right > strip]
    if _is_margin(lines, left, right):
        left, right = right, left
    above, below = rows[:first], rows[last:]
    return [
        *_columns(lines, above, heads=heads),
        *_columns(lines, left, heads=heads),
        *_columns(lines, right, heads=heads),
        *_columns(lines, below, heads=heads),
    ]


def _is_margin(lines: Sequence[Placed], first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether the first column is a narrow one beside the text, whose notes are read after it.

    The first of four columns is narrow beside the other three, and as wide as each of them.
    """
    width = [
        max(lines[i].right for i in column) - min(lines[i].left for i in column) for column in (first, second)
    ]
    widths = sorted(lines[i].right - lines[i].left for i in second)
    usual = widths[(3 * len(widths)) // 4] if widths else 0.0
    return width[0] < min(_NARROW * width[1], _SHORT * usual)


def _widest_block(
    lines: Sequence[Placed], rows: Sequence[int], *, heads: bool = True
) -> tuple[int, int, float] | None:
    """The longest run of rows with text on both sides of a free strip, and where the strip is."""
    best: tuple[int, int, float] | None = None
    most = 0
    strips = sorted({lines[number].right for number in rows})
    lefts = sorted({lines[number].left for number in rows})
    tried = set()
    for edge in strips:
        start = next((left for left in lefts if left >= edge), None)
        if start is None:
            continue
        strip = (edge + start) / 2
        if round(strip) in tried:
            continue
        tried.add(round(strip))
        for first, last in _runs(lines, rows, strip):
            found = _trimmed(lines, rows, first, last, strip, heads=heads)
            if found is not None and found[1] - found[0] > most:
                best, most = (*found, strip), found[1] - found[0]
    return best


def _end_rows(run: Sequence[Placed]) -> tuple[int, int]:
    """How many lines stand side by side in the first row and in the last: two in a head or a foot of two parts."""
    first = sum(line.middle - run[0].middle < 0.6 * run[0].height for line in run)
    last = sum(run[-1].middle - line.middle < 0.6 * run[-1].height for line in run)
    return first, last


def _runs(lines: Sequence[Placed], rows: Sequence[int], strip: float) -> list[tuple[int, int]]:
    runs, first = [], 0
    across = [lines[number].left < strip < lines[number].right for number in rows]
    for place, crosses in enumerate(across):
        if crosses and not _is_joined_row(lines, rows, across, place, strip):
            runs.append((first, place))
            first = place + 1
    runs.append((first, len(rows)))
    return [(a, b) for a, b in runs if b - a >= 4]


def _is_joined_row(
    lines: Sequence[Placed], rows: Sequence[int], across: Sequence[bool], place: int, strip: float
) -> bool:
    """Whether a line over the strip is a row of two columns that some engine read as one, and not a heading.

    It stands among rows that leave the strip free, as close to its neighbours as they are to each other, and has
    half of either column at least.
    """
    if place < _AMONG or place + _AMONG >= len(rows) or sum(across[place - _AMONG : place + _AMONG + 1]) > 1:
        return False
    around = [lines[number] for number in rows[place - _AMONG : place + _AMONG + 1]]
    line = around[_AMONG]
    left = sorted(other.left for other in around if other.right <= strip)
    right = sorted(other.right for other in around if other.left >= strip)
    if min(len(left), len(right)) < _BESIDE:
        return False
    middles = ((left[len(left) // 2] + strip) / 2, (right[len(right) // 2] + strip) / 2)  # of both columns
    wide = line.left < middles[0] and line.right > middles[1]
    steps = sorted(
        low.middle - high.middle
        for high, low in pairwise(around)
        if low.middle - high.middle > 0.5 * line.height
    )
    away = max(abs(line.middle - around[_AMONG + way].middle) for way in (-1, 1))
    return wide and bool(steps) and away < 1.25 * steps[len(steps) // 2]


def _pitch(*sides: Sequence[Placed]) -> float:
    """How far rows are apart; on one side there may be several columns."""
    steps = sorted(
        low.middle - high.middle
        for side in sides
        for high, low in pairwise(side)
        if low.middle - high.middle > 0.5 * high.height
    )
    return steps[len(steps) // 2] if steps else 0.0


def _trimmed(
    lines: Sequence[Placed], rows: Sequence[int], first: int, last: int, strip: float, *, heads: bool
) -> tuple[int, int] | None:
    """The run without lines at its ends that stand far off, if two lines or more stand on either side.

    heads: rows of several such lines go too.
    """
    while last - first >= 4:
        run = [lines[number] for number in rows[first:last]]
        left = [line for line in run if line.right <= strip]
        right = [line for line in run if line.right > strip]
        if min(len(left), len(right)) < 2:
            return None
        far = 1.8 * _pitch(left, right)
        low, high = (
            max(side[0].middle for side in (left, right)),
            min(side[-1].middle for side in (left, right)),
        )
        if high <= low:
            return None
        head, foot = _end_rows(run) if heads else (0, 0)
        if 2 <= head < len(run) and run[head].middle - run[0].middle > far:
            first += head
            continue
        if 2 <= foot < len(run) and run[-1].middle - run[-1 - foot].middle > far:
            last -= foot
            continue
        if run[0].middle < low and run[1].middle - run[0].middle > far:
            first += 1
        elif run[-1].middle > high and run[-1].middle - run[-2].middle > far:
            last -= 1
        else:
            return first, last
    return None
