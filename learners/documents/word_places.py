"""Where combined words stand and when they were said: `word_places`.

The letters of the chosen words are aligned with those of the engine that comes closest and gives places. A word
that this engine has as it is gets its box; another gets the part of the line that its letters fall on; one that
falls on nothing stands between its neighbours. So a text without boxes takes those of another engine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel, Levenshtein

from galloon.learners.documents.document import Box
from galloon.learners.documents.matched import MatchedLine
from galloon.learners.observation import Word


@dataclass(frozen=True, slots=True)
class WordPlace:
    """Where a word stands, on pages; when it was said, in recordings."""

    box: Box | None = None
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class _Span:
    """From where to where a word reaches along its line, and across it."""

    start: float
    end: float
    top: float = 0.0
    bottom: float = 0.0


NOWHERE = WordPlace()


def word_places(line: MatchedLine, words: Sequence[str]) -> list[WordPlace]:
    """The places of the words that were chosen for a line, as far as engines give places."""
    if line.places:
        boxes = {engine: [_of_box(box) for box in places] for engine, places in line.places.items()}
        spans = _best_spans(words, line.said, boxes)
        return [
            WordPlace(Box(span.start, span.top, span.end, span.bottom)) if span else NOWHERE for span in spans
        ]
    if line.start is None:
        return [NOWHERE] * len(words)
    times = {
        engine: [
            _Span(word.start, word.end) for word in said if word.start is not None and word.end is not None
        ]
        for engine, said in line.said.items()
    }
    whole = {engine: spans for engine, spans in times.items() if len(spans) == len(line.said[engine])}
    spans = _best_spans(words, line.said, whole)
    return [WordPlace(start=span.start, end=span.end) if span else NOWHERE for span in spans]


def _of_box(box: Box) -> _Span:
    return _Span(box.left, box.right, box.top, box.bottom)


def _best_spans(
    words: Sequence[str], said: Mapping[str, Sequence[Word]], places: Mapping[str, Sequence[_Span]]
) -> list[_Span | None]:
    """The places of the words by the engine, of those that give places, whose letters come closest."""
    chosen = "".join(words)
    if not chosen or not places:
        return [None] * len(words)

    def closeness(engine: str) -> float:
        return Indel.normalized_similarity(chosen, "".join(word.text for word in said[engine]))

    best = max(places, key=closeness)
    return _spans(words, [word.text for word in said[best]], places[best])


def _spans(words: Sequence[str], theirs: Sequence[str], places: Sequence[_Span]) -> list[_Span | None]:
    letters: list[_Span] = []
    for text, place in zip(theirs, places, strict=True):
        step = (place.end - place.start) / max(1, len(text))
        letters += [
            _Span(place.start + n * step, place.start + (n + 1) * step, place.top, place.bottom)
            for n in range(len(text))
        ]
    source: list[int | None] = [None] * sum(map(len, words))
    for code in Levenshtein.opcodes("".join(words), "".join(theirs)):
        size = code.dest_end - code.dest_start
        for step in range(code.src_end - code.src_start):
            if size:
                source[code.src_start + step] = code.dest_start + min(step, size - 1)
    found: list[_Span | None] = []
    reached = 0
    for word in words:
        hit = [letters[at] for at in source[reached : reached + len(word)] if at is not None]
        reached += len(word)
        found.append(
            _Span(
                min(s.start for s in hit),
                max(s.end for s in hit),
                min(s.top for s in hit),
                max(s.bottom for s in hit),
            )
            if hit
            else None
        )
    return _between(found)


def _between(found: list[_Span | None]) -> list[_Span | None]:
    """Words that fall on nothing share what is free between their neighbours."""
    known = [span for span in found if span is not None]
    if not known:
        return found
    filled = list(found)
    for place, span in enumerate(found):
        if span is None:
            before = next((filled[n] for n in range(place - 1, -1, -1) if filled[n]), None)
            after = next((found[n] for n in range(place + 1, len(found)) if found[n]), None)
            start = before.end if before else (after or known[0]).start
            end = after.start if after else start
            near = before or after or known[0]
            filled[place] = _Span(start, max(start, end), near.top, near.bottom)
    return filled
