"""What an answer looks like slot by slot, and what it was worth: `answer`, `slot_gains`.

Room for the results is handed in, which costs less than handing arrays back.

Letters: tokens int32, slots x experts, the first `engines` columns being engines; probabilities float64 alike.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def answer(tokens, probabilities, shown, engines, texts, givers, chances):
    """Fills in the shown token (int32) of each slot, the engine that gives it (int64) and its probability; returns
    the log of their chance.

    shown: int32, the expert of each slot. A token is said to come from the most trusted engine that offers it,
    and has the probability of all who offer it; the chance is that of the shown experts.
    """
    slots, experts = tokens.shape
    log_chance = 0.0
    for i in range(slots):
        token = tokens[i, shown[i]]
        texts[i] = token
        givers[i] = 0
        chances[i] = 0.0
        highest = -1.0
        for j in range(experts):
            if tokens[i, j] == token:
                chances[i] += probabilities[i, j]
                if j < engines and probabilities[i, j] > highest:
                    highest = probabilities[i, j]
                    givers[i] = j
        log_chance += np.log(probabilities[i, shown[i]])
    return log_chance


@njit(cache=True, nogil=True)
def slot_gains(tokens, shown, truth, gains, expert_gains, shown_gains):
    """Fills in the slot match of each expert in each slot (float64), its sum over the slots, and that of the shown
    expert in each slot; returns the sum of these.

    truth: int32, the true token of each slot.
    """
    slots, experts = tokens.shape
    expert_gains[:] = 0.0
    gained = 0.0
    for i in range(slots):
        for j in range(experts):
            gains[i, j] = 1.0 if tokens[i, j] == truth[i] else 0.0
            expert_gains[j] += gains[i, j]
        shown_gains[i] = gains[i, shown[i]]
        gained += shown_gains[i]
    return gained


def warm_up() -> None:
    tokens, shown = np.array([[1, 2], [1, 0]], dtype=np.int32), np.zeros(2, dtype=np.int32)
    answer(tokens, np.full((2, 2), 0.5), shown, 2, shown.copy(), np.zeros(2, dtype=np.int64), np.zeros(2))
    slot_gains(tokens, shown, shown, np.zeros((2, 2)), np.zeros(2), np.zeros(2))
