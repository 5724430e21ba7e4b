"""A' built directly against OpenFst's operations; push and flows against OpenFst's push and against copying."""

import numpy as np
import pynini
import pywrapfst

from bench.clock import once, ratio
from galloon.learners.automata.context import Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.growing import append_slot
from galloon.learners.automata.literal import acceptor, compose_and_minimise
from galloon.learners.automata.rewriting import RewriteRules, rewrite_transducer

SIZES = ((3, 3, 20), (4, 4, 40), (6, 4, 60))
BYTES_A_TRANSITION = (
    48  # push reads w, writes and reads the weights, spreads distances, writes and reads flows
)
COPIED = 1 << 27


def figures() -> dict[str, dict[str, float]]:
    """By (experts, n, slots)."""
    found = {}
    copy_gb_s = copy_bandwidth()
    found["copy"] = {"gigabytes_per_s": round(copy_gb_s, 2)}
    for r, n, l in SIZES:
        name = f"r={r} n={n} l={l}"
        found[f"A' direct : OpenFst's operations, {name}"] = _construction(r, n, l)
        found[f"push + flows : OpenFst's push, {name}"] = _push(r, n, l, copy_gb_s)
        found[f"a slot more : A' with its push anew, {name}"] = _slot(r, n, l)
    return found


def copy_bandwidth() -> float:
    """Bytes read and written by a copy too large for the caches, in GB/s: the best of five."""
    source = np.zeros(COPIED // 8)
    target = np.empty_like(source)
    best = min(once(lambda: np.copyto(target, source)) for _ in range(6))
    return 2 * COPIED / best / 1e9


def _construction(r: int, n: int, l: int) -> dict[str, float]:
    ensemble = Ensemble(r, l)
    explicit = ensemble.explicit()
    machine = rewrite_transducer(explicit, RewriteRules((n,)), budget=10**7).machine
    expert = acceptor(explicit)
    taken = ratio(
        lambda: compose_and_minimise(expert, machine),
        lambda: EnsembleContext(ensemble, Reach(n, n)),
        repeats=20,
    )
    return taken.rounded()


def _push(r: int, n: int, l: int, copy_gb_s: float) -> dict[str, float]:
    context = EnsembleContext(Ensemble(r, l), Reach(n, n))
    weights = np.random.default_rng(0).normal(size=context.transition_count)
    machine = loaded(context, weights)
    taken = ratio(
        lambda: pynini.push(machine, push_weights=True, reweight_type="to_initial"),
        lambda: context.push(weights),
        repeats=10,
    )
    moved_s = BYTES_A_TRANSITION * context.transition_count / (copy_gb_s * 1e9)
    return taken.rounded() | {
        "times_the_bandwidth_bound": round(taken.fast_s / moved_s, 2),
        "ns_a_transition": round(taken.fast_s / context.transition_count * 1e9, 2),
    }


def _slot(r: int, n: int, l: int) -> dict[str, float]:
    context = EnsembleContext(Ensemble(r, l), Reach(n, n))
    weights = np.random.default_rng(0).normal(size=context.transition_count)
    pushed = context.push(weights)

    def anew() -> None:
        longer = EnsembleContext(Ensemble(r, l + 1), Reach(n, n))
        longer.push(np.concatenate([weights, np.zeros(longer.transition_count - weights.size)]))

    return ratio(anew, lambda: append_slot(context, pushed), repeats=20).rounded()


def loaded(context: EnsembleContext, log_weights: np.ndarray) -> pynini.Fst:
    """A' with these weights as an OpenFst machine over log64 (weights are negated logs there)."""
    sources, targets = context.source_targets()
    machine = pynini.Fst("log64")
    machine.add_states(context.state_count)
    machine.set_start(0)
    machine.set_final(context.state_count - 1)
    kind = machine.weight_type()
    for e in range(context.transition_count):
        weight = pywrapfst.Weight(kind, -float(log_weights[e]))
        machine.add_arc(int(sources[e]), pywrapfst.Arc(e + 1, e + 1, weight, int(targets[e])))
    return machine
