"""What an answer looks like slot by slot, and what it was worth: `answer`, `slot_gains`.

Letters: tokens int32, slots x experts, the first `engines` columns being engines; probabilities float64 alike.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def answer(tokens, probabilities, shown, engines):
    """Returns (shown token, engine that gives it, its probability) of each slot, and the log of their chance.

    shown: int32, the expert of each slot. A token is said to come from the most trusted engine that offers it,
    and has the probability of all who offer it; the chance is that of the shown experts.
    """
    slots, experts = tokens.shape
    texts = np.empty(slots, dtype=np.int32)
    givers = np.zeros(slots, dtype=np.int64)
    chances = np.zeros(slots)
    log_chance = 0.0
    for i in range(slots):
        token = tokens[i, shown[i]]
        texts[i] = token
        highest = -1.0
        for j in range(experts):
            if tokens[i, j] == token:
                chances[i] += probabilities[i, j]
                if j < engines and probabilities[i, j] > highest:
                    highest = probabilities[i, j]
                    givers[i] = j
        log_chance += np.log(probabilities[i, shown[i]])
    return texts, givers, chances, log_chance


@njit(cache=True, nogil=True)
def slot_gains(tokens, shown, truth):
    """Returns (gains, expert_gains, shown_gains): slot match of each expert in each slot (float64), its sum over
    the slots, and that of the shown expert in each slot.

    truth: int32, the true token of each slot.
    """
    slots, experts = tokens.shape
    gains = np.zeros((slots, experts))
    expert_gains = np.zeros(experts)
    shown_gains = np.zeros(slots)
    for i in range(slots):
        for j in range(experts):
            if tokens[i, j] == truth[i]:
                gains[i, j] = 1.0
                expert_gains[j] += 1.0
        shown_gains[i] = gains[i, shown[i]]
    return gains, expert_gains, shown_gains


def warm_up() -> None:
    tokens, shown = np.array([[1, 2], [1, 0]], dtype=np.int32), np.zeros(2, dtype=np.int32)
    answer(tokens, np.full((2, 2), 0.5), shown, 2)
    slot_gains(tokens, shown, shown)
