"""What can be had without learning, to compare with: `Baselines` of each utterance, from the engines' slots.

The vote decides first whether there is a token at all, then which. The uniform choice trusts a random engine in
each slot: it is where a learner that is told little begins. The oracle takes the best offer of each slot, which
nobody can without knowing the truth.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from rapidfuzz.distance import Levenshtein

from galloon.learners.alignment import align, align_target, heard_alternatives, majority_vote
from galloon.learners.alignment.sequences import tokens_of
from galloon.learners.lattices.decoding import nearest_words
from galloon.learners.lattices.union import union_words
from galloon.learners.observation import Utterance
from galloon.learners.offers import NULL, Offers
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.unit import Unit


@dataclass(frozen=True, slots=True)
class Baselines:
    """Texts of one utterance. No oracle where there is no true text."""

    vote: str
    uniform: str
    oracle: str | None
    oracle_with_alternatives: str | None  # the same if lattices and n-best lists may offer tokens too
    # Where somebody has a lattice: the words of least risk of the union of all, and of each lattice alone, at the
    # scales that nothing was learned of. And the best path of any engine's lattice, or its words, in hindsight.
    mbr: str | None = None
    mbr_alone: Mapping[str, str] = field(default_factory=dict)
    oracle_lattice: str | None = None


def baselines(utterances: Iterable[Utterance], unit: Unit, rule: Normalizer, seed: int) -> list[Baselines]:
    """The baselines of each utterance; the seed keys the blind choices."""
    draws = np.random.Generator(np.random.Philox(key=seed))
    return [_of_one(utterance, unit, rule, draws) for utterance in utterances]


def _of_one(utterance: Utterance, unit: Unit, rule: Normalizer, draws: np.random.Generator) -> Baselines:
    network = align(utterance, unit, rule)
    slots = np.arange(network.slot_count)
    blind = network.tokens[slots, draws.integers(len(network.experts), size=network.slot_count)]
    vote = _texts(network, majority_vote(network).tokens)
    oracles: list[str | None] = [None, None]
    if utterance.target is not None:
        heard = heard_alternatives(network, utterance.outputs, unit, rule)
        oracles = [
            unit.join(_texts(seen, _best(seen, utterance.target, unit, rule))) for seen in (network, heard)
        ]
    mbr, alone, nearest = _of_lattices(utterance, unit, rule)
    blindly = unit.join(_texts(network, blind))
    return Baselines(unit.join(vote), blindly, oracles[0], oracles[1], mbr, alone, nearest)


def _of_lattices(
    utterance: Utterance, unit: Unit, rule: Normalizer
) -> tuple[str | None, dict[str, str], str | None]:
    with_lattice = [output for output in utterance.outputs if output.lattice is not None]
    union = unit.join(union_words(utterance.outputs, unit, rule)) if with_lattice else None
    alone = {output.name: unit.join(union_words((output,), unit, rule)) for output in with_lattice}
    if utterance.target is None:
        return union, alone, None
    truth = unit.split(rule(utterance.target).split())
    offered = [tokens_of(output.words, unit, rule).tokens for output in utterance.outputs]
    offered += [nearest_words(output, truth, unit, rule) for output in with_lattice]
    return union, alone, unit.join(min(offered, key=partial(Levenshtein.distance, truth)))


def _best(network: Offers, target: str, unit: Unit, rule: Normalizer) -> np.ndarray:
    """The best token of each slot in hindsight: the true one, else something where there is something to say."""
    truth = align_target(network, target, unit, rule).tokens
    offered = (network.tokens == truth[:, None]).any(axis=1)
    heard = network.posteriors
    # Nothing is said only where an engine says nothing.
    offered[heard.slots[(heard.tokens == truth[heard.slots]) & (heard.tokens != NULL)]] = True
    filled = np.take_along_axis(network.tokens, (network.tokens != NULL).argmax(axis=1)[:, None], axis=1)
    return np.where(offered, truth, filled[:, 0])


def _texts(network: Offers, tokens: np.ndarray) -> list[str]:
    return [network.vocabulary[token] for token in tokens.tolist()]
