"""Where the words of an engine without boxes belong: `place_words`, by what they say.

Each known line is looked up in the engine's letters: runs of four letters that both have vote for a place, and
the best place is aligned in part. The best places win, none overlapping another, in whatever order the engine
read. What lies between two places goes to lines between them that found none, or to the one that lacks it; what
then is left belongs to no line. The work grows with the text, not with its square: a run of letters that is
everywhere says nothing and is not followed.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

_SEED = 4
_FREQUENT = 24  # places of a run of letters beyond which it is not followed
_SLACK = 12  # letters before and after the place that seeds point to
_ALIKE, _FAINTLY = 55.0, 45.0  # of 100
_SHORTEST = 4  # letters of a line that is looked up
_LONGEST = 20_000  # letters of what is aligned in one piece


@dataclass(frozen=True, slots=True)
class _Found:
    """A line and the letters of the engine that say it."""

    line: int
    start: int
    end: int
    worth: float


def place_words(lines: Sequence[str], words: Sequence[str]) -> list[int]:
    """For each word the number of its line, or -1. Lines and words come as bare letters."""
    ends = list(accumulate(map(len, words)))
    letters = "".join(words)
    chosen = _without_overlap(_lookups(lines, letters))
    owner = [-1] * len(letters)
    for found in chosen:
        owner[found.start : found.end] = [found.line] * (found.end - found.start)
    borders = [_Found(-1, 0, 0, 0.0), *chosen, _Found(len(lines), len(letters), len(letters), 0.0)]
    placed = {found.line for found in chosen}
    for before, after in pairwise(borders):
        _fill(lines, letters, owner, before, after, placed)
    return [_majority(owner[end - len(word) : end]) for end, word in zip(ends, words, strict=True)]


def _lookups(lines: Sequence[str], letters: str) -> list[_Found]:
    index: dict[str, list[int]] = defaultdict(list)
    for at in range(len(letters) - _SEED + 1):
        index[letters[at : at + _SEED]].append(at)
    found = []
    for number, line in enumerate(lines):
        if len(line) >= _SHORTEST:
            found += _look_up(number, line, letters, index)
    return found


def _look_up(number: int, line: str, letters: str, index: dict[str, list[int]]) -> list[_Found]:
    votes: Counter[int] = Counter()
    for at in range(len(line) - _SEED + 1):
        places = index.get(line[at : at + _SEED], ())
        if len(places) <= _FREQUENT:
            votes.update((place - at) // _SLACK for place in places)
    found = []
    for bin_number, _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))[:3]:
        start = max(0, bin_number * _SLACK - _SLACK)
        window = letters[start : bin_number * _SLACK + len(line) + 2 * _SLACK]
        if len(window) < _SHORTEST:
            continue
        if len(window) < len(line):
            alike = fuzz.ratio(line, window)
            low, high = 0, len(window)
        else:
            aligned = fuzz.partial_ratio_alignment(line, window, score_cutoff=_ALIKE)
            if aligned is None:
                continue
            alike, low, high = aligned.score, aligned.dest_start, aligned.dest_end
        if alike >= _ALIKE and high > low:
            found.append(_Found(number, start + low, start + high, alike * len(line)))
    return found


def _without_overlap(found: Sequence[_Found]) -> list[_Found]:
    """The worthiest first, each line once, cut back by a few letters where it touches another."""
    kept: list[_Found] = []
    lines: set[int] = set()
    taken: list[_Found | None] = [None] * (max((entry.end for entry in found), default=0) + 1)
    for entry in sorted(found, key=lambda entry: (-entry.worth, entry.line, entry.start)):
        if entry.line in lines:
            continue
        start, end = entry.start, entry.end
        while start < end and taken[start] is not None:
            start += 1
        while end > start and taken[end - 1] is not None:
            end -= 1
        if end - start < 0.7 * (entry.end - entry.start) or any(taken[start:end]):
            continue
        cut = _Found(entry.line, start, end, entry.worth)
        taken[start:end] = [cut] * (end - start)
        kept.append(cut)
        lines.add(entry.line)
    return sorted(kept, key=lambda entry: entry.start)


def _fill(
    lines: Sequence[str], letters: str, owner: list[int], before: _Found, after: _Found, placed: set[int]
) -> None:
    """Give what lies between two places to the lines between them, and to these two where they lack it."""
    low, high = before.end, after.start
    gap = letters[low:high]
    wanted = [(n, lines[n]) for n in range(before.line + 1, after.line) if n not in placed]
    if before.line >= 0:
        lacking = max(0, len(lines[before.line]) - (before.end - before.start))
        wanted.insert(0, (before.line, lines[before.line][len(lines[before.line]) - lacking :]))
    if after.line < len(lines):
        lacking = max(0, len(lines[after.line]) - (after.end - after.start))
        wanted.append((after.line, lines[after.line][:lacking]))
    expected = "".join(text for _, text in wanted)
    if not gap or not expected or len(gap) + len(expected) > _LONGEST:
        return
    numbers = [number for number, text in wanted for _ in text]
    aligned: dict[int, list[int]] = defaultdict(list)
    for code in Levenshtein.opcodes(expected, gap):
        if code.tag in {"equal", "replace"}:
            for step in range(code.dest_end - code.dest_start):
                source = min(code.src_start + step, code.src_end - 1)
                aligned[numbers[source]].append(low + code.dest_start + step)
    for number, places in aligned.items():
        text = next(text for n, text in wanted if n == number)
        said = letters[min(places) : max(places) + 1]
        if number in placed or fuzz.ratio(text, said) >= _FAINTLY:
            for place in range(min(places), max(places) + 1):
                owner[place] = number


def _majority(owners: Sequence[int]) -> int:
    return Counter(owners).most_common(1)[0][0] if owners else -1
