"""What a token is: a word or a character. `Unit` splits words into tokens and joins tokens to a text.

A learner has one unit, its spec's. The wire and JSON carry the unit's name; `unit_named` finds it. A new unit is
one more constant here, its name in the proto file, and a line in the documentation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from galloon.learners.errors import InvalidInput


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """How a text is cut into tokens. There is one object of each unit, so `is` compares them."""

    name: str
    plural: str  # for people
    metric: str  # the error rate that counts this unit
    blank: str  # the token between two words; empty where a token is a whole word
    pieces: Callable[[str], Sequence[str]]  # the tokens of one word

    @property
    def whole_words(self) -> bool:
        """Whether tokens are words: then they are compared by their letters, and spaces join them."""
        return not self.blank

    def split(self, words: Iterable[str]) -> list[str]:
        """The tokens of these words, with blanks between them where the unit has one."""
        if self.whole_words:
            return list(words)
        tokens: list[str] = []
        for i, word in enumerate(words):
            if i:
                tokens.append(self.blank)
            tokens.extend(self.pieces(word))
        return tokens

    def join(self, tokens: Iterable[str]) -> str:
        """The text of these tokens. Null, the empty token, vanishes."""
        return " ".join(filter(None, tokens)) if self.whole_words else "".join(tokens)

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[str], "Unit"], tuple[str]]:
        return unit_named, (self.name,)


WORD = Unit("word", "words", "wer", "", lambda word: (word,))
CHAR = Unit("char", "characters", "cer", " ", lambda word: word)
UNITS: Mapping[str, Unit] = {unit.name: unit for unit in (WORD, CHAR)}


def unit_named(name: str) -> Unit:
    if name not in UNITS:
        raise InvalidInput(f"{name!r} is not one of {', '.join(map(repr, UNITS))}", field="unit")
    return UNITS[name]
