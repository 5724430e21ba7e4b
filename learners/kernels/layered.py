"""Push, flows, sampling and best paths on the A' of an ensemble, with no index arrays at all.

A' lies in layers. Transition c of a layer is the code of the last experts chosen, the oldest as the lowest
digit: it leaves state c % sources of the layer before and enters state c // drop (drop = r forgets the
oldest expert, drop = 1 forgets nothing, in the first layers). So everything that belongs to a source state
is a contiguous loop over states, which the compiler turns into vector instructions.

Letters: w log weights [M]; d log of the sum over all ways from a state to the end ("backward distance");
q flow, the probability of passing a transition [M]. `offsets[j]:offsets[j + 1]` are layer j's transitions,
`sources[j]` the number of states they leave, `drops[j]` as above.
"""

import math

import numpy as np
from numba import njit

from galloon.learners.kernels.exponential import fast_exp, fast_log
from galloon.learners.kernels.reductions import largest_of, smallest_of, total_of

TAME = 600.0  # a range of log weights whose exponentials, and sums of them, are far from under- and overflow


@njit(cache=True, nogil=True, error_model="numpy")
def push(w, offsets, sources, drops, q):
    """Weight pushing and flows in one: fills q with the flows of the law proportional to e**(sum of w).

    Returns the log of the total weight. The conditional probability of a transition, which the textbook
    push would store, is its flow over the sum of the flows that leave its source.
    """
    layer_count = sources.size
    highest, lowest = np.empty(layer_count), np.empty(layer_count)
    for j in range(layer_count):
        layer_w = w[offsets[j] : offsets[j + 1]]
        highest[j], lowest[j] = largest_of(layer_w), smallest_of(layer_w)
    # Scales of states lie apart by no more than the weights on the few layers in which paths can meet again.
    state_offsets = np.zeros(layer_count + 1, dtype=np.int64)
    for j in range(layer_count):
        state_offsets[j + 1] = state_offsets[j] + sources[j]
    scale = np.empty(state_offsets[layer_count])
    if _is_tame(highest, lowest, sources, drops):
        distance = _backward(w, offsets, sources, drops, state_offsets, highest, q, scale)
    else:
        distance = _backward_in_logs(w, offsets, sources, drops, state_offsets, q, scale)
    _forward(offsets, sources, drops, state_offsets, q, scale)
    return distance


@njit(cache=True, nogil=True)
def _is_tame(highest, lowest, sources, drops):
    """Whether no sum of weights, scaled by its layer's largest, can underflow.

    Two states of a layer meet again once the experts that tell them apart are forgotten, after at most as
    many layers as a state remembers experts; until then their sums differ by at most the layers' ranges.
    """
    layer_count = sources.size
    memory, states = 1, 1
    for j in range(layer_count - 1):
        while states < sources[j + 1]:
            states *= max(2, drops[layer_count - 1])
            memory += 1
    run = 0.0
    for j in range(layer_count):
        run += highest[j] - lowest[j]
        if j >= memory + 1:
            run -= highest[j - memory - 1] - lowest[j - memory - 1]
        if not run < TAME:
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _backward(w, offsets, sources, drops, state_offsets, highest, x, scale):
    """Fill x with each transition's share, up to the factor `scale` of its source; sums in plain numbers."""
    layer_count = sources.size
    widest = _widest(offsets)
    onward = np.ones(widest)  # of the states that this layer enters
    total = np.empty(widest)
    distance = 0.0
    for j in range(layer_count - 1, -1, -1):
        layer_w = w[offsets[j] : offsets[j + 1]]
        layer_x = x[offsets[j] : offsets[j + 1]]
        width, top = sources[j], highest[j]
        for c in range(layer_x.size):
            layer_x[c] = fast_exp(layer_w[c] - top)
        if j < layer_count - 1:
            _multiply_by_targets(layer_x, onward, drops[j])
        _sum_by_source(layer_x, width, total)
        most = largest_of(total[:width])
        inverse = 1.0 / most
        layer_scale = scale[state_offsets[j] : state_offsets[j + 1]]
        for s in range(width):
            layer_scale[s] = 1.0 / total[s]
            onward[s] = total[s] * inverse
        distance += top + math.log(most)
    return distance


@njit(cache=True, nogil=True, error_model="numpy")
def _backward_in_logs(w, offsets, sources, drops, state_offsets, x, scale):
    """As `_backward`, for weights of any size: each state takes its largest summand out before exp."""
    layer_count = sources.size
    widest = _widest(offsets)
    d = np.zeros(widest)  # of the states that this layer enters, repeated for each of its transitions
    largest, total = np.empty(widest), np.empty(widest)
    for j in range(layer_count - 1, -1, -1):
        layer_w = w[offsets[j] : offsets[j + 1]]
        layer_x = x[offsets[j] : offsets[j + 1]]
        width = sources[j]
        for c in range(layer_x.size):
            layer_x[c] = layer_w[c] + d[c]
        for s in range(width):
            largest[s] = -np.inf
        for c in range(layer_x.size):
            largest[c % width] = max(largest[c % width], layer_x[c])
        for first in range(0, layer_x.size, width):
            block = layer_x[first : first + width]
            for s in range(width):
                block[s] = fast_exp(block[s] - largest[s])
        _sum_by_source(layer_x, width, total)
        layer_scale = scale[state_offsets[j] : state_offsets[j + 1]]
        for s in range(width):
            layer_scale[s] = 1.0 / total[s]
            largest[s] += fast_log(total[s])
        if j > 0:
            _spread(largest, width, drops[j - 1], d)
    return largest[0]


