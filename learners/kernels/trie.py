"""EXP3-AG's weighted automaton as a prefix tree grafted on A: only paths that were played have nodes.

A is an acyclic graph as in `kernels.graph` (transitions sorted by source, sink last). A path's log weight is
-eta * loss, 0 if it was never played. A node is a prefix of played paths and stands at a state of A:

    inner node   value = potential, the log of the summed weights of all paths on from here, played or not;
                 data = where its block of children begins, one per transition that leaves its state (0: none)
    leaf         the prefix of one played path only: value = that path's loss; data = ~(where its *tail*, the
                 rest of its transitions as places among those that leave each state, begins)

A leaf's potential has a closed form: of the n ways on from its state, one has the weight e**(-eta * loss),
ln(n - 1 + e**(-eta * loss)). So a round adds one leaf and a few inner nodes, not a chain of nodes, and a walk
costs O(path length x ways that leave a state).

Letters: c log of the number of ways from a state to the sink [Q].
`used` = [nodes, children, tail places] in use; node 0 is the root, an inner node.
"""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def leaf_potential(loss, eta, c):
    """ln(n - 1 + e**(-eta * loss)) for n = e**c ways."""
    if c == 0.0:
        return -eta * loss
    return c + math.log1p(math.expm1(-eta * loss) * math.exp(-c))


@njit(cache=True, nogil=True)
def _potential(node, value, data, state, eta, c):
    if data[node] < 0:
        return leaf_potential(value[node], eta, c[state[node]])
    return value[node]


@njit(cache=True, nogil=True)
def _refresh(node, value, data, state, children, first, target, eta, c):
    """An inner node's potential from those of the ways on."""
    s = state[node]
    block = data[node]
    largest = -np.inf
    for i in range(first[s + 1] - first[s]):
        child = children[block + i]
        x = _potential(child, value, data, state, eta, c) if child else c[target[first[s] + i]]
        largest = max(largest, x)
    total = 0.0
    for i in range(first[s + 1] - first[s]):
        child = children[block + i]
        x = _potential(child, value, data, state, eta, c) if child else c[target[first[s] + i]]
        total += math.exp(x - largest)
    value[node] = largest + math.log(total)


@njit(cache=True, nogil=True)
def rebuild(value, data, state, children, first, target, eta, c, used):
    """All potentials anew, for a new rate. Children have higher numbers than their parents."""
    for node in range(used[0] - 1, -1, -1):
        if data[node] >= 0:
            _refresh(node, value, data, state, children, first, target, eta, c)


@njit(cache=True, nogil=True)
def sample(value, data, state, children, tails, first, target, eta, c, uniforms):
    """Draw a path: at each state a way on in proportion to the weights beyond it."""
    path = np.empty(uniforms.size, dtype=np.int32)
    sink = first.size - 2
    s, length = 0, 0
    node = 0  # -1 once off all played prefixes
    tail = -1  # on a leaf's tail: the next place
    loss = 0.0
    while s != sink:
        ways = first[s + 1] - first[s]
        largest = -np.inf
        for i in range(ways):
            largest = max(
                largest,
                _beyond(i, s, node, tail, loss, value, data, state, children, tails, first, target, eta, c),
            )
        total = 0.0
        for i in range(ways):
            x = _beyond(i, s, node, tail, loss, value, data, state, children, tails, first, target, eta, c)
            total += math.exp(x - largest)
        left = uniforms[length] * total
        chosen = -1
        for i in range(ways):
            x = _beyond(i, s, node, tail, loss, value, data, state, children, tails, first, target, eta, c)
            weight = math.exp(x - largest)
            if weight > 0.0:
                chosen = i  # rounding may leave a rest after the last: then the last possible one is taken
                left -= weight
                if left < 0.0:
                    break
        path[length] = first[s] + chosen
        length += 1
        if tail >= 0:
            tail = tail + 1 if tails[tail] == chosen else -1
        elif node >= 0:
            child = children[data[node] + chosen]
            node = -1
            if child and data[child] < 0:
                tail, loss = ~data[child], value[child]
            elif child:
                node = child
        s = target[first[s] + chosen]
    return path[:length]


