"""The slots of an utterance, and what is on offer in each: `Offers`, which the alignment makes and learners see.

In each slot each expert offers one token, or null (nothing is said here): the symbol 0 of every vocabulary and
the empty string. An engine that did not run is absent: it has no column, and offers nothing, not even null. An
engine with a lattice or an n-best list offers more: `posteriors` has its other tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import InvalidInput
from galloon.learners.spelling import Spelling, spelled
from galloon.learners.written import AS_TOKENS, WrittenForms

NULL = 0


@dataclass(frozen=True, slots=True)
class TokenPosteriors:
    """Posteriors of tokens by lattices and n-best lists, sparse: a row for each slot, expert and token.

    Sorted by slot, then by expert. Where an expert has rows in a slot, one of them is null's. A token without a
    row there has a negligible probability.
    """

    slots: NDArray[np.int32]
    experts: NDArray[np.int32]  # columns of the offers
    tokens: NDArray[np.int32]  # of the vocabulary
    probabilities: NDArray[np.float64]


_NOWHERE = np.zeros(0, dtype=np.int32)
NO_POSTERIORS = TokenPosteriors(_NOWHERE, _NOWHERE, _NOWHERE, np.zeros(0))


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that was on offer, who offered it, and how probable it was."""

    text: str
    experts: tuple[str, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class Offers:
    """One token, or null, of each expert in each slot. Engines that ran come first, then experts derived from
    them.

    `tokens[i, j]` indexes `vocabulary`; `confidences[i, j]` is NaN where expert j gave none in slot i.
    """

    experts: tuple[str, ...]
    vocabulary: tuple[str, ...]  # vocabulary[NULL] == ""
    tokens: NDArray[np.int32]  # slots x experts
    confidences: NDArray[np.float64]  # slots x experts
    posteriors: TokenPosteriors = NO_POSTERIORS
    derived_count: int = 0  # how many experts, the last ones, are derived
    written: WrittenForms = AS_TOKENS  # of the engines' tokens: a column for each engine
    # Of each engine: after how many marks it left out the blank, whether or not it was cut there; or empty.
    glued: tuple[int, ...] = ()
    looped: tuple[
        int, ...
    ] = ()  # 1 for each engine that said one phrase over and over, which was left out; or empty

    # Not part of the value: computed once, when first asked for. `replace` forgets it.
    _spelling: Spelling | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def spelling(self) -> Spelling:
        """The characters of the vocabulary."""
        if self._spelling is None:
            known = spelled(self.vocabulary)
            object.__setattr__(self, "_spelling", known)
            return known
        return self._spelling

    def spelled_as(self, spelling: Spelling) -> "Offers":
        """The same offers, with the characters of their vocabulary as somebody has computed them already."""
        object.__setattr__(self, "_spelling", spelling)
        return self

    @property
    def slot_count(self) -> int:
        return len(self.tokens)

    @property
    def engine_count(self) -> int:
        return len(self.experts) - self.derived_count

    def engines(self) -> "Offers":
        """What the engines alone offer."""
        if not self.derived_count:
            return self
        count = self.engine_count
        return replace(
            self,
            experts=self.experts[:count],
            tokens=np.ascontiguousarray(self.tokens[:, :count]),
            confidences=np.ascontiguousarray(self.confidences[:, :count]),
            derived_count=0,
        )

    def of(self, expert: str) -> list[str]:
        """The token that this expert offers in each slot."""
        column = self.tokens[:, self.experts.index(expert)]
        return [self.vocabulary[token] for token in column.tolist()]

    def alternatives(self, slot: int, trust: Sequence[float], shown: str) -> tuple[Alternative, ...]:
        """What is on offer in a slot beside the shown token, most probable first; trust is one of each expert."""
        givers: dict[int, list[int]] = {}
        for j, token in enumerate(self.tokens[slot].tolist()):
            givers.setdefault(token, []).append(j)
        others = [
            Alternative(
                self.vocabulary[token], tuple(self.experts[j] for j in who), sum(trust[j] for j in who)
            )
            for token, who in givers.items()
            if self.vocabulary[token] != shown
        ]
        return tuple(sorted(others, key=lambda other: (-other.probability, other.text)))


def offers_of_texts(
    tokens: Mapping[str, Sequence[str]], confidences: Mapping[str, Sequence[float]]
) -> Offers:
    """One column for each of these experts; tokens are numbered in the order in which they are met."""
    lengths = {len(column) for columns in (tokens, confidences) for column in columns.values()}
    if len(lengths) > 1 or not confidences.keys() <= tokens.keys():
        raise InvalidInput(
            "the experts' slots do not fit together",
            advice="give every expert one token a slot, and as many confidences or none",
        )
    slots, numbers = next(iter(lengths), 0), {"": NULL}
    flat = [numbers.setdefault(token, len(numbers)) for column in tokens.values() for token in column]
    given = [confidences.get(name, (np.nan,) * slots) for name in tokens]
    return Offers(
        tuple(tokens),
        tuple(numbers),
        np.array(flat, dtype=np.int32).reshape(len(tokens), slots).T.copy(),
        np.array(given, dtype=np.float64).reshape(len(tokens), slots).T.copy(),
    )


def no_offers(slot_count: int) -> Offers:
    """Offers without any expert, for a learner of an explicit automaton: so many slots."""
    return Offers((), ("",), np.zeros((slot_count, 0), dtype=np.int32), np.zeros((slot_count, 0)))
