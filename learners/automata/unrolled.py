"""Expert automata with cycles: `unroll` gives the acyclic automaton of all paths up to a length.

State (q, k) is state q of the graph after k transitions; only those are made that lie on a path of at most
`longest` transitions, so the size is that of what is asked for. Transition `a` taken as the k-th step is `a@k`:
its gains are learned for each step, and its output is the same for all of them.
"""

import numpy as np

from galloon.learners.automata.expert import ExplicitAutomaton, Graph
from galloon.learners.automata.limits import AutomatonLimits
from galloon.learners.errors import InvalidInput

FAR = 2**31  # more steps than any path has


def unroll(graph: Graph, longest: int, limits: AutomatonLimits | None = None) -> ExplicitAutomaton:
    """All accepting paths of at most `longest` transitions, each once."""
    limits = limits or AutomatonLimits()
    if longest < 1:
        raise InvalidInput(f"paths of at most {longest} transitions are none; at least 1 is needed")
    left = _steps_to_the_end(graph)
    if left[graph.initial] > longest:
        raise InvalidInput(
            f"no path of at most {longest} transitions reaches a final state",
            advice=f"allow {left[graph.initial]}" if left[graph.initial] < FAR else "",
        )
    places = [(graph.initial, 0)]  # the state of the graph and the steps taken, of each state that is made
    numbers = {places[0]: 0}
    sources: list[int] = []
    targets: list[int] = []
    names: list[str] = []
    for number, (state, step) in enumerate(places):  # grows while it is walked
        for edge in graph.outgoing[state]:
            place = (int(graph.targets[edge]), step + 1)
            if step + 1 + left[place[0]] > longest:
                continue
            if place not in numbers:
                numbers[place] = len(places)
                places.append(place)
            sources.append(number)
            targets.append(numbers[place])
            names.append(f"{graph.names[edge]}@{step + 1}")
        limits.check_arcs(len(names))
        limits.check_states(len(places))
    return ExplicitAutomaton(
        len(places),
        0,
        tuple(number for number, (state, _) in enumerate(places) if graph.is_final(state)),
        np.array(sources, dtype=np.int32),
        np.array(targets, dtype=np.int32),
        tuple(names),
    )


def _steps_to_the_end(graph: Graph) -> list[int]:
    """The fewest transitions from each state to a final one."""
    entering: list[list[int]] = [[] for _ in range(graph.state_count)]
    for edge, target in enumerate(graph.targets.tolist()):
        entering[target].append(edge)
    left = [FAR] * graph.state_count
    ahead = list(dict.fromkeys(graph.finals))
    for state in ahead:
        left[state] = 0
    for state in ahead:  # grows while it is walked: breadth first
        for edge in entering[state]:
            source = int(graph.sources[edge])
            if left[source] == FAR:
                left[source] = left[state] + 1
                ahead.append(source)
    return left
