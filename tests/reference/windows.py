"""The obvious twins of `learners/kernels/windows.py`: one window after the other, with sums over whole paths."""

from collections.abc import Sequence

import numpy as np

from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.paths.draws import uniforms

FILL_SHOWN, FILL_TRUE = "\0shown", "\0true"


def draws(context: EnsembleContext, flows, scores, rate, log_total, seed, first, count):
    """Edges, paths of A and log probabilities of each window."""
    found = []
    for number in range(first, first + count):
        edges = context.sample(flows, uniforms(seed, number, context.longest_path))
        log = sum(rate * scores[edge] for edge in edges) - log_total
        found.append((edges.tolist(), context.expert_path(edges).tolist(), log))
    return found


def marginals(context: EnsembleContext, flows) -> np.ndarray:
    """Each transition passes its flow to the expert of the newest slot of its window; the first ones to all."""
    law = np.zeros((context.expert.slots, context.expert.experts))
    for edge, flow in enumerate(flows):
        window = context.window(edge)
        for transition in window if edge < context.offsets[1] else window[-1:]:
            law[divmod(transition, context.expert.experts)] += flow
    return law


def chosen(path: Sequence[int], tokens, law) -> list[tuple[int, int, float]]:
    """The expert, the token and its probability, slot by slot."""
    slots, r = law.shape
    found = []
    for at, transition in enumerate(path):
        token = tokens[at][transition % r]
        mass = sum((law[at % slots][j] for j in range(r) if tokens[at][j] == token), 0.0)
        found.append((int(transition % r), int(token), float(mass)))
    return found


def is_path(edges: Sequence[int], sources, targets, sink: int) -> bool:
    state = 0
    for edge in edges:
        if not 0 <= edge < len(sources) or sources[edge] != state:
            return False
        state = targets[edge]
    return len(edges) > 0 and state == sink


def window_gains(gain, context: EnsembleContext, tokens, truth, count: int) -> np.ndarray:
    """The gain's own `edge_gains`, window by window, on tokens as words."""
    slots, experts = context.expert.slots, context.expert.experts
    rows = []
    for window in range(count):
        outputs, target = [], []
        for at in range(window * slots, (window + 1) * slots):
            inside = at < len(truth)
            outputs += [
                _word(token) if inside else FILL_SHOWN for token in (tokens[at] if inside else range(experts))
            ]
            target.append(_word(truth[at]) if inside else FILL_TRUE)
        rows.append(gain.edge_gains(context, outputs, target))
    return np.array(rows)


def _word(token: int) -> str:
    return f"w{token}" if token else ""
