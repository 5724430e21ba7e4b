"""Push, flows, sampling and best paths on the A' of an ensemble, with no index arrays at all.

A' lies in layers. Transition c of a layer is the code of the last experts chosen, the oldest as the lowest
digit: it leaves state c % sources of the layer before and enters state c // drop (drop = r forgets the
oldest expert, drop = 1 forgets nothing, in the first layers). So everything that belongs to a source state
is a contiguous loop over states, which the compiler turns into vector instructions.

Letters: w log weights [M]; d log of the sum over all ways from a state to the end ("backward distance");
q flow, the probability of passing a transition [M]. `offsets[j]:offsets[j + 1]` are layer j's transitions,
`sources[j]` the number of states they leave, `drops[j]` as above.
"""

import numpy as np
from numba import njit

from galloon.learners.kernels.exponential import fast_exp, fast_log
from galloon.learners.kernels.reductions import largest_of, total_of


@njit(cache=True, nogil=True, error_model="numpy")
def push(w, offsets, sources, drops, q):
    """Weight pushing and flows in one: fills q with the flows of the law proportional to e**(sum of w).

    Returns the log of the total weight. The conditional probability of a transition, which the textbook
    push would store, is its flow over the sum of the flows that leave its source.
    """
    layer_count = sources.size
    state_offsets = np.zeros(layer_count + 1, dtype=np.int64)
    widest = 0
    for j in range(layer_count):
        state_offsets[j + 1] = state_offsets[j] + sources[j]
        widest = max(widest, offsets[j + 1] - offsets[j])
    inverse = np.empty(state_offsets[layer_count])
    d = np.zeros(widest)  # of the states that this layer enters, repeated for each of its transitions
    largest = np.empty(widest)
    total = np.empty(widest)
    for j in range(layer_count - 1, -1, -1):
        start, width = offsets[j], sources[j]
        size = offsets[j + 1] - start
        layer_w = w[start : offsets[j + 1]]
        x = q[start : offsets[j + 1]]
        scale = inverse[state_offsets[j] : state_offsets[j + 1]]
        # The largest summand of each state goes out first: nothing overflows, the largest is never lost.
        if width == 1:
            for c in range(size):
                x[c] = layer_w[c] + d[c]
            top = largest_of(x)
            for c in range(size):
                x[c] = fast_exp(x[c] - top)
            largest[0] = top
            total[0] = total_of(x)
        else:
            for s in range(width):
                largest[s] = -np.inf
                total[s] = 0.0
            for first in range(0, size, width):
                block, block_w, block_d = (
                    x[first : first + width],
                    layer_w[first : first + width],
                    d[first : first + width],
                )
                for s in range(width):
                    block[s] = block_w[s] + block_d[s]
                for s in range(width):
                    largest[s] = max(largest[s], block[s])
            for first in range(0, size, width):
                block = x[first : first + width]
                for s in range(width):
                    block[s] = fast_exp(block[s] - largest[s])
                for s in range(width):
                    total[s] += block[s]
        for s in range(width):
            scale[s] = 1.0 / total[s]
            largest[s] += fast_log(total[s])
        if j > 0:
            _spread(largest, width, drops[j - 1], d)
    distance = largest[0]
    total[0] = 1.0  # from here on: the flow into each state
    for j in range(layer_count):
        start, width = offsets[j], sources[j]
        size = offsets[j + 1] - start
        x = q[start : offsets[j + 1]]
        scale = inverse[state_offsets[j] : state_offsets[j + 1]]
        for s in range(width):
            scale[s] *= total[s]
        if width == 1:
            for c in range(size):
                x[c] *= scale[0]
        else:
            for first in range(0, size, width):
                block = x[first : first + width]
                for s in range(width):
                    block[s] *= scale[s]
        _gather(x, size, drops[j], total)
    return distance


@njit(cache=True, nogil=True, error_model="numpy")
def _spread(values, count, drop, repeated):
    """repeated[c] = values[c // drop]."""
    if drop == 1:
        for s in range(count):
            repeated[s] = values[s]
    else:
        for s in range(count):
            block = repeated[s * drop : (s + 1) * drop]
            value = values[s]
            for a in range(drop):
                block[a] = value


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(values, size, drop, sums):
    """sums[s] = the sum of values[c] over c // drop == s."""
    if drop == 1:
        for c in range(size):
            sums[c] = values[c]
    else:
        for s in range(size // drop):
            block = values[s * drop : (s + 1) * drop]
            total = 0.0
            for a in range(drop):
                total += block[a]
            sums[s] = total


@njit(cache=True, nogil=True, error_model="numpy")
def sample(q, offsets, sources, drops, uniforms):
    """Walk from the initial state, taking each transition in proportion to its flow."""
    path = np.empty(sources.size, dtype=np.int32)
    state = 0
    for j in range(sources.size):
        total = 0.0
        for edge in range(offsets[j] + state, offsets[j + 1], sources[j]):
            total += q[edge]
        left = uniforms[j] * total
        chosen = -1
        for edge in range(offsets[j] + state, offsets[j + 1], sources[j]):
            if q[edge] > 0.0 or chosen < 0:
                chosen = edge  # rounding may leave a rest after the last: then the last possible one is taken
                left -= q[edge]
                if left < 0.0:
                    break
        path[j] = chosen
        state = (chosen - offsets[j]) // drops[j]
    return path


@njit(cache=True, nogil=True, error_model="numpy")
def best_path(values, offsets, sources, drops):
    """The path with the largest sum of values (among equals the lowest codes), and that sum."""
    layer_count = sources.size
    widest = 0
    for j in range(layer_count):
        widest = max(widest, offsets[j + 1] - offsets[j])
    onward = np.zeros(widest)  # the best sum from each entered state to the end
    top = np.empty(widest)
    following = np.empty(offsets[layer_count], dtype=np.int32)  # by source state, from the layer's start on
    for j in range(layer_count - 1, -1, -1):
        start, width = offsets[j], sources[j]
        for s in range(width):
            top[s] = -np.inf
        for c in range(offsets[j + 1] - start):
            s = c % width
            value = values[start + c] + onward[c // drops[j]]
            if value > top[s]:
                top[s] = value
                following[start + s] = start + c
        for s in range(width):
            onward[s] = top[s]
    path = np.empty(layer_count, dtype=np.int32)
    state = 0
    for j in range(layer_count):
        path[j] = following[offsets[j] + state]
        state = (path[j] - offsets[j]) // drops[j]
    return path, onward[0]


def warm_up() -> None:
    offsets = np.array([0, 4, 8], dtype=np.int64)
    sources = np.array([1, 2], dtype=np.int64)
    drops = np.array([2, 2], dtype=np.int64)
    w, q = np.zeros(8), np.empty(8)
    push(w, offsets, sources, drops, q)
    sample(q, offsets, sources, drops, np.zeros(2))
    best_path(w, offsets, sources, drops)
