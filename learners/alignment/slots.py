"""Many outputs of one utterance become slots: `align`.

Experts that said the same are one sequence with a greater weight; what all share at the beginning and at the
end needs no search; in between the least sum of pairs is found exactly where that is affordable, else by
refined profile alignment (`search`). Sequences are put in the order of their content first, so the slots do
not depend on the order, nor on the names, of the experts.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.clocks import NOBODY, times_given
from galloon.learners.alignment.costs import character_costs
from galloon.learners.alignment.letters import check_letters
from galloon.learners.alignment.search import UNTIMED, search_slots, search_word_slots
from galloon.learners.alignment.sequences import Outputs, confidences_of, read_outputs
from galloon.learners.alignment.settings import DEFAULT_SETTINGS, AlignmentSettings
from galloon.learners.alignment.split_glued import split_glued
from galloon.learners.alignment.written import forms_of, laid_out
from galloon.learners.errors import BudgetExceeded, InvalidInput
from galloon.learners.kernels.slot_search import distinct_sequences, fill_slots
from galloon.learners.observation import ExpertOutput, Utterance
from galloon.learners.offers import Offers, TokenPosteriors
from galloon.learners.spelling import spelled
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.text.normalizers import normalizer as named
from galloon.learners.unit import WORD, Unit
from galloon.learners.written import AS_TOKENS, WrittenForms


def align(
    utterance: Utterance,
    unit: Unit = WORD,
    normalizer: str | Normalizer = "basic",
    settings: AlignmentSettings = DEFAULT_SETTINGS,
) -> Offers:
    """The slots of an utterance, from the 1-best words of every expert.

    The experts keep their order in the result. Confidences are those of the words; a line's confidence stands
    in where words have none.
    """
    experts = utterance.outputs
    rule = normalizer if isinstance(normalizer, Normalizer) else named(normalizer)
    names = tuple([output.name for output in experts])
    _check_experts(names, settings)
    outputs = read_outputs(experts, unit, rule)
    _check_lengths(outputs, settings)
    if unit.whole_words:
        check_letters(outputs.vocabulary, settings)
    confidences = confidences_of(experts, outputs)
    if not unit.whole_words:
        tokens, sureness = _character_slots(outputs, confidences, unit, settings)
        written = _written(experts, outputs, tokens, unit, rule)
        return Offers(names, outputs.vocabulary, tokens, sureness, written=written)
    times = times_given(experts, outputs) if settings.time_cost > 0 else (UNTIMED, NOBODY)
    letters = spelled(outputs.vocabulary)
    tokens, sureness, pieces = search_word_slots(
        (outputs.numbers, outputs.starts, confidences, *times), letters, settings
    )
    written = _written(experts, outputs, tokens, unit, rule)
    network = Offers(names, outputs.vocabulary, tokens, sureness, written=written).spelled_as(letters)
    return split_glued(network, pieces, rule) if len(pieces) else network


def _written(
    experts: tuple[ExpertOutput, ...],
    outputs: Outputs,
    tokens: NDArray[np.int32],
    unit: Unit,
    rule: Normalizer,
) -> WrittenForms:
    """How the experts wrote what stands in the slots."""
    if rule.name == "none":
        return AS_TOKENS
    texts = [outputs.vocabulary[token] for token in outputs.numbers.tolist()]
    if outputs.sequences is None:
        forms: list[str | None] = [word.text for output in experts for word in output.words]
    else:
        forms = [
            form
            for output, sequence in zip(experts, outputs.sequences, strict=True)
            for form in forms_of([word.text for word in output.words], sequence, unit, rule)
        ]
    return laid_out(forms, texts, outputs.starts, tokens)


def _character_slots(
    outputs: Outputs, confidences: NDArray[np.float64], unit: Unit, settings: AlignmentSettings
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    tokens, starts, weights, owners = distinct_sequences(outputs.numbers, outputs.starts)
    if len(weights) < 2:
        slots = np.arange(starts[-1], dtype=np.int32)[:, None]
    else:
        costs = character_costs(outputs.vocabulary, unit, settings)
        slots = search_slots(tokens, starts, weights, costs, settings)
    offers, trust = fill_slots(slots, tokens, starts, owners, confidences, outputs.starts)
    return offers, trust


def with_expert(
    network: Offers,
    name: str,
    tokens: NDArray[np.int32],
    confidences: NDArray[np.float64] | None = None,
) -> Offers:
    """The network with one more derived expert: its token (an index of the vocabulary) in each slot."""
    if name in network.experts:
        raise InvalidInput(f"the network has an expert {name!r} already", advice="choose another name")
    if tokens.shape != (network.slot_count,):
        raise InvalidInput(f"expert {name!r} has {tokens.shape} tokens for {network.slot_count} slots")
    if tokens.size and not 0 <= int(tokens.min()) <= int(tokens.max()) < len(network.vocabulary):
        raise InvalidInput(
            f"expert {name!r} offers a token outside the vocabulary of {len(network.vocabulary)}"
        )
    more = np.full(network.slot_count, np.nan) if confidences is None else confidences
    return replace(
        network,
        experts=(*network.experts, name),
        tokens=np.column_stack([network.tokens, tokens.astype(np.int32)]),
        confidences=np.column_stack([network.confidences, more]),
        derived_count=network.derived_count + 1,
    )


def in_order(network: Offers, experts: tuple[str, ...]) -> Offers:
    """The network with its columns in the order of these experts; whoever has no column is absent."""
    if network.experts == experts:
        return network
    places = {name: place for place, name in enumerate(experts)}
    for name in network.experts:
        if name not in places:
            raise InvalidInput(f"unknown expert {name!r}; this learner knows {', '.join(experts)}")
    columns = sorted(range(len(network.experts)), key=lambda j: places[network.experts[j]])
    if columns == list(range(len(columns))):
        return network
    heard = network.posteriors
    if heard.slots.size:
        moved = np.argsort(columns).astype(np.int32)[heard.experts]
        order = np.lexsort((moved, heard.slots))
        heard = TokenPosteriors(
            heard.slots[order], moved[order], heard.tokens[order], heard.probabilities[order]
        )
    return replace(
        network,
        experts=tuple(network.experts[j] for j in columns),
        tokens=np.ascontiguousarray(network.tokens[:, columns]),
        confidences=np.ascontiguousarray(network.confidences[:, columns]),
        posteriors=heard,
        written=network.written.of_engines(columns),
    )


def _check_experts(names: tuple[str, ...], settings: AlignmentSettings) -> None:
    if len(set(names)) != len(names):
        raise InvalidInput(f"two outputs of one utterance have the same expert name: {', '.join(names)}")
    if len(names) > settings.expert_limit:
        raise BudgetExceeded("experts", len(names), settings.expert_limit, "leave some engines out")


def _check_lengths(outputs: Outputs, settings: AlignmentSettings) -> None:
    if outputs.longest > settings.slot_limit:
        raise BudgetExceeded(
            "slots", outputs.longest, settings.slot_limit, "cut the utterance into shorter ones"
        )
    different = len(outputs.vocabulary)
    if different > settings.vocabulary_limit:
        raise BudgetExceeded("different tokens", different, settings.vocabulary_limit, "cut the utterance")
