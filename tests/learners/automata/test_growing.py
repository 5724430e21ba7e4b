"""An ensemble that grows: equal to one that is built anew."""

import numpy as np
import pytest

from galloon.learners.automata.context import Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.growing import GONE, append_slot, places_in


@pytest.mark.parametrize("experts", [1, 2, 3])
@pytest.mark.parametrize(("shortest", "span"), [(1, 1), (1, 2), (2, 2), (2, 4), (3, 3)])
@pytest.mark.parametrize("slots", [3, 4, 6])
def test_a_slot_more_is_equal_to_a_push_of_all_slots(experts, shortest, span, slots):
    context = EnsembleContext(Ensemble(experts, slots), Reach(shortest, span))
    weights = np.random.default_rng(7).normal(scale=3, size=context.transition_count)
    longer, pushed = append_slot(context, context.push(weights))
    anew = longer.push(np.concatenate([weights, np.zeros(longer.transition_count - weights.size)]))
    assert longer.expert == Ensemble(experts, slots + 1)
    np.testing.assert_allclose(pushed.flows, anew.flows, rtol=0, atol=1e-12)
    assert pushed.log_total == pytest.approx(anew.log_total, abs=1e-12)


@pytest.mark.parametrize(("shortest", "span"), [(1, 1), (2, 2), (2, 3)])
def test_every_window_is_found_again_when_experts_come_and_go(shortest, span):
    old = EnsembleContext(Ensemble(3, 4), Reach(shortest, span))
    for experts, count in (([0, 1, 2], 5), ([1, GONE, 0], 2), ([2, 0, GONE], 3)):
        new = EnsembleContext(Ensemble(count, 4), Reach(shortest, span))
        places = places_in(new, old, np.array(experts, dtype=np.int32))
        for edge, place in enumerate(places.tolist()):
            window = [(each // 3, experts[each % 3]) for each in old.window(edge)]
            if any(expert == GONE for _, expert in window):
                assert place == GONE
            else:
                assert new.window(place) == tuple(slot * count + expert for slot, expert in window)
