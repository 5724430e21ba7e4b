"""What a round costs: CDCH and CDCB in pushes, others in lessons of CDCH, the pseudo-inverse, EXP3-AG."""

from statistics import median
from time import perf_counter, process_time

import numpy as np

from bench.clock import once, ratio
from galloon.learners.automata.context import Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.expert import Ensemble, ExplicitAutomaton
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.paths.barrier_bandit import BarrierBandit
from galloon.learners.paths.barrier_semi_bandit import BarrierSemiBandit
from galloon.learners.paths.centre_flow import centre_flow
from galloon.learners.paths.com_band import ComBand
from galloon.learners.paths.component_hedge import ComponentHedge
from galloon.learners.paths.exp3_paths import Exp3Paths
from galloon.learners.paths.flow_projection import ABSOLUTE_GOAL, FLOW_FLOOR, RELATIVE_GOAL
from galloon.learners.paths.mirror_semi_bandit import MirrorSemiBandit
from galloon.learners.paths.protocol import BanditFeedback, Feedback, FullFeedback, SemiBanditFeedback


def figures() -> dict[str, dict[str, float]]:
    return {
        "CDCH round in pushes, r=6 n=4 l=60, rate x loss 0.1": component_hedge_round(6, 4, 60),
        "lessons of partial feedback : CDCH, r=6 n=4 l=60": partial_rounds(6, 4, 60),
        "lessons of partial feedback : CDCH, r=6 n=2 l=8": partial_rounds(6, 2, 8, rounds=300),
        "centre flow in pushes, once an automaton": centre_in_pushes(),
        "CDCB round in pushes, M=1e5": com_band_round(10, 3, 102),
        "CDCB estimate : pseudo-inverse, M=999": com_band_inverse(),
        "EXP3-AG round, r=3 l=20": exp3_rounds(),
    }


def component_hedge_round(r: int, n: int, l: int, rounds: int = 120) -> dict[str, float]:
    """A planted path gains more than the rest; every projection is checked against its goals."""
    context = EnsembleContext(Ensemble(r, l), Reach(n, n))
    random = np.random.default_rng(0)
    learner = ComponentHedge(context, 1.0, learning_rate=0.1)
    planted = context.context_path((np.arange(l) * r + random.integers(0, r, l)).astype(np.int32))
    weights = np.zeros(context.transition_count)
    pushes, failures, absolute, relative = [], 0, 0.0, 0.0
    for number in range(rounds):
        gains = random.random(context.transition_count) / 2
        gains[planted] += 0.5
        push_s = min(once(lambda: context.push(weights)) for _ in range(3))
        start = perf_counter()
        learner.learn(learner.choose(number).memory, FullFeedback(gains))
        pushes.append((perf_counter() - start) / push_s)
        failures += not learner.work.converged
        off, ratio_off = _violations(context, learner.flow)
        absolute, relative = max(absolute, off), max(relative, ratio_off)
    return {
        "median": round(median(pushes), 1),
        "first_40": round(median(pushes[:40]), 1),
        "worst": round(max(pushes[1:]), 1),
        "failures": failures,
        "largest_in_minus_out": absolute,
        "largest_ln_in_over_out": relative,
        "goals_met": float(absolute <= ABSOLUTE_GOAL and relative <= RELATIVE_GOAL),
    }


def partial_rounds(r: int, n: int, l: int, rounds: int = 30) -> dict[str, float]:
    """Lessons of mirror descent and under a barrier against those of CDCH, in turn, by processor time."""
    context = EnsembleContext(Ensemble(r, l), Reach(n, n))
    random = np.random.default_rng(0)
    planted = context.context_path((np.arange(l) * r + random.integers(0, r, l)).astype(np.int32))
    learners = (
        ComponentHedge(context, 1.0, learning_rate=0.1),
        MirrorSemiBandit(context, 1.0),
        BarrierSemiBandit(context, 1.0),
        BarrierBandit(context, 1.0),
    )
    taken = np.zeros((rounds, len(learners)))
    for number in range(rounds):
        gains = random.random(context.transition_count) / 2
        gains[planted] += 0.5
        for place, learner in enumerate(learners):
            memory = learner.choose(number).memory
            on_path = gains[memory.edges]
            feedback: Feedback = (
                FullFeedback(gains),
                SemiBanditFeedback(on_path),
                SemiBanditFeedback(on_path),
                BanditFeedback(float(on_path.sum())),
            )[place]
            start = process_time()
            learner.learn(memory, feedback)
            taken[number, place] = process_time() - start
    hedge, mirror, semi, bandit = np.median(taken[2:], axis=0)
    return {
        "transitions": context.transition_count,
        "mirror": round(float(mirror / hedge), 2),
        "barrier_semi_bandit": round(float(semi / hedge), 2),
        "barrier_bandit": round(float(bandit / hedge), 2),
    }


