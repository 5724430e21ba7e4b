"""Long texts are cut where engines agree: `cut_points`; `pieces` of an utterance, `cut_pages`, `cut_line`.

Aligning a line takes more than its length in work and memory, so nobody aligns an hour of speech at once. From
the beginning on, what engines say next is searched for three words that most of them have once, near enough to
the same place, and all are cut before these. An engine that does not have them is cut where its last words in
common with the others put it. The work grows with the length alone, and repeated texts are no trouble.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from galloon.learners.documents.document import Line, Page
from galloon.learners.documents.matched import MatchedLine
from galloon.learners.observation import ExpertOutput, Utterance
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import Unit

LONGEST = 512  # tokens of an engine in one piece, about
_DIFFERENT = (
    1024  # tokens of all engines in one piece, about: an alignment takes twice so many different ones
)
_FEWEST = 16
_SAME = 3  # words in a row that engines must have in common
_RULE = normalizer("basic")
_LETTERS = 8  # of a word with the blank after it, about
_LONG_LINE = 128  # words of a document's line: short enough for learners whose tokens are characters


def pieces(utterance: Utterance, unit: Unit, longest: int = LONGEST) -> list[Utterance]:
    """The utterance, or what it is cut into: the first under its id, the others under `id+2`, `id+3` and so on.

    Of a line that is cut only the best words are left: lattices and other hypotheses cannot be cut.
    """
    outputs = utterance.outputs
    size = max(
        _FEWEST, min(longest if unit.whole_words else longest // _LETTERS, _DIFFERENT // max(1, len(outputs)))
    )
    if max((len(output.words) for output in outputs), default=0) <= 2 * size:
        return [utterance]
    cuts = cut_points([[word.text for word in output.words] for output in outputs], size)
    return [
        replace(
            utterance,
            id=utterance.id if number == 1 else f"{utterance.id}+{number}",
            target=None,
            said=tuple(
                ExpertOutput(output.name, output.words[first:last], output.confidence)
                for output, first, last in zip(outputs, low, high, strict=True)
            ),
        )
        for number, (low, high) in enumerate(pairwise(cuts), 1)
    ]


def cut_pages(pages: Mapping[str, Page]) -> list[dict[str, Page]]:
    """Parts of a long page of engines without boxes: a book, or an hour of speech, as plain text."""
    said = {
        engine: [word.text for line in page.lines for word in line.words] for engine, page in pages.items()
    }
    longest = max((len(line.words) for page in pages.values() for line in page.lines), default=0)
    size = LONGEST if longest <= 2 * _LONG_LINE else _LONG_LINE
    if max(map(len, said.values()), default=0) <= 2 * size:
        return [dict(pages)]
    cuts = cut_points(list(said.values()), size)
    parts = {
        engine: _parts(page, [cut[place] for cut in cuts])
        for place, (engine, page) in enumerate(pages.items())
    }
    return [{engine: next(part) for engine, part in parts.items()} for _ in cuts[1:]]


def cut_recording(pages: Mapping[str, Page], seconds: float = 600.0) -> list[dict[str, Page]]:
    """Parts of a recording of about so many seconds each, cut where the fewest engines hear a word."""
    spans = {
        engine: sorted((start, end) for line in page.lines for start, end in _times(line))
        for engine, page in pages.items()
    }
    last = max((end for times in spans.values() for _, end in times), default=0.0)
    cuts: list[float] = []
    while last - (cuts[-1] if cuts else 0.0) > 1.5 * seconds:
        wanted = (cuts[-1] if cuts else 0.0) + seconds
        near = [
            end
            for times in spans.values()
            for _, end in times[
                bisect(times, (wanted - seconds / 4,)) : bisect(times, (wanted + seconds / 4,))
            ]
        ]
        cuts.append(min(near or [wanted], key=lambda at: (_covered(spans, at), abs(at - wanted))))
    bounds = [float("-inf"), *cuts, float("inf")]
    return [
        {engine: _between(page, low, high) for engine, page in pages.items()}
        for low, high in pairwise(bounds)
    ]


def _times(line: Line) -> list[tuple[float, float]]:
    """When the words of a line were said, as far as that is known; else when the line was."""
    known = [(w.start, w.end) for w in line.words if w.start is not None and w.end is not None]
    if not known and line.start is not None and line.end is not None:
        return [(line.start, line.end)]
    return known


def _covered(spans: Mapping[str, list[tuple[float, float]]], at: float) -> int:
    """How many engines hear a word at this time."""
    return sum(
        any(start < at < end for start, end in times[max(0, bisect(times, (at,)) - 4) : bisect(times, (at,))])
        for times in spans.values()
    )


def _between(page: Page, low: float, high: float) -> Page:
    """What was said between two times; a line that reaches over one is cut between words."""
    lines, at = [], float("-inf")  # words without a time of their own follow those before them
    for line in page.lines:
        inside = []
        for word in line.words:
            times = [time for time in (word.start, word.end) if time is not None]
            times = times or [time for time in (line.start, line.end) if time is not None]
            at = sum(times) / len(times) if times else at
            inside.append(low <= at < high)
        words = tuple(word for word, kept in zip(line.words, inside, strict=True) if kept)
        if words:
            lines.append(replace(line, words=words, continues=not inside[0]))
    return replace(page, lines=tuple(lines))


def _parts(page: Page, bounds: Sequence[int]) -> Iterator[Page]:
    """The page cut before these of its words."""
    starts, reached = [], 0
    for line in page.lines:
        starts.append(reached)
        reached += len(line.words)
    first = 0
    for low, high in pairwise(bounds):
        lines: list[Line] = []
        while first < len(page.lines) and starts[first] + len(page.lines[first].words) <= low:
            first += 1
        for number in range(first, len(page.lines)):
            line, start = page.lines[number], starts[number]
            if start >= high:
                break
            words = line.words[max(0, low - start) : high - start]
            if words:
                lines.append(replace(line, words=words, continues=line.continues or start < low))
        yield replace(page, lines=tuple(lines))


def cut_line(line: MatchedLine) -> list[MatchedLine]:
    """The line, or what it is cut into if it is too long for a learner."""
    if max(map(len, line.said.values()), default=0) <= 2 * _LONG_LINE:
        return [line]
    cuts = cut_points([[word.text for word in words] for words in line.said.values()], _LONG_LINE)
    found: list[MatchedLine] = []
    for low, high in pairwise(cuts):
        spans = dict(zip(line.said, zip(low, high, strict=True), strict=True))
        found.append(
            replace(
                line,
                said={
                    e: words[slice(*spans[e])] for e, words in line.said.items() if spans[e][0] < spans[e][1]
                },
                places={e: boxes[slice(*spans[e])] for e, boxes in line.places.items()},
                continues=line.continues or bool(found),
            )
        )
    return found


def cut_points(texts: Sequence[Sequence[str]], size: int) -> list[tuple[int, ...]]:
    """Where each text is cut, beginning and end included; between two cuts are at most 2 x size words of each."""
    said = [["".join(_RULE.split_word(word)) for word in words] for words in texts]
    cuts = [(0,) * len(said)]
    while max(len(words) - at for words, at in zip(said, cuts[-1], strict=True)) > 2 * size:
        cuts.append(_next_cut(said, cuts[-1], size))
    return [*cuts, tuple(map(len, said))]


def _next_cut(said: Sequence[Sequence[str]], at: tuple[int, ...], size: int) -> tuple[int, ...]:
    windows = [words[first : first + 2 * size] for words, first in zip(said, at, strict=True)]
    once = [_once(window) for window in windows]
    leader = max(range(len(said)), key=lambda e: (sum(len(once[e].keys() & o.keys()) for o in once), -e))
    best, anchor = (0, 0), None
    for words, place in once[leader].items():
        if size // 2 <= place <= size:
            near = [words in found and abs(found[words] - place) <= size // 2 for found in once]
            if sum(near) > 1:
                best, anchor = max((best, anchor), ((sum(near), place), words), key=lambda pair: pair[0])
    if anchor is None:  # nobody agrees with anybody: as far on as each has words left
        left = [len(words) - first for words, first in zip(said, at, strict=True)]
        return tuple(first + min(size, size * own // max(left)) for first, own in zip(at, left, strict=True))
    here = best[1]
    places = (
        here if engine == leader else _place(once[leader], found, anchor, here, size)
        for engine, found in enumerate(once)
    )
    return tuple(
        first + min(place, len(window)) for first, place, window in zip(at, places, windows, strict=True)
    )


def _once(window: Sequence[str]) -> dict[tuple[str, ...], int]:
    """The places of all words in a row that come once."""
    rows = [tuple(window[place : place + _SAME]) for place in range(len(window) - _SAME + 1)]
    counts = Counter(rows)
    return {row: place for place, row in enumerate(rows) if counts[row] == 1}


def _place(
    leading: dict[tuple[str, ...], int],
    own: dict[tuple[str, ...], int],
    anchor: tuple[str, ...],
    here: int,
    size: int,
) -> int:
    """Where an engine is when the leader is here: at the anchor, or as far on from the last words in common."""
    if anchor in own and abs(own[anchor] - here) <= size // 2:
        return own[anchor]
    common = [(place, own[words]) for words, place in leading.items() if words in own and place <= here]
    if not common:
        return here
    theirs, mine = max(common)
    return min(mine + here - theirs, 2 * size)
