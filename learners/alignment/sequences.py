"""What each expert said, as numbered tokens: the first step of every alignment.

`read_outputs` normalises the words of an utterance, cuts them into tokens of the unit, and numbers all
different tokens of the utterance in the order of their texts, so that nothing later depends on the order in
which the experts came. `confidences_of` and `times_of` give what the engine said about each token.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from galloon.learners.kernels.clock import middles_of
from galloon.learners.observation import ExpertOutput, Word
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.unit import Unit


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """One expert's tokens; `sources[i]` are the first and the last word that token i was made from.

    None where token i is word i, which is by far the most frequent case.
    """

    tokens: tuple[str, ...]
    sources: tuple[tuple[int, int], ...] | None


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of one utterance over one vocabulary (null first, the rest in the order of their texts)."""

    vocabulary: tuple[str, ...]
    numbers: NDArray[np.int32]  # of all experts' tokens in a row
    starts: NDArray[np.int64]  # where those of each expert begin, and where all end
    longest: int  # tokens of one expert
    sequences: tuple[TokenSequence, ...] | None  # None where every token is a word of its own


def read_outputs(outputs: Sequence[ExpertOutput], unit: Unit, normalizer: Normalizer) -> Outputs:
    """The tokens of every expert."""
    sequences = None
    tokens = _whole_words(outputs, normalizer) if unit.whole_words and normalizer.rewrite is None else None
    lengths = [len(output.words) for output in outputs]
    if tokens is None:
        sequences = tuple([tokens_of(output.words, unit, normalizer) for output in outputs])
        tokens = [token for sequence in sequences for token in sequence.tokens]
        lengths = [len(sequence.tokens) for sequence in sequences]
    vocabulary = ("", *sorted(set(tokens)))
    number = dict(zip(vocabulary, range(len(vocabulary)), strict=True)).__getitem__
    return Outputs(
        vocabulary,
        np.array(list(map(number, tokens)), dtype=np.int32),
        np.array([0, *accumulate(lengths)], dtype=np.int64),
        max(lengths, default=0),
        sequences,
    )


def _whole_words(outputs: Sequence[ExpertOutput], normalizer: Normalizer) -> list[str] | None:
    """The tokens of all experts in a row, if each of their words is one; by far the most frequent case."""
    texts = [word.text for output in outputs for word in output.words]
    try:
        return [token for (token,) in map(normalizer.split_word, texts)]
    except ValueError:  # not one part
        return None


def tokens_of(words: Sequence[Word], unit: Unit, normalizer: Normalizer) -> TokenSequence:
    """The normalised tokens of these words: words, or the characters of their text with blanks between."""
    sources: list[tuple[int, int]] | None = None
    if normalizer.rewrite is None:
        parts = list(map(normalizer.split_word, [word.text for word in words]))
        tokens = [token for part in parts for token in part]
        if len(tokens) != len(parts) or not all(parts):
            sources = [(i, i) for i, part in enumerate(parts) for _ in part]
    else:
        spans = normalizer.spans([word.text for word in words])
        tokens = [span.text for span in spans]
        sources = [(span.first, span.last) for span in spans]
    if unit.whole_words:
        return TokenSequence(tuple(tokens), None if sources is None else tuple(sources))
    sources = [(i, i) for i in range(len(tokens))] if sources is None else sources
    of_pieces: list[tuple[int, int]] = []
    for i, (token, source) in enumerate(zip(tokens, sources, strict=True)):
        if i:
            of_pieces.append((sources[i - 1][0], source[1]))
        of_pieces.extend([source] * len(unit.pieces(token)))
    return TokenSequence(tuple(unit.split(tokens)), tuple(of_pieces))


def confidences_of(outputs: Sequence[ExpertOutput], read: Outputs) -> NDArray[np.float64]:
    """Of all experts' tokens in a row: the least of a token's words; the line's where words have none; or NaN."""
    if read.sequences is None and all(output.confidence is None for output in outputs):
        given = [word.confidence for output in outputs for word in output.words]
        return np.array(given, dtype=np.float64)  # None becomes NaN
    sources = [None] * len(outputs) if read.sequences is None else [s.sources for s in read.sequences]
    found: list[float] = []
    for output, places in zip(outputs, sources, strict=True):
        line = np.nan if output.confidence is None else output.confidence
        of_words = [line if word.confidence is None else word.confidence for word in output.words]
        found += of_words if places is None else [_least(of_words[a : b + 1]) for a, b in places]
    return np.array(found, dtype=np.float64)


def times_of(output: ExpertOutput, sequence: TokenSequence) -> NDArray[np.float64] | None:
    """Midpoint and half length of each token, or None unless every word has its time and they are in order.

    Tokens that share a word share its time evenly.
    """
    spans = np.array([(word.start, word.end) for word in output.words], dtype=np.float64).reshape(-1, 2)
    middles, usable = middles_of(spans)
    if not usable:
        return None
    if sequence.sources is None:
        return np.asarray(middles)
    starts, ends = spans[:, 0], spans[:, 1]
    times = np.empty((len(sequence.tokens), 2), dtype=np.float64)
    i = 0
    while i < len(sequence.sources):
        first, last = sequence.sources[i]
        together = i + 1
        while together < len(sequence.sources) and sequence.sources[together] == (first, last):
            together += 1
        length = (ends[last] - starts[first]) / (together - i)
        for part in range(i, together):
            times[part] = starts[first] + length * (part - i + 0.5), length / 2
        i = together
    return times


def _least(values: list[float]) -> float:
    known = [value for value in values if value == value]  # noqa: PLR0124 (only NaN differs from itself)
    return min(known, default=np.nan)
