"""Checks that arrays are a tree of EXP3-AG before compiled code uses them: `check_tree`.

A state may come from a client. The kernels of `kernels.trie`, where the arrays are explained, follow indices
without checking them.
"""

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import DamagedState
from galloon.learners.paths.protocol import FloatArray, IntArray
from galloon.learners.state import State, check_like


def check_tree(found: State, first: NDArray[np.int64], target: IntArray) -> None:
    """Refuse arrays that are no prefix tree over the graph that `first` and `target` describe."""
    sizes = {name: array.size for name, array in found.arrays.items()}
    nodes = sizes.get("value", 0)
    check_like(
        found,
        {
            "value": np.empty(nodes),
            "data": np.empty(nodes, dtype=np.int64),
            "state": np.empty(nodes, dtype=np.int32),
            "children": np.empty(sizes.get("children", 0), dtype=np.int32),
            "tails": np.empty(sizes.get("tails", 0), dtype=np.uint16),
        },
    )
    value, data, state = found.arrays["value"], found.arrays["data"], found.arrays["state"]
    children, tails = found.arrays["children"], found.arrays["tails"]
    sink = first.size - 2
    _need(nodes > 0 and state[0] == 0 and data[0] >= 0, "has no root")
    _need(bool(np.all((state >= 0) & (state <= sink))), "stands at states that do not exist")
    inner = np.flatnonzero(data >= 0)
    _check_children(inner, data[inner], state, children, first, target)
    leaves = np.flatnonzero(data < 0)
    _check_tails(value[leaves], ~data[leaves], state[leaves], tails, first, target)


def _check_children(
    inner: NDArray[np.int64],
    block: NDArray[np.int64],
    state: IntArray,
    children: IntArray,
    first: NDArray[np.int64],
    target: IntArray,
) -> None:
    """Every child has one parent, comes after it, and has the state that its transition leads to."""
    at = state[inner]
    ways = first[at + 1] - first[at]
    order = np.argsort(block, kind="stable")
    ends = np.cumsum(ways[order])
    tiled = ways.all() and np.array_equal(block[order], ends - ways[order]) and ends[-1] == children.size
    _need(bool(tiled), "does not share its children out")
    place = np.arange(ways.sum()) - np.repeat(np.cumsum(ways) - ways, ways)
    child = children[np.repeat(block, ways) + place]
    there = child != 0
    parent = np.repeat(inner, ways)[there]
    child, leads_to = child[there], target[(np.repeat(first[at], ways) + place)[there]]
    _need(np.array_equal(np.sort(child), np.arange(1, state.size)), "has nodes with no parent or with two")
    _need(bool(np.all(child > parent)), "has children out of order")
    _need(bool(np.all(state[child] == leads_to)), "has children at the wrong states")


def _check_tails(
    loss: FloatArray,
    tail: NDArray[np.int64],
    state: IntArray,
    tails: NDArray[np.uint16],
    first: NDArray[np.int64],
    target: IntArray,
) -> None:
    """Each leaf's tail leads to the end of a path, and no path has lost less than nothing."""
    _need(bool(np.all(loss >= 0)), "has a negative loss")
    sink = first.size - 2
    while True:
        on = state != sink
        if not on.any():
            return
        state, tail = state[on], tail[on]
        _need(bool(np.all(tail < tails.size)), "points beyond its tails")
        place = tails[tail]
        _need(bool(np.all(place < first[state + 1] - first[state])), "has a tail that leaves the automaton")
        state, tail = target[first[state] + place], tail + 1


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise DamagedState(f"this exp3_paths state is no tree of this automaton: it {otherwise}")