@njit(cache=True, nogil=True, error_model="numpy")
def _forward(offsets, sources, drops, state_offsets, q, scale):
    """Turn shares into flows: times the scale of the source and times what reaches it."""
    layer_count = sources.size
    reach = np.empty(_widest(offsets))
    reach[0] = 1.0
    for j in range(layer_count):
        layer_q = q[offsets[j] : offsets[j + 1]]
        layer_scale = scale[state_offsets[j] : state_offsets[j + 1]]
        width = sources[j]
        for s in range(width):
            layer_scale[s] *= reach[s]
        if width == 1:
            for c in range(layer_q.size):
                layer_q[c] *= layer_scale[0]
        else:
            for first in range(0, layer_q.size, width):
                block = layer_q[first : first + width]
                for s in range(width):
                    block[s] *= layer_scale[s]
        if j < layer_count - 1:
            _gather(layer_q, layer_q.size, drops[j], reach)


@njit(cache=True, nogil=True)
def _widest(offsets):
    """The largest number of transitions of a layer."""
    widest = 0
    for j in range(offsets.size - 1):
        widest = max(widest, offsets[j + 1] - offsets[j])
    return widest


@njit(cache=True, nogil=True)
def _sum_by_source(x, width, total):
    """total[s] = the sum of x over the transitions that leave s."""
    if width == 1:
        total[0] = total_of(x)
        return
    sums = total[:width]
    for s in range(width):
        sums[s] = x[s]
    for first in range(width, x.size, width):
        block = x[first : first + width]
        for s in range(width):
            sums[s] += block[s]


@njit(cache=True, nogil=True)
def _multiply_by_targets(x, values, drop):
    """x[c] *= values[c // drop]."""
    if drop == 1:
        for c in range(x.size):
            x[c] *= values[c]
    else:
        for s in range(x.size // drop):
            block = x[s * drop : (s + 1) * drop]
            value = values[s]
            for a in range(drop):
                block[a] *= value


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


@njit(cache=True, nogil=True)
def expert_path(edges, offsets, sources, experts, head):
    """The transitions of A along a path of A': slot * experts + expert; its first one stands for `head` slots."""
    path = np.empty(edges.size + head - 1, dtype=np.int32)
    code = edges[0]
    for slot in range(head):
        path[slot] = slot * experts + code % experts
        code //= experts
    for j in range(1, edges.size):
        path[head + j - 1] = (head + j - 1) * experts + (edges[j] - offsets[j]) // sources[j]
    return path


@njit(cache=True, nogil=True)
def context_path(path, offsets, sources, drops, experts, head):
    """The path of A' for a path of A; empty if it is none."""
    for slot in range(path.size):
        if not slot * experts <= path[slot] < (slot + 1) * experts:
            return np.empty(0, dtype=np.int32)
    edges = np.empty(sources.size, dtype=np.int32)
    code = 0
    for slot in range(head - 1, -1, -1):
        code = code * experts + path[slot] % experts
    edges[0] = code
    for j in range(1, sources.size):
        code = code // drops[j - 1] + path[head + j - 1] % experts * sources[j]
        edges[j] = offsets[j] + code
    return edges


@njit(cache=True, nogil=True)
def is_path(edges, offsets, sources, drops):
    """Whether these are the transitions of a path, in order."""
    if edges.size != sources.size:
        return False
    state = 0
    for j in range(edges.size):
        code = edges[j] - offsets[j]
        if not (0 <= code < offsets[j + 1] - offsets[j] and code % sources[j] == state):
            return False
        state = code // drops[j]
    return True


def warm_up() -> None:
    offsets = np.array([0, 4, 8], dtype=np.int64)
    sources = np.array([1, 2], dtype=np.int64)
    drops = np.array([2, 2], dtype=np.int64)
    w, q = np.zeros(8), np.empty(8)
    push(w, offsets, sources, drops, q)
    push(np.arange(8.0) * TAME, offsets, sources, drops, q)
    sample(q, offsets, sources, drops, np.zeros(2))
    best_path(w, offsets, sources, drops)
    edges = context_path(np.array([0, 2, 4], dtype=np.int32), offsets, sources, drops, 2, 2)
    expert_path(edges, offsets, sources, 2, 2)
    is_path(edges, offsets, sources, drops)