@njit(cache=True, nogil=True)
def _beyond(i, s, node, tail, loss, value, data, state, children, tails, first, target, eta, c):
    """The log of the summed weights of the paths that leave s by its i-th way."""
    t = target[first[s] + i]
    if tail >= 0:
        return leaf_potential(loss, eta, c[t]) if tails[tail] == i else c[t]
    if node >= 0:
        child = children[data[node] + i]
        if child:
            return _potential(child, value, data, state, eta, c)
    return c[t]


@njit(cache=True, nogil=True)
def loss_of(path, value, data, children, tails, first, source):
    """The loss that a path has gathered; 0 if it was never played."""
    node = 0
    for k in range(path.size):
        place = path[k] - first[source[path[k]]]
        if data[node] < 0:
            start = ~data[node] - k
            for m in range(k, path.size):
                if tails[start + m] != path[m] - first[source[path[m]]]:
                    return 0.0
            return value[node]
        child = children[data[node] + place]
        if not child:
            return 0.0
        node = child
    return value[node]


@njit(cache=True, nogil=True)
def add_loss(path, loss, value, data, state, children, tails, first, source, target, eta, c, used):
    """Let a path gather this much more loss; the arrays must have room for one path. O(path x ways)."""
    spine = np.empty(path.size + 1, dtype=np.int32)  # the inner nodes along the path
    height = 1
    spine[0] = 0
    node, k = 0, 0
    while True:
        place = path[k] - first[source[path[k]]]
        slot = data[node] + place
        child = children[slot]
        k += 1
        if not child:
            children[slot] = _new_leaf(path, k, loss, value, data, state, tails, first, source, target, used)
            break
        if data[child] >= 0:
            node = child
            spine[height] = node
            height += 1
            continue
        # A leaf: the same path, or one that parts from it somewhere along the tail.
        start = ~data[child] - k
        m = k
        while m < path.size and tails[start + m] == path[m] - first[source[path[m]]]:
            m += 1
        if m == path.size:
            value[child] += loss
            break
        # Inner nodes down to where they part; the old path keeps its tail's rest in a leaf of its own.
        old_loss, old_tail = value[child], start
        at = child
        for depth in range(k, m + 1):
            s = source[path[depth]]
            data[at] = used[1]
            state[at] = s
            for i in range(first[s + 1] - first[s]):
                children[used[1] + i] = 0
            used[1] += first[s + 1] - first[s]
            spine[height] = at
            height += 1
            if depth < m:
                below = used[0]
                used[0] += 1
                children[data[at] + tails[old_tail + depth]] = below
                at = below
        old = used[0]
        used[0] += 1
        children[data[at] + tails[old_tail + m]] = old
        value[old] = old_loss
        data[old] = ~(old_tail + m + 1)
        state[old] = target[first[source[path[m]]] + tails[old_tail + m]]
        children[data[at] + path[m] - first[source[path[m]]]] = _new_leaf(
            path, m + 1, loss, value, data, state, tails, first, source, target, used
        )
        break
    for h in range(height - 1, -1, -1):
        _refresh(spine[h], value, data, state, children, first, target, eta, c)


@njit(cache=True, nogil=True)
def _new_leaf(path, k, loss, value, data, state, tails, first, source, target, used):
    """A leaf for a path of which k transitions are above it."""
    leaf = used[0]
    used[0] += 1
    value[leaf] = loss
    data[leaf] = ~used[2]
    state[leaf] = target[path[k - 1]]
    for m in range(k, path.size):
        tails[used[2]] = path[m] - first[source[path[m]]]
        used[2] += 1
    return leaf


