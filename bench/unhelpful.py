"""Experts that are no help, made from an ensemble's own outputs: `with_unhelpful` adds one of `KINDS` to a file.

Everything random is keyed by the seed, so the same file is made every time.
"""

import random
import string
from collections.abc import Callable
from dataclasses import replace

from galloon.clients.replay.material import Material
from galloon.learners.observation import ExpertOutput, Utterance, Word

NAME = "unhelpful"
GARBLED = 0.5  # of the words of a garbled copy, each by one to three edits

Maker = Callable[[Material, Utterance, random.Random], tuple[Word, ...]]


def with_unhelpful(material: Material, kind: str, seed: int = 1) -> Material:
    """The file with one expert more, the last one."""
    make, draw = KINDS[kind], random.Random(seed)
    more = tuple(
        replace(u, said=(*u.outputs, ExpertOutput(NAME, make(material, u, draw))))
        for u in material.utterances
    )
    return replace(material, utterances=more, experts=(*material.experts, NAME))


def _random_words(material: Material, _: Utterance, draw: random.Random) -> tuple[Word, ...]:
    """As many words as the first engine has on some line, each from some line of it, with any confidence."""
    lines = [u.outputs[0].words for u in material.utterances]
    length = len(draw.choice(lines))
    chosen = (draw.choice(draw.choice(lines) or (Word("."),)) for _ in range(length))
    return tuple(Word(word.text, draw.random()) for word in chosen)


def _random_letters(_: Material, utterance: Utterance, draw: random.Random) -> tuple[Word, ...]:
    """About as many words as the first engine's, each of random letters."""
    length = max(1, len(utterance.outputs[0].words) + draw.randint(-2, 2))
    return tuple(
        Word("".join(draw.choices("etaoinshrdlu.,", k=draw.randint(1, 8))), draw.random())
        for _ in range(length)
    )


def _garbled_copy(_: Material, utterance: Utterance, draw: random.Random) -> tuple[Word, ...]:
    """The first engine's words, half of them with wrong letters."""
    return tuple(
        Word(_garble(word.text, draw), word.confidence) if draw.random() < GARBLED else word
        for word in utterance.outputs[0].words
    )


def _garble(text: str, draw: random.Random) -> str:
    letters = list(text)
    for _ in range(draw.randint(1, 3)):
        place, letter = draw.randrange(len(letters) + 1), draw.choice(string.ascii_lowercase)
        letters[place : place + draw.randint(0, 1)] = draw.choice(([letter], []))
    return "".join(letters) or "."


def _copy_of_the_first(_: Material, utterance: Utterance, __: random.Random) -> tuple[Word, ...]:
    return utterance.outputs[0].words


def _copy_of_the_last(_: Material, utterance: Utterance, __: random.Random) -> tuple[Word, ...]:
    return utterance.outputs[-1].words


def _nothing(_: Material, __: Utterance, ___: random.Random) -> tuple[Word, ...]:
    return ()


KINDS: dict[str, Maker] = {
    "random words": _random_words,
    "random letters": _random_letters,
    "a garbled copy of the first engine": _garbled_copy,
    "a copy of the first engine": _copy_of_the_first,
    "a copy of the last engine": _copy_of_the_last,
    "nothing at all": _nothing,
}
