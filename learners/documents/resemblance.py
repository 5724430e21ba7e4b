"""How alike texts are, and whether a text looks like the others: `letters_of`, `LetterModel`, `bag`, `contained`,
`most_typical`.

Letters are compared without blanks, capitals and kinds of quotes: what engines disagree about most.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from rapidfuzz.distance import Indel

from galloon.learners.observation import Word
from galloon.learners.text.normalizers import normalizer

_EDGE = "\n"
_ORDER = 3
GRAM = 8


def letters_of(words: Iterable[Word], rule: str = "basic") -> str:
    """The letters of these words, as the normaliser of this name compares them, without blanks."""
    return "".join(normalizer(rule).tokens([word.text for word in words]))


def bag(text: str, size: int = GRAM) -> Counter[str]:
    """How often each run of letters of this length stands in the text."""
    return Counter(text[at : at + size] for at in range(len(text) - size + 1))


def contained(part: Counter[str], whole: Counter[str]) -> float:
    """Which share of the first bag is in the second."""
    total = part.total()
    return sum((part & whole).values()) / total if total else 0.0


def most_typical(texts: Sequence[str]) -> str:
    """The text with the greatest likeness to all the others; of two the longer."""
    if len(texts) < 3:
        return max(texts, key=len, default="")
    return max(texts, key=lambda text: sum(Indel.normalized_similarity(text, other) for other in texts))


class LetterModel:
    """Letter trigrams of texts that are believed; `score` is how usual another text is, in nats a letter."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._grams: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._letters: Counter[str] = Counter()
        for text in texts:
            edged = _EDGE * (_ORDER - 1) + text + _EDGE
            self._letters.update(text)
            for at in range(_ORDER - 1, len(edged)):
                for order in (_ORDER, _ORDER - 1):
                    self._grams[edged[at - order + 1 : at + 1]] += 1
                    self._before[edged[at - order + 1 : at]] += 1
        self._total = self._letters.total()

    def score(self, text: str) -> float:
        edged = _EDGE * (_ORDER - 1) + text + _EDGE
        places = range(_ORDER - 1, len(edged))
        return sum(math.log(self._probability(edged, at)) for at in places) / len(places)

    def _probability(self, edged: str, at: int) -> float:
        chance = (self._letters[edged[at]] + 0.5) / (self._total + 100)
        for order in (2, 3):
            before = edged[at - order + 1 : at]
            chance = (self._grams[before + edged[at]] + 2 * chance) / (self._before[before] + 2)
        return chance
