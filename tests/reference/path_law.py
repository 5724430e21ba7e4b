"""The law over the paths of an acyclic graph, by listing them all: the twin of push, flows, best paths."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PathLaw:
    """Every path from state 0 to the last state with its sum of log weights."""

    paths: list[tuple[int, ...]]
    sums: np.ndarray
    edge_count: int

    @property
    def log_total(self) -> float:
        return float(np.logaddexp.reduce(self.sums))

    @property
    def probabilities(self) -> np.ndarray:
        return np.exp(self.sums - self.log_total)

    @property
    def flows(self) -> np.ndarray:
        flows = np.zeros(self.edge_count)
        for path, probability in zip(self.paths, self.probabilities, strict=True):
            flows[list(path)] += probability
        return flows


def path_law(sources, targets, log_weights) -> PathLaw:
    leaving = {}
    for edge, source in enumerate(sources.tolist()):
        leaving.setdefault(source, []).append(edge)
    last = int(targets.max())
    paths = []

    def walk(state, path):
        if state == last:
            paths.append(path)
        for edge in leaving.get(state, ()):
            walk(int(targets[edge]), (*path, edge))

    walk(0, ())
    return PathLaw(paths, np.array([sum(log_weights[e] for e in path) for path in paths]), len(log_weights))


def distance_from(sources, targets, log_weights, state) -> float:
    """The log of the sum over all ways from a state to the last one."""
    last = int(targets.max())
    if state == last:
        return 0.0
    onward = [
        log_weights[e] + distance_from(sources, targets, log_weights, int(targets[e]))
        for e in np.flatnonzero(sources == state)
    ]
    return float(np.logaddexp.reduce(onward))


def can_reach(sources, targets, edges) -> set[int]:
    """The states from which one of these transitions can be reached."""
    reaching = {int(sources[e]) for e in edges}
    while True:
        more = {int(s) for s, t in zip(sources, targets, strict=True) if int(t) in reaching} - reaching
        if not more:
            return reaching
        reaching |= more