def centre_in_pushes() -> dict[str, float]:
    """On ensembles with a transition beside them, written out: where the even flow is not the centre."""
    found = {}
    for slots in (20, 200, 2000):
        sources = np.append(np.repeat(np.arange(slots), 3), 0).astype(np.int32)
        targets = np.append(np.repeat(np.arange(slots) + 1, 3), slots).astype(np.int32)
        names = tuple(f"e{i}" for i in range(sources.size))
        expert = ExplicitAutomaton(slots + 1, 0, (slots,), sources, targets, names)
        context = GraphContext(expert, Reach(1, 1))
        centre_flow(context)
        start = process_time()
        centre_flow(context)
        centre_s = process_time() - start
        weights = np.zeros(context.transition_count)
        start = process_time()
        for _ in range(20):
            context.push(weights)
        found[f"M={context.transition_count}"] = round(centre_s / ((process_time() - start) / 20), 1)
    return found


def _violations(context: EnsembleContext, flow: np.ndarray) -> tuple[float, float]:
    sources, targets = context.source_targets()
    out = np.bincount(sources, weights=flow, minlength=context.state_count)[:-1]
    into = np.bincount(targets, weights=flow, minlength=context.state_count)[:-1]
    into[0] = 1.0
    seen = np.maximum(out, into) >= FLOW_FLOOR
    return float(np.abs(into - out).max()), float(np.abs(np.log(into[seen] / out[seen])).max())


def com_band_round(r: int, n: int, l: int) -> dict[str, float]:
    """choose and learn, against one push of the same automaton."""
    context = EnsembleContext(Ensemble(r, l), Reach(n, n))
    learner = ComBand(context, 1.0, horizon=1000)
    weights = np.zeros(context.transition_count)
    rounds = iter(range(10**6))

    def play() -> None:
        learner.learn(learner.choose(next(rounds)).memory, BanditFeedback(1.0))

    taken = ratio(play, lambda: context.push(weights), pairs=15)
    return {"transitions": context.transition_count, "pushes": round(taken.middle, 2), **taken.rounded()}


def com_band_inverse() -> dict[str, float]:
    """The same estimate by the paper's pseudo-inverse of E[v v^T] (built by hand here, M x M)."""
    context = EnsembleContext(Ensemble(3, 39), Reach(3, 3))
    learner = ComBand(context, 1.0, horizon=1000)
    choice = learner.choose(0)
    matrix = _second_moments(context, learner.marginals())
    path = np.zeros(context.transition_count)
    path[choice.memory.edges] = 1.0
    taken = ratio(
        lambda: np.linalg.pinv(matrix, hermitian=True) @ path,
        lambda: learner._increment(choice.memory, BanditFeedback(1.0)),
        pairs=3,
        repeats=50,
    )
    return {"transitions": context.transition_count, **taken.rounded()}


def _second_moments(context: EnsembleContext, flow: np.ndarray) -> np.ndarray:
    """E[v v^T] of the Markov walk with these flows: q(e) P(f | e), by pushing rows through the layers."""
    sources, targets = context.source_targets()
    count = context.transition_count
    through = context.state_flows(flow)
    step = (targets[:, None] == sources[None, :]) * (flow / through[sources])[None, :]
    moments, power = np.diag(flow), np.diag(flow)
    for _ in range(context.longest_path - 1):
        power = power @ step
        moments = moments + power + power.T
    assert moments.shape == (count, count)
    return moments


def exp3_rounds() -> dict[str, float]:
    """Microseconds a round, choose and learn, around t = 1e3, 1e4 and 1e5, and bytes a round at the end."""
    learner = Exp3Paths(Ensemble(3, 20), 1.0, horizon=100_000)
    gain = BanditFeedback(0.5)
    times: dict[int, float] = {}
    marks = {1_000: [], 10_000: [], 100_000: []}
    for number in range(100_500):
        start = perf_counter()
        learner.learn(learner.choose(number).memory, gain)
        taken = perf_counter() - start
        for mark, seen in marks.items():
            if mark - 500 <= number < mark + 500:
                seen.append(taken)
    times = {mark: median(seen) * 1e6 for mark, seen in marks.items()}
    return {
        "us_at_1e3": round(times[1_000], 1),
        "us_at_1e4": round(times[10_000], 1),
        "us_at_1e5": round(times[100_000], 1),
        "ratio_1e5_to_1e3": round(times[100_000] / times[1_000], 2),
        "bytes_a_round": round(learner.size().state_bytes / learner.rounds_learned, 1),
    }
