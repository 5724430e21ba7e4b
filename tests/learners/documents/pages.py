"""Pages and recordings made up for tests: what an engine would say of lines of text at known places."""

from dataclasses import replace

from galloon.learners.documents.document import Box, Line, Page
from galloon.learners.observation import Word

LETTER, HEIGHT, PITCH = 10.0, 20.0, 34.0
LEFT, TOP = 100.0, 120.0
TEXT = (
    "Call me Ishmael. Some years ago, never mind how long precisely,",
    "having little or no money in my purse, and nothing particular",
    "to interest me on shore, I thought I would sail about a little",
    "and see the watery part of the world. It is a way I have of",
    "driving off the spleen and regulating the circulation. Whenever",
    "I find myself growing grim about the mouth; whenever it is a",
    "damp, drizzly November in my soul; whenever I find myself",
    "involuntarily pausing before coffin warehouses, and bringing up",
    "the rear of every funeral I meet; and especially whenever my",
    "hypos get such an upper hand of me, that it requires a strong",
)
OTHER = (
    "The ostensible reason why Ahab did not go on board of the whaler",
    "we had spoken was this: the wind and sea betokened storms. But",
    "even had this not been the case, he would not after all, perhaps,",
    "have boarded her, judging by his subsequent conduct on similar",
    "occasions, if so it had been that, by the process of hailing,",
    "he had obtained a negative answer to the question he put. For,",
    "as it eventually turned out, he cared not to consort, even for",
)


def line(text: str, left: float, top: float, number: int = 0, slope: float = 0.0) -> Line:
    words, at = [], left
    for word in text.split():
        end = at + LETTER * len(word)
        shift = top + slope * (at + end) / 2
        words.append(Word(word, 0.9, at, end, shift, shift + HEIGHT))
        at = end + LETTER
    return Line(f"l{number}", tuple(words), Box(left, words[0].top, at - LETTER, words[-1].bottom))


def page(texts=TEXT, left: float = LEFT, slope: float = 0.0) -> Page:
    lines = [line(text, left, TOP + PITCH * number, number, slope) for number, text in enumerate(texts)]
    return Page(tuple(lines), 1000.0, 1400.0)


def columns(left=TEXT[:5], right=TEXT[5:], order: str = "columns") -> Page:
    """Two columns; `order` is columns, swapped, rows, or across (each row read as one line)."""
    first = [line(text, LEFT, TOP + PITCH * n, n) for n, text in enumerate(left)]
    second = [line(text, LEFT + 750, TOP + PITCH * n, n + len(left)) for n, text in enumerate(right)]
    rows = list(zip(first, second, strict=True))
    match order:
        case "columns":
            lines = first + second
        case "swapped":
            lines = second + first
        case "rows":
            lines = [entry for row in rows for entry in row]
        case _:
            lines = [replace(a, words=a.words + b.words, box=Box.around([a.box, b.box])) for a, b in rows]
    return Page(tuple(lines), 1600.0, 1400.0)


def without_places(given: Page) -> Page:
    lines = tuple(Line(old.id, tuple(Word(word.text) for word in old.words)) for old in given.lines)
    return Page(lines)


def recording(segments, pause: float = 0.6) -> Page:
    """A recogniser's segments, words of a third of a second each."""
    lines, at = [], 0.0
    for number, text in enumerate(segments):
        start, words = at, []
        for word in text.split():
            words.append(Word(word, None, at, at + 0.3))
            at += 0.33
        lines.append(Line(str(number), tuple(words), start=start, end=at))
        at += pause
    return Page(tuple(lines), timed=True)


def texts(matched, engine: str | None = None) -> list[str]:
    """What an engine says in each matched line; without one, what the first of them does."""
    return [
        " ".join(
            word.text for word in (entry.said.get(engine, ()) if engine else next(iter(entry.said.values())))
        )
        for entry in matched.lines
    ]
