"""From an engine's strings to `Word`s: a word never holds white space, and its numbers are finite.

`split_text` cuts running text; `spoken_words` takes one entry of an engine, which is nearly always one word;
`boxed_words` the same with a box on a page; `one_word` joins what was written without a blank.
"""

import math

from galloon.clients.formats.source import Source
from galloon.learners.documents.document import Box, word_box
from galloon.learners.observation import Word

# What recognisers write where nothing was said. `<unk>` is not here: a word was said, if an unknown one.
SILENT = frozenset(
    {
        "", "<eps>", "<epsilon>", "!NULL", "*DELETE*", "<s>", "</s>", "!SENT_START", "!SENT_END",
        "!ENTER", "!EXIT", "<sil>", "<SIL>", "!SIL", "SIL", "[SIL]", "++SIL++", "<sp>", "#0",
    }
)  # fmt: skip
FARTHEST = 1e12  # seconds or pixels; beyond it, or not finite, a place is an error of the file


def split_text(text: str, source: Source, line: int | None = None) -> tuple[Word, ...]:
    """The words of running text, without confidences or times."""
    parts = text.split()
    if parts:
        source.count_words(len(parts), line)
        source.check("word_characters", max(map(len, parts)), line)
    return tuple([Word(part) for part in parts])


def spoken_words(
    text: str,
    source: Source,
    *,
    confidence: float | None = None,
    start: float | None = None,
    end: float | None = None,
    top: float | None = None,
    bottom: float | None = None,
    line: int | None = None,
) -> list[Word]:
    """The words of one entry. Where it holds several, they share its confidence and divide its span."""
    parts = text.split()
    if not parts:
        source.note("entry without text left out", line)
        return []
    source.count_words(len(parts), line)
    source.check("word_characters", max(map(len, parts)), line)
    if not (abs(start or 0.0) < FARTHEST and abs(end or 0.0) < FARTHEST):
        source.note("word at an impossible place: its times were left out", line)
        start = end = None
    if start is not None and end is not None and end < start:
        source.note("word that ends before it starts: its times were left out", line)
        start = end = None
    if start is None or end is None or not (0 <= (bottom or 0.0) - (top or 0.0) < FARTHEST > abs(top or 0.0)):
        top = bottom = None
    if len(parts) == 1:
        return [Word(parts[0], confidence, start, end, top, bottom)]
    source.note("entry of several words divided", line)
    if start is None or end is None:
        return [Word(part, confidence) for part in parts]
    words, reached, letters = [], 0, sum(map(len, parts))
    for part in parts:
        begin, reached = reached, reached + len(part)
        span = [start + (end - start) * at / letters for at in (begin, reached)]
        words.append(Word(part, confidence, span[0], span[1], top, bottom))
    return words


def boxed_words(
    text: str, source: Source, box: Box | None, confidence: float | None = None, line: int | None = None
) -> list[Word]:
    """The words of one entry that stands in this box."""
    if box is None:
        return spoken_words(text, source, confidence=confidence, line=line)
    return spoken_words(
        text,
        source,
        confidence=confidence,
        start=box.left,
        end=box.right,
        top=box.top,
        bottom=box.bottom,
        line=line,
    )


def one_word(first: Word, second: Word) -> Word:
    """Two entries that stand together without a blank, such as a word and its comma; as sure as the less sure."""
    known = [word.confidence for word in (first, second) if word.confidence is not None]
    boxes = [word_box(word) for word in (first, second)]
    box = Box.around(box for box in boxes if box is not None) if all(boxes) else None
    sure = min(known, default=None)
    if box is None:
        return Word(first.text + second.text, sure, first.start, second.end)
    return Word(first.text + second.text, sure, box.left, box.right, box.top, box.bottom)


def finite(text: str) -> float | None:
    """The number that a string spells, or None if it spells none (or not a finite one)."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
