"""What each expert said, as numbered tokens: the first step of every alignment.

`read_outputs` normalises the words of an utterance, cuts them into tokens of the unit, and numbers all
different tokens of the utterance in the order of their texts, so that nothing later depends on the order in
which the experts came. Each token keeps its confidence and, for words, its time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.settings import Unit
from galloon.learners.errors import InvalidInput
from galloon.learners.scoring.normalizers import Normalizer
from galloon.learners.utterance import ExpertOutput, Word

BLANK = " "


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """One expert's tokens; `sources[i]` are the first and the last word that token i was made from."""

    tokens: tuple[str, ...]
    sources: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of one utterance over one vocabulary (null first, the rest in the order of their texts)."""

    vocabulary: tuple[str, ...]
    ids: dict[str, int]
    sequences: tuple[TokenSequence, ...]


def read_outputs(outputs: Sequence[ExpertOutput], unit: Unit, normalizer: Normalizer) -> Outputs:
    """The tokens of every expert."""
    sequences = tuple(tokens_of(output.words, unit, normalizer) for output in outputs)
    different: set[str] = set()
    for sequence in sequences:
        different.update(sequence.tokens)
    vocabulary = ("", *sorted(different))
    return Outputs(vocabulary, {text: i for i, text in enumerate(vocabulary)}, sequences)


def tokens_of(words: Sequence[Word], unit: Unit, normalizer: Normalizer) -> TokenSequence:
    """The normalised tokens of these words: words, or the characters of their text with blanks between."""
    tokens: list[str] = []
    sources: list[tuple[int, int]] = []
    if normalizer.rewrite is None:
        split = normalizer.split_word
        for i, word in enumerate(words):
            parts = split(word.text)
            tokens.extend(parts)
            sources.extend([(i, i)] * len(parts))
    else:
        for span in normalizer.spans([word.text for word in words]):
            tokens.append(span.text)
            sources.append((span.first, span.last))
    if unit == "word":
        return TokenSequence(tuple(tokens), tuple(sources))
    if unit != "char":
        raise InvalidInput(f"the unit is 'word' or 'char', not {unit!r}")
    characters: list[tuple[int, int]] = []
    for i, (token, source) in enumerate(zip(tokens, sources, strict=True)):
        if i:
            characters.append((sources[i - 1][0], source[1]))
        characters.extend([source] * len(token))
    return TokenSequence(tuple(BLANK.join(tokens)), tuple(characters))


def confidences_of(output: ExpertOutput, sequence: TokenSequence) -> NDArray[np.float64]:
    """The least confidence of each token's words; the line's where words have none; NaN where nothing is."""
    line = np.nan if output.confidence is None else output.confidence
    of_words = [line if word.confidence is None else word.confidence for word in output.words]
    # A token made of words without and with a confidence has the known one: NaN compares false.
    return np.array(
        [of_words[a] if a == b else _least(of_words[a : b + 1]) for a, b in sequence.sources],
        dtype=np.float64,
    )


def times_of(output: ExpertOutput, sequence: TokenSequence) -> NDArray[np.float64] | None:
    """Midpoint and half length of each token, or None unless every word has its time and they are in order.

    Tokens that share a word share its time evenly.
    """
    words = output.words
    spans: list[tuple[float, float]] = []
    before = -np.inf
    for word in words:
        if word.start is None or word.end is None or not before <= word.start <= word.end < np.inf:
            return None
        before = word.start
        spans.append((word.start, word.end))
    times = np.empty((len(sequence.tokens), 2), dtype=np.float64)
    i = 0
    while i < len(sequence.sources):
        first, last = sequence.sources[i]
        together = i + 1
        while together < len(sequence.sources) and sequence.sources[together] == (first, last):
            together += 1
        start, end = spans[first][0], spans[last][1]
        length = (end - start) / (together - i)
        for part in range(i, together):
            times[part] = start + length * (part - i + 0.5), length / 2
        i = together
    return times


def _least(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return min(known) if known else np.nan
