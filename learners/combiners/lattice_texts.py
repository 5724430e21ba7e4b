"""Engines with lattices speak their words of least risk, at the scales that suit them best: `LatticeTexts`.

`read` puts these words in the place of the engine's 1-best; `learn` tells the scales what each of them would have
cost. The state of the scales is part of the combiner's.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from galloon.learners.alignment.graph import TokenGraph
from galloon.learners.alignment.sequences import tokens_of
from galloon.learners.combiners.contract import TrueText, TrueTokens
from galloon.learners.lattices.decoding import Decoded, decode, heard_at, reworded
from galloon.learners.lattices.scales import GRIDS, Scales
from galloon.learners.observation import Utterance, Word
from galloon.learners.text.normalizers import normalizer as named
from galloon.learners.unit import Unit


class ReadLattices(NamedTuple):
    """An utterance with words of least risk, the graphs of its lattices as scaled, all decodings by engine."""

    utterance: Utterance
    graphs: Mapping[str, TokenGraph]
    decoded: Mapping[str, Decoded]


class LatticeTexts:
    """What the lattices of these engines say, at scales that are learned."""

    def __init__(self, roster: tuple[str, ...], unit: Unit, normalizer: str) -> None:
        self._roster, self._unit, self._rule = roster, unit, named(normalizer)
        self._places = {name: place for place, name in enumerate(roster)}
        self._scales = Scales(len(roster))

    def read(self, utterance: Utterance) -> ReadLattices:
        """Nothing changes without a lattice."""
        if not any(output.lattice for output in utterance.outputs):
            return ReadLattices(utterance, {}, {})
        outputs, graphs, decoded = list(utterance.outputs), {}, {}
        for number, output in enumerate(outputs):
            if output.lattice is None or output.name not in self._places:
                continue
            graph, found = decode(output, self._unit, self._rule)
            scale = self._scales.best(self._places[output.name], found.grid)
            graphs[output.name] = heard_at(graph, found.grid, scale)
            decoded[output.name] = found
            outputs[number] = reworded(output, found.at(scale), graph, self._unit, self._rule)
        return ReadLattices(replace(utterance, said=tuple(outputs)), graphs, decoded)

    def learn(self, decoded: Mapping[str, Decoded], feedback: TrueText | TrueTokens) -> None:
        """The error rate that each scale would have had; more errors than true tokens count as all wrong."""
        if not decoded:
            return
        truth = self._tokens(feedback)
        for name, found in decoded.items():
            rates = [min(1.0, Levenshtein.distance(truth, text) / max(1, len(truth))) for text in found.texts]
            self._scales.learn(self._places[name], found.grid, [rates[number] for number in found.numbers])

    def describe(self) -> dict[str, dict[str, float]]:
        """For people: the scales that are trusted most, of engines whose lattices met with truths."""
        described = {}
        for place, grid in self._scales.learned():
            best = self._scales.best(place, grid)
            scale = GRIDS[grid][best]
            described[self._roster[place]] = {
                **({} if scale is None else scale._asdict()),
                "own_words": float(scale is None),
                "weight": float(self._scales.weights(place, grid)[best]),
                "regret_at_most": self._scales.bound(place, grid, best),
            }
        return described

    def arrays(self) -> dict[str, NDArray[Any]]:
        return self._scales.arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._scales.restore(arrays)

    def _tokens(self, feedback: TrueText | TrueTokens) -> tuple[str, ...]:
        if isinstance(feedback, TrueTokens):
            return tuple(filter(None, feedback.tokens))
        words = [Word(word) for word in feedback.text.split()]
        return tokens_of(words, self._unit, self._rule).tokens
