"""Push, flows, sampling and best paths on any acyclic graph: the A' of an explicit automaton.

States are numbered in topological order, the initial one is 0 and the one sink is the last; transitions are
sorted by source, so that those leaving state s are `first[s]:first[s + 1]`.

Letters: w log weights [M]; d log of the sum over all ways from a state to the sink [Q]; q flows [M].
"""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def distances(w, first, target, d):
    """Fill d, backwards from the sink."""
    last = first.size - 2
    d[last] = 0.0
    for s in range(last - 1, -1, -1):
        d[s] = _distance(w, first, target, d, s)


@njit(cache=True, nogil=True, error_model="numpy")
def _distance(w, first, target, d, s):
    largest = -np.inf
    for e in range(first[s], first[s + 1]):
        largest = max(largest, w[e] + d[target[e]])
    if largest == -np.inf:
        return largest
    total = 0.0
    for e in range(first[s], first[s + 1]):
        total += math.exp(w[e] + d[target[e]] - largest)
    return largest + math.log(total)


@njit(cache=True, nogil=True, error_model="numpy")
def redistances(w, first, target, entering_first, entering, source, changed, d, dirty):
    """Bring d up to date after the weights of `changed` transitions moved; returns how many states it visited.

    Only states that can reach a changed transition are visited, highest first, and a state whose distance
    comes out the same stops the wave. The arithmetic is `distances`' own, so the bits are the same.
    `dirty` is all False before and after.
    """
    highest = -1
    for i in range(changed.size):
        s = source[changed[i]]
        dirty[s] = True
        highest = max(highest, s)
    visited = 0
    for s in range(highest, -1, -1):
        if dirty[s]:
            dirty[s] = False
            visited += 1
            fresh = _distance(w, first, target, d, s)
            if fresh != d[s]:
                d[s] = fresh
                for i in range(entering_first[s], entering_first[s + 1]):
                    dirty[source[entering[i]]] = True
    return visited


@njit(cache=True, nogil=True, error_model="numpy")
def flows(w, d, first, target, q):
    """Fill q with the flows of the law proportional to e**(sum of w), given the distances."""
    last = first.size - 2
    reach = np.zeros(last + 1)
    reach[0] = 1.0
    for s in range(last):
        for e in range(first[s], first[s + 1]):
            q[e] = reach[s] * math.exp(w[e] + d[target[e]] - d[s]) if reach[s] > 0.0 else 0.0
            reach[target[e]] += q[e]


@njit(cache=True, nogil=True)
def sample(q, first, target, uniforms):
    """Walk from the initial state to the sink, taking each transition in proportion to its flow."""
    path = np.empty(uniforms.size, dtype=np.int32)
    last = first.size - 2
    length, state = 0, 0
    while state != last:
        total = 0.0
        for e in range(first[state], first[state + 1]):
            total += q[e]
        left = uniforms[length] * total
        chosen = -1
        for e in range(first[state], first[state + 1]):
            if q[e] > 0.0 or chosen < 0:
                chosen = e  # rounding may leave a rest after the last: then the last possible one is taken
                left -= q[e]
                if left < 0.0:
                    break
        path[length] = chosen
        length += 1
        state = target[chosen]
    return path[:length]


@njit(cache=True, nogil=True)
def best_path(values, first, target):
    """The path with the largest sum of values (among equals the first transitions), and that sum."""
    last = first.size - 2
    onward = np.zeros(last + 1)
    following = np.empty(last + 1, dtype=np.int32)
    for s in range(last - 1, -1, -1):
        onward[s] = -np.inf
        following[s] = first[s]
        for e in range(first[s], first[s + 1]):
            value = values[e] + onward[target[e]]
            if value > onward[s]:
                onward[s] = value
                following[s] = e
    path = np.empty(last, dtype=np.int32)
    length, state = 0, 0
    while state != last:
        path[length] = following[state]
        state = target[following[state]]
        length += 1
    return path[:length], onward[0]


@njit(cache=True, nogil=True)
def is_path(edges, source, target, sink):
    """Whether these are the transitions of a path, in order."""
    state = 0
    for i in range(edges.size):
        if not (0 <= edges[i] < source.size and source[edges[i]] == state):
            return False
        state = target[edges[i]]
    return state == sink


def warm_up() -> None:
    first = np.array([0, 2, 3, 3], dtype=np.int64)
    source = np.array([0, 0, 1], dtype=np.int32)
    target = np.array([1, 2, 2], dtype=np.int32)
    entering_first = np.array([0, 0, 1, 3], dtype=np.int64)
    entering = np.array([0, 1, 2], dtype=np.int32)
    w, d, q = np.zeros(3), np.zeros(3), np.empty(3)
    distances(w, first, target, d)
    redistances(
        w, first, target, entering_first, entering, source, entering[:1], d, np.zeros(3, dtype=np.bool_)
    )
    flows(w, d, first, target, q)
    sample(q, first, target, np.zeros(3))
    best_path(w, first, target)
    is_path(entering[:1], source, target, 2)
