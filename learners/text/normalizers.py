"""Named text normalisers: what counts as the same word when engines are aligned and scored.

`normalizer(name)` gives one of `NAMES`: `none` (white space only), `basic` (NFKC, quotes and dashes to
ASCII, lower case), `basic-speech` (basic, then letters, digits and apostrophes only), `english` (spelling
variants, contractions and spoken numbers as well). Calling it normalises a text; `spans` normalises words
and says which of them each resulting token came from, so that confidences and times can follow.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from galloon.learners.errors import InvalidInput
from galloon.learners.text.english import rewrite_english

NAMES = ("none", "basic", "basic-speech", "english")
CACHED_WORDS, CACHED_CHARACTERS = 1 << 15, 64


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """One normalised token, and the words `first` to `last` (inclusive) that it was made from."""

    text: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Normalizer:
    """A named rule for equality of texts: first word by word, then, for some, over the words in a row."""

    name: str
    split_word: Callable[[str], tuple[str, ...]]  # one word as written -> its tokens, perhaps none
    rewrite: Callable[[Sequence[tuple[str, int, int]]], Sequence[tuple[str, int, int]]] | None = None

    def __call__(self, text: str) -> str:
        """The normalised text: tokens with one space between them. Applying it twice changes nothing."""
        return " ".join(self.tokens(text.split()))

    def tokens(self, words: Sequence[str]) -> list[str]:
        """The tokens of these words."""
        if self.rewrite is None:
            return [token for word in words for token in self.split_word(word)]
        return [span.text for span in self.spans(words)]

    def spans(self, words: Sequence[str]) -> list[TokenSpan]:
        """The tokens of these words, each with the words that it was made from."""
        found = [(token, i, i) for i, word in enumerate(words) for token in self.split_word(word)]
        return [TokenSpan(*span) for span in (self.rewrite(found) if self.rewrite else found)]


def normalizer(name: str) -> Normalizer:
    """The normaliser of this name."""
    if name not in _BY_NAME:
        raise InvalidInput(
            f"no normalizer is called {name!r}",
            field="normalizer",
            advice=f"choose one of {', '.join(NAMES)}",
        )
    return _BY_NAME[name]


_ASCII_FORMS = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02b9\u02bb\u02bc\u02bd\u0060\u00b4",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u301d\u301e\u301f",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d",
}
_TO_ASCII = str.maketrans({odd: plain for plain, forms in _ASCII_FORMS.items() for odd in forms})
# The letters of every script, with the marks that belong to them: \w without the underscore.
_NOT_SPEECH = re.compile(r"[^\w\u0300-\u036f']|_")


def _basic_text(text: str) -> str:
    # The acute accent standing alone is an apostrophe by intent, but NFKC would make it a blank and a
    # combining mark: so quotes are mapped before as well as after.
    composed = unicodedata.normalize("NFKC", text.translate(_TO_ASCII)).translate(_TO_ASCII).lower()
    # Lower-casing may leave a sequence that composes (as in the Turkish dotted capital i).
    return unicodedata.normalize("NFKC", composed)


class _Memory(dict[str, tuple[str, ...]]):
    """A cache of what words are split into, of limited size. Very long words are not kept."""

    def __init__(self, split: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._split = split

    def __missing__(self, word: str) -> tuple[str, ...]:
        parts = self._split(word)
        if len(word) <= CACHED_CHARACTERS:
            if len(self) >= CACHED_WORDS:
                self.clear()  # the frequent ones are soon back
            self[word] = parts
        return parts


def _remembered(split: Callable[[str], tuple[str, ...]]) -> Callable[[str], tuple[str, ...]]:
    return _Memory(split).__getitem__


@_remembered
def _split_none(word: str) -> tuple[str, ...]:
    return tuple(word.split())


@_remembered
def _split_basic(word: str) -> tuple[str, ...]:
    return tuple(_basic_text(word).split())


@_remembered
def _split_speech(word: str) -> tuple[str, ...]:
    return tuple(_NOT_SPEECH.sub(" ", _basic_text(word)).split())


_BY_NAME = {
    each.name: each
    for each in (
        Normalizer("none", _split_none),
        Normalizer("basic", _split_basic),
        Normalizer("basic-speech", _split_speech),
        Normalizer("english", _split_basic, rewrite_english),
    )
}
