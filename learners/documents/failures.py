"""Engines that have nothing to say on a page, and those that speak of another one: `sift`.

An engine with no text is absent. So is one that wrote noise: marks and bits of words that share nothing with what
the others say. One that wrote text, but not that of any other, has read another document: that is an error of
whoever brought the files together, and `Unmatchable` says which one. Loops of a phrase are cut to one first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from galloon.learners.documents.document import Line, Page
from galloon.learners.documents.matched import Unmatchable
from galloon.learners.documents.resemblance import LetterModel, bag, contained, letters_of
from galloon.learners.observation import Word

# Of an engine's runs of eight letters, in the text of another or the other way round. Other pages of the same book
# share up to 0.065, poor readings of the same page from 0.1 on.
_FITS = 0.09
_FEWEST = 40  # letters below which nobody is judged
_LITTLE = 0.15  # of what others wrote: too little to say that it is another document
_UNSURE = 0.7  # mean confidence of an engine's own words
_REGULAR = -3.0  # nats a letter, by the trigrams of its own other words: real text is above
_LOOP_WORDS, _LOOP_TIMES = 8, 5


@dataclass(frozen=True, slots=True)
class Sifted:
    """The engines that speak of this page, and those that do not, with the reason."""

    pages: dict[str, Page]
    absent: dict[str, str]
    notes: tuple[str, ...]


def sift(pages: Mapping[str, Page]) -> Sifted:
    """Set engines that failed aside; raise `Unmatchable` if one speaks of another document."""
    absent: dict[str, str] = {}
    notes: list[str] = []
    kept: dict[str, Page] = {}
    for engine, page in pages.items():
        # Words at places of their own are no loop: a column of a table says the same in every row.
        shorter, loops = (page, 0) if page.has_boxes else without_loops(page)
        if loops:
            notes.append(f"{engine} repeats a phrase {loops} times: kept once")
        if shorter.word_count:
            kept[engine] = shorter
        else:
            absent[engine] = "found no text"
    rule = "basic-speech" if any(page.timed for page in kept.values()) else "basic"
    letters = {
        engine: "".join(letters_of(line.words, rule) for line in page.lines) for engine, page in kept.items()
    }
    for engine in _strangers(letters):
        if _is_noise(kept[engine]) or len(letters[engine]) < _LITTLE * max(map(len, letters.values())):
            absent[engine] = "what it found has nothing in common with the others"
            del kept[engine]
    fluent = [engine for engine in _strangers(letters) if engine in kept]
    if fluent and len(kept) > 1:
        others = [engine for engine in kept if engine != fluent[0]]
        why = f"next to nothing of its text is in what {' or '.join(others)} wrote"
        raise Unmatchable(fluent[0], f"{why}: is it of another document?")
    return Sifted(kept, absent, tuple(notes))


def _strangers(letters: Mapping[str, str]) -> list[str]:
    """Engines whose text is not that of any other one."""
    bags = {engine: bag(text) for engine, text in letters.items() if len(text) >= _FEWEST}
    found = []
    for engine, own in bags.items():
        others = [bags[other] for other in bags if other != engine]
        if others and all(max(contained(own, bag_), contained(bag_, own)) < _FITS for bag_ in others):
            found.append(engine)
    return found


def _is_noise(page: Page) -> bool:
    """Marks and bits of words, words that their own engine doubts, or letters without any rule."""
    words = [word for line in page.lines for word in line.words]
    long = [word.text for word in words if len(word.text) > 2]
    plain = sum(len(text) for text in long if sum(map(str.isalpha, text)) * 4 > 3 * len(text))
    if plain < 0.5 * sum(len(word.text) for word in words):
        return True
    sure = [word.confidence for word in words if word.confidence is not None]
    if len(sure) * 2 > len(words) and sum(sure) < _UNSURE * len(sure):
        return True
    spelled = [letters_of([word]) for word in words]
    return LetterModel(["\n\n".join(spelled[::2])]).score("\n\n".join(spelled[1::2])) < _REGULAR


def without_loops(page: Page) -> tuple[Page, int]:
    """The page with each phrase that is repeated over and over kept once, and how many repetitions there were."""
    words = [(number, word) for number, line in enumerate(page.lines) for word in line.words]
    texts = [word.text.lower().strip(".,!?;:") for _, word in words]
    kept: list[int] = []
    at = worst = 0
    while at < len(texts):
        size, times = _loop_at(texts, at)
        kept += range(at, at + max(size, 1))
        at += size * times if size else 1
        worst = max(worst, times)
    if len(kept) == len(words):
        return page, 0
    left: dict[int, list[Word]] = {}
    for place in kept:
        number, word = words[place]
        left.setdefault(number, []).append(word)
    lines: list[Line] = [replace(page.lines[number], words=tuple(found)) for number, found in left.items()]
    return replace(page, lines=tuple(lines)), worst


def _loop_at(texts: list[str], at: int) -> tuple[int, int]:
    """Length and count of a phrase that is repeated from here on, or zeros."""
    for size in range(1, _LOOP_WORDS + 1):
        phrase = texts[at : at + size]
        if texts[at + size : at + 2 * size] != phrase:
            continue
        times = 2
        while texts[at + times * size : at + (times + 1) * size] == phrase:
            times += 1
        if times >= _LOOP_TIMES and any(any(map(str.isalpha, text)) for text in phrase):
            return size, times
    return 0, 0
