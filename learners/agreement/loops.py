"""An engine that says one phrase over and over has lost its way: `without_loops`.

It is not listened to in that line, if two others are there to be listened to; else the phrase is kept once. Three
times is enough where nobody else repeats anything, and twice if it says nothing else. Where others do, people may
have said so ("there she blows"), and five times is a loop whoever says it.
"""

from collections.abc import Mapping
from operator import eq

from galloon.learners.observation import Word

LONGEST_PHRASE = 8
TIMES_ALONE, TIMES = 3, 5
OTHERS = 2

Words = tuple[Word, ...]


def without_loops(said: Mapping[str, Words]) -> dict[str, Words]:
    """What each engine said; nothing for one that loops, or its words with the phrase once."""
    repeats = {name: most_repeats([word.text for word in words]) for name, words in said.items()}
    alone = sum(times >= TIMES_ALONE for times in repeats.values()) == 1
    looping = {name for name, times in repeats.items() if times >= (TIMES_ALONE if alone else TIMES)}
    if not looping:
        return dict(said)
    others = sum(1 for name, words in said.items() if words and name not in looping)
    return {
        name: words if name not in looping else () if others >= OTHERS else phrases_once(words)
        for name, words in said.items()
    }


def most_repeats(texts: list[str]) -> int:
    """How many times running a phrase of up to eight words is said at most; one that is all counts one more."""
    most = 1
    if len(set(texts)) == len(texts):
        return most
    for length in range(1, min(LONGEST_PHRASE, len(texts) // 2) + 1):
        same = list(map(eq, texts[length:], texts))
        equals = sum(same)
        if equals == len(same) and length > 1:
            most = max(most, 1 + len(texts) // length)
        elif equals >= (TIMES_ALONE - 1) * length:
            run = longest = 0
            for equal in same:
                run = run + 1 if equal else 0
                longest = max(longest, run)
            most = max(most, 1 + longest // length)
    return most


def phrases_once(words: Words) -> Words:
    """The words, each phrase that comes three times running or more kept once."""
    for length in range(1, LONGEST_PHRASE + 1):
        words = _once(words, length)
    return words


def _once(words: Words, length: int) -> Words:
    texts = [word.text for word in words]
    kept: list[Word] = []
    place = 0
    while place < len(words):
        end = place + length
        while end < len(words) and texts[end] == texts[end - length]:
            end += 1
        times = (end - place) // length
        kept += words[place : place + length] if times >= TIMES_ALONE else words[place : place + 1]
        place += times * length if times >= TIMES_ALONE else 1
    return tuple(kept)
