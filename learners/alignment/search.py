"""The search for the best slots: numbered sequences in, the place of every token out.

`search_slots` sets aside what all sequences share at both ends, and aligns what is left exactly where that is
affordable, else by refined profiles (`learners.kernels`), within the effort that the settings allow.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.settings import AlignmentSettings
from galloon.learners.errors import BudgetExceeded
from galloon.learners.kernels.exact_alignment import exact_alignment, timed_costs
from galloon.learners.kernels.profile_alignment import profile_alignment

# A step of the exact programme is a set of sequences, held in 16 bits.
_EXACT_SEQUENCES = 14
# Costs that depend on times are a table of all pairs of tokens, which must not grow too large.
_TIMED_TOKENS = 2048


def search_slots(
    sequences: Sequence[tuple[int, ...]],
    weights: NDArray[np.int64],
    costs: NDArray[np.int32],
    times: Sequence[NDArray[np.float64]] | None,
    settings: AlignmentSettings,
) -> NDArray[np.int32]:
    """For each slot and sequence the position of its token there, or -1.

    The sum of pairs, weighted, is least or nearly so. `times` are midpoint and half length of each token.
    """
    # Sequences that all begin (or end) alike have an optimal alignment with these tokens in common slots:
    # moving them there makes no pair of sequences dearer.
    head = _shared(sequences)
    rests = [sequence[head:] for sequence in sequences]
    tail = _shared([rest[::-1] for rest in rests])
    inner = [rest[: len(rest) - tail] for rest in rests]
    inner_times = None
    if times is not None and sum(map(len, inner)) <= _TIMED_TOKENS:
        inner_times = np.concatenate([t[head : len(t) - tail] for t in times])
    found = _align(inner, weights, costs, inner_times, settings)

    count = head + len(found) + tail
    if count > settings.slot_limit:
        raise BudgetExceeded("slots", count, settings.slot_limit, "cut the utterance into shorter ones")
    positions = np.empty((count, len(sequences)), dtype=np.int32)
    positions[:head] = np.arange(head)[:, None]
    positions[head : head + len(found)] = np.where(found >= 0, found + head, found)
    positions[count - tail :] = np.array([len(s) for s in sequences]) - np.arange(tail, 0, -1)[:, None]
    return positions


def _align(
    sequences: Sequence[tuple[int, ...]],
    weights: NDArray[np.int64],
    costs: NDArray[np.int32],
    times: NDArray[np.float64] | None,
    settings: AlignmentSettings,
) -> NDArray[np.int32]:
    lengths = [len(sequence) for sequence in sequences]
    starts = np.zeros(len(sequences) + 1, dtype=np.int64)
    starts[1:] = np.array(lengths).cumsum()
    if starts[-1] == 0:
        return np.empty((0, len(sequences)), dtype=np.int32)
    tokens = np.array([token for sequence in sequences for token in sequence], dtype=np.int32)
    if times is not None:
        # Each token at its place becomes a token of its own, with its own costs.
        costs = timed_costs(tokens, times, costs, settings.time_cost)
        tokens = np.arange(1, tokens.size + 1, dtype=np.int32)
    exact_steps = prod(length + 1 for length in lengths) << len(sequences)
    if len(sequences) <= _EXACT_SEQUENCES and exact_steps <= settings.exact_steps:
        return np.asarray(exact_alignment(tokens, starts, weights, costs))
    passes, widest = _affordable(len(sequences), max(lengths), settings)
    found = profile_alignment(tokens, starts, weights, costs, passes, settings.band, widest)
    return np.asarray(found)


def _affordable(count: int, longest: int, settings: AlignmentSettings) -> tuple[int, int]:
    """How many passes of refinement, and how wide a band, the effort allows for so many, so long sequences."""
    # Cells per column of the band: every pair once, then each joining, which looks at all others.
    joining = float(longest) * count * count
    narrow = 2 * settings.band + 1
    least = narrow * (joining / 2 + joining)
    if least > settings.effort:
        advice = "cut the utterance into shorter ones or leave some engines out"
        raise BudgetExceeded("alignment effort", least, settings.effort, advice)
    passes = min(settings.refinement_passes, int((settings.effort - least) / (narrow * joining)))
    widest = int(settings.effort / (2 * joining * (1.5 + passes)))
    return passes, max(settings.band, widest)


def _shared(sequences: Sequence[tuple[int, ...]]) -> int:
    """How many tokens all sequences have in common at the beginning."""
    count = 0
    for first, *others in zip(*sequences, strict=False):
        if any(other != first for other in others):
            break
        count += 1
    return count