@njit(cache=True, nogil=True)
def flows(value, data, state, children, tails, first, target, eta, c, used, q):
    """Fill q with the probability of passing each transition: along the tree, and evenly where nobody played."""
    q[:] = 0.0
    reach = np.zeros(used[0])  # of inner nodes
    fresh = np.zeros(first.size - 1)  # what enters each state on paths never played, beyond all prefixes
    reach[0] = 1.0
    for node in range(used[0]):
        if reach[node] == 0.0:
            continue
        if data[node] >= 0:
            s = state[node]
            for i in range(first[s + 1] - first[s]):
                child = children[data[node] + i]
                x = _potential(child, value, data, state, eta, c) if child else c[target[first[s] + i]]
                part = reach[node] * math.exp(x - value[node])
                q[first[s] + i] += part
                if child:
                    reach[child] = part
                else:
                    fresh[target[first[s] + i]] += part
        else:
            s, here = state[node], reach[node]
            tail = ~data[node]
            while s != first.size - 2 and here > 0.0:
                whole = leaf_potential(value[node], eta, c[s])
                onward = 0.0
                for i in range(first[s + 1] - first[s]):
                    t = target[first[s] + i]
                    played = tails[tail] == i
                    x = leaf_potential(value[node], eta, c[t]) if played else c[t]
                    part = here * math.exp(x - whole)
                    q[first[s] + i] += part
                    if played:
                        onward = part
                    else:
                        fresh[t] += part
                s = target[first[s] + tails[tail]]
                here = onward
                tail += 1
    for s in range(first.size - 2):
        if fresh[s] > 0.0:
            for i in range(first[s], first[s + 1]):
                part = fresh[s] * math.exp(c[target[i]] - c[s])
                q[i] += part
                fresh[target[i]] += part


@njit(cache=True, nogil=True)
def lightest(value, data, state, children, tails, first, target, c, used):
    """A path with the least loss: one never played where there is one."""
    least = np.empty(used[0])
    way = np.zeros(used[0], dtype=np.int32)
    for node in range(used[0] - 1, -1, -1):
        if data[node] < 0:
            least[node] = (
                0.0 if c[state[node]] > 0.0 else value[node]
            )  # other ways on from here were not played
            continue
        s = state[node]
        least[node] = np.inf
        for i in range(first[s + 1] - first[s]):
            child = children[data[node] + i]
            x = least[child] if child else 0.0
            if x < least[node]:
                least[node] = x
                way[node] = i
    path = np.empty(first.size, dtype=np.int32)
    s, length, node, tail = 0, 0, 0, -1
    while s != first.size - 2:
        i = 0
        if tail >= 0:
            i = tails[tail]
            tail += 1
            if first[s + 1] - first[s] > 1:  # leave the played tail as soon as there is another way
                i = 1 if i == 0 else 0
                tail = -1
        elif node >= 0:
            i = way[node]
            child = children[data[node] + i]
            node = -1
            if child and data[child] < 0:
                tail = ~data[child]
            elif child:
                node = child
        path[length] = first[s] + i
        length += 1
        s = target[first[s] + i]
    return path[:length]


def warm_up() -> None:
    first = np.array([0, 2, 4, 4], dtype=np.int64)
    source = np.array([0, 0, 1, 1], dtype=np.int32)
    target = np.array([1, 1, 2, 2], dtype=np.int32)
    c = np.log(np.array([4.0, 2.0, 1.0]))
    value, data, state = np.zeros(9), np.zeros(9, dtype=np.int64), np.zeros(9, dtype=np.int32)
    children, tails = np.zeros(9, dtype=np.int32), np.zeros(9, dtype=np.uint16)
    used = np.array([1, 2, 0], dtype=np.int64)
    rebuild(value, data, state, children, first, target, 1.0, c, used)
    path = sample(value, data, state, children, tails, first, target, 1.0, c, np.zeros(2))
    add_loss(path, 1.0, value, data, state, children, tails, first, source, target, 1.0, c, used)
    loss_of(path, value, data, children, tails, first, source)
    flows(value, data, state, children, tails, first, target, 1.0, c, used, np.empty(4))
    lightest(value, data, state, children, tails, first, target, c, used)
