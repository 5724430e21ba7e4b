"""An ensemble that grows: its A' with one more slot, or with other experts, brought up to date without a rebuild.

`append_slot` extends a pushed A' by a slot that nobody has scores in yet: the law on what was there stays, so only
the new layer is computed. `places_in` says where each transition of A' is found again when experts come or go.
"""

import numpy as np

from galloon.learners.automata.context import Pushed
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import Ensemble
from galloon.learners.paths.protocol import IntArray

GONE = -1


def append_slot(context: EnsembleContext, pushed: Pushed) -> tuple[EnsembleContext, Pushed]:
    """One slot more, whose transitions weigh 1: from every old end there is a way on for each expert."""
    experts = context.expert.experts
    longer = EnsembleContext(Ensemble(experts, context.expert.slots + 1), context.reach)
    first, last = int(context.offsets[-2]), int(context.offsets[-1])
    entered = np.arange(last - first) // longer.drops[-2]
    states = np.bincount(entered, weights=pushed.flows[first:], minlength=int(longer.sources[-1]))
    ways = np.arange(longer.transition_count - last) % longer.sources[-1]
    flows = np.concatenate([pushed.flows, states[ways] / experts])
    return longer, Pushed(flows, pushed.log_total + float(np.log(experts)))


def places_in(new: EnsembleContext, old: EnsembleContext, experts: IntArray) -> IntArray:
    """For each transition of `old` the one of `new` with the same window; GONE where an expert of it is gone.

    `experts` are the new numbers of the old experts, GONE for those that went. Slots are as many as before.
    """
    before, after = old.expert.experts, new.expert.experts
    places = np.empty(old.transition_count, dtype=np.int32)
    for layer in range(old.longest_path):
        start, end = int(old.offsets[layer]), int(old.offsets[layer + 1])
        codes, found = np.arange(end - start), np.zeros(end - start, dtype=np.int64)
        stays = np.ones(end - start, dtype=bool)
        for digit in range(min(old.reach.shortest + layer, old.reach.span)):
            expert = experts[codes // before**digit % before]
            stays &= expert != GONE
            found += expert * after**digit
        places[start:end] = np.where(stays, int(new.offsets[layer]) + found, GONE)
    return places
