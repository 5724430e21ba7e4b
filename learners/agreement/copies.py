"""Who repeats whom, and who is no help: `heard`, the engines that count, and `originals` of those that repeat.

Engines that make the same errors would outvote the others, so of engines that say the same only one counts. Exact
copies hardly ever differ. Near copies agree more than engines that err independently: those agree in a share
q_ab = c_a c_b of slots, c being the share in which each is right, so that c_a^2 = q_ac q_ad / q_cd for any two
others c, d. That takes four engines, and a majority of near copies looks like the truth: see docs/algorithms.md.
"""

import numpy as np
from numpy.typing import NDArray

ENOUGH = 80.0  # slots, before anybody is left out
# Copies differ in at most this part of the disputed slots. Until that can be told from chance, all of so many
# disputed slots must be the same.
COPY_APART, SAME_AT_FIRST = 0.03, 10.0
NEAR, NEAR_AT_FIRST = 0.7, 5.0
ENGINES_FOR_NEAR = 4
# Right in so few slots: random words of the language are right in fewer, the worst engines of any use in more.
NOISE = 1 / 12
FEWEST_LOOPS, LOOPING = 5.0, 0.25  # lines of late, and their share


def originals(
    pairs: NDArray[np.float64], words: NDArray[np.float64], noise: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """For each engine itself, or the one of which it is a copy; of two that say the same the one that says more.

    pairs: see `kernels.agreement.compare`; words: how many each engine has said; noise: see `is_noise`.
    """
    slots, apart, disputed, disputed_apart = pairs
    count = len(slots)
    # Three more than were seen: the bound of an event that has not happened yet.
    copies = disputed_apart + 3.0 < COPY_APART * disputed
    copies |= (disputed >= SAME_AT_FIRST) & (disputed_apart == 0)
    copies &= (
        slots >= ENOUGH
    )  # noise is known by then: it disputes everything, and others then seem to be copies
    if count >= ENGINES_FOR_NEAR:
        copies |= (slots >= ENOUGH) & _near(slots, apart, copies, noise)
    found = np.arange(count)
    ranked = sorted(range(count), key=lambda j: -words[j])
    for place, j in enumerate(ranked):
        for i in ranked[:place]:
            if copies[i, j] and found[i] == i:
                found[j] = i
                break
    return found


def _near(
    slots: NDArray[np.float64],
    apart: NDArray[np.float64],
    copies: NDArray[np.bool_],
    noise: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Pairs that agree far more often than independent engines that are right as often would."""
    agreeing = 1.0 - (apart + 1.0) / (slots + 2.0)
    count = len(slots)
    # Exact copies count once here too, else a few would look like the truth. Noise agrees with nobody, and ratios
    # of its agreement tell nothing.
    alone = [j for j in range(count) if not copies[j, :j].any() and not noise[j]]
    if len(alone) < ENGINES_FOR_NEAR:
        return np.zeros_like(copies)
    squares = np.ones(count)
    for a in alone:
        ratios = sorted(
            agreeing[a, c] * agreeing[a, d] / agreeing[c, d]
            for c in alone
            for d in alone
            if c < d and a not in {c, d}
        )
        squares[a] = min(1.0, ratios[(len(ratios) - 1) // 2])
    expected = np.sqrt(np.outer(squares, squares))
    beyond = (agreeing - expected) / np.maximum(1.0 - expected, 1e-9)
    near: NDArray[np.bool_] = beyond > NEAR + NEAR_AT_FIRST / np.sqrt(np.maximum(slots, 1.0))
    single = np.isin(np.arange(count), alone)
    return np.asarray(near & np.outer(single, single) & ~np.eye(count, dtype=np.bool_))


def is_noise(rates: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Engines that are hardly ever right. rates: float64 engines x events, see `kernels.agreement`."""
    words = rates[:, :3].sum(axis=1)
    return np.asarray((words >= ENOUGH) & (rates[:, 0] < NOISE * words))


def loops(recent: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Engines that say one phrase over and over so often that their other lines are not believed either.

    recent: float64 engines x 5, see `kernels.agreement.Book`.
    """
    lines, looped = recent[:, 3], recent[:, 4]
    return np.asarray((looped >= FEWEST_LOOPS) & (looped > LOOPING * lines))


def heard(original: NDArray[np.bool_], noise: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who counts: neither noise nor copies of another that is there; all originals, if there would be none."""
    counted = original & ~noise
    return np.asarray(counted if counted.any() else original)
