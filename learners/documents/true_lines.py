"""Which part of a page's true text is that of each of its lines: `true_lines`.

The words of the true text are placed in the lines by what they say. Where one line ends and the next begins is
then decided anew, over a few words on either side, by the letters of both: one wrong word there would teach that
what all engines agree in is wrong. Lines of which that is not sure are not taught.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from rapidfuzz.distance import Indel, Levenshtein

from galloon.learners.documents.placing import place_words
from galloon.learners.documents.resemblance import letters_of
from galloon.learners.observation import Word

_TRUE = 0.5  # of a line's letters that are in its true text: below it, the two do not belong together
_AROUND = 6  # words on either side of the end of a line that may belong to the other side
_NOBODYS = 0.6  # of its letters: what it costs that a word between two lines is in neither
_STRAY, _STRAY_IF_TIGHT = 2, 8  # letters of a line beyond its true text that make its end unsure


class _Text:
    """The letters of the true text, word by word."""

    def __init__(self, words: Sequence[str]) -> None:
        self.letters = [letters_of([Word(word)]) for word in words]
        self._joined = "".join(self.letters)
        self._starts = [0, *accumulate(map(len, self.letters))]

    def between(self, first: int, last: int) -> str:
        return self._joined[self._starts[first] : self._starts[last]]


def true_lines(lines: Sequence[str], target: str) -> list[str | None]:
    """For each combined line its part of the page's true text, or None where that is not sure."""
    words = target.split()
    text = _Text(words)
    said = [letters_of([Word(word) for word in line.split()]) for line in lines]
    spans = _spans(place_words(said, text.letters), len(lines))
    order = sorted(spans, key=lambda line: spans[line])
    for line, following in pairwise([None, *order, None]):
        _divide(text, said, spans, line, following)
    found: list[str | None] = [None] * len(lines)
    for before, line, after in zip([None, *order], order, [*order[1:], None], strict=False):
        first, last = spans[line]
        alike = Indel.normalized_similarity(said[line], text.between(first, last))
        tight = (
            before is not None and spans[before][1] == first,
            after is not None and spans[after][0] == last,
        )
        if first < last and alike >= _TRUE and _ends_are_sure(said[line], text.between(first, last), tight):
            found[line] = " ".join(words[first:last])
    return found


def _spans(owners: Sequence[int], count: int) -> dict[int, tuple[int, int]]:
    """From which word to which each line reaches; none for a line whose words another's stand among."""
    places: list[list[int]] = [[] for _ in range(count)]
    for place, line in enumerate(owners):
        if line >= 0:
            places[line].append(place)
    return {
        line: (own[0], own[-1] + 1)
        for line, own in enumerate(places)
        if own and all(owners[place] in (line, -1) for place in range(own[0], own[-1]))
    }


def _divide(
    text: _Text,
    said: Sequence[str],
    spans: dict[int, tuple[int, int]],
    line: int | None,
    following: int | None,
) -> None:
    """Where a line ends and the next begins, by the letters of both; at both ends of the text of one alone."""
    end = spans[line][1] if line is not None else 0
    start = spans[following][0] if following is not None else len(text.letters)
    near = start - end <= 2 * _AROUND
    ends: dict[int, float] = {end: 0.0}
    starts: dict[int, float] = {start: 0.0}
    if line is not None:
        first, reach = spans[line][0], (spans[following][1] - 1 if following is not None and near else start)
        for place in range(max(first + 1, end - _AROUND), min(reach, end + _AROUND) + 1):
            ends[place] = Levenshtein.distance(said[line], text.between(first, place))
    if following is not None:
        last, reach = spans[following][1], (spans[line][0] + 1 if line is not None and near else end)
        for place in range(max(reach, start - _AROUND), min(last - 1, start + _AROUND) + 1):
            starts[place] = Levenshtein.distance(said[following], text.between(place, last))
    best = min(
        ((a, b) for a in ends for b in starts if a <= b),
        key=lambda cut: (
            ends[cut[0]] + starts[cut[1]] + _NOBODYS * len(text.between(*cut)) * near,
            cut[1] - cut[0],
        ),
    )
    if line is not None:
        spans[line] = (spans[line][0], best[0])
    if following is not None:
        spans[following] = (best[1], spans[following][1])


def _ends_are_sure(said: str, true: str, tight: tuple[bool, bool]) -> bool:
    """Whether a line says next to nothing beyond its true text; where its neighbour's text begins, little."""
    blocks = Levenshtein.editops(said, true).as_matching_blocks()[:-1]
    if not blocks:
        return False
    first, last = blocks[0], blocks[-1]
    stray = (
        sum(map(str.isalnum, said[: first.a])) - first.b,
        sum(map(str.isalnum, said[last.a + last.size :])) - (len(true) - last.b - last.size),
    )
    return all(
        extra < (_STRAY_IF_TIGHT if beside else _STRAY) for beside, extra in zip(tight, stray, strict=True)
    )
