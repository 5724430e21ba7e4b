"""A phrase that an engine says over and over is said once: `without_loops`."""

from collections.abc import Sequence

from galloon.learners.observation import Word

LONGEST_PHRASE = 8
# Three times is too eager: people do say "there she blows" three times.
TIMES = 5


def without_loops(words: Sequence[Word]) -> tuple[Word, ...]:
    """The words, each phrase of up to eight words that comes five times running or more kept once."""
    kept = tuple(words)
    # A loop leaves so few different words that nearly no line needs a closer look.
    if len({word.text for word in kept}) > len(kept) - TIMES + 1:
        return kept
    for length in range(1, LONGEST_PHRASE + 1):
        kept = _once(kept, length)
    return kept


def _once(words: tuple[Word, ...], length: int) -> tuple[Word, ...]:
    texts = [word.text for word in words]
    kept: list[Word] = []
    place = 0
    while place < len(words):
        end = place + length
        while end < len(words) and texts[end] == texts[end - length]:
            end += 1
        times = (end - place) // length
        kept += words[place : place + length] if times >= TIMES else words[place : place + 1]
        place += times * length if times >= TIMES else 1
    return tuple(kept)
