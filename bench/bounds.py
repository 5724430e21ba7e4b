"""Every bound that is printed, against regret as it was: learners x automata x drawn or best x at once or late.

Gains are fixed for a stretch of rounds and then dealt anew, which is hard for feedback that comes stretch by
stretch. Regret is expected over the draw of each round where the law is at hand, and averaged over seeds, which
also move what partial feedback reveals; `error` is the standard error of that mean. `bound` is the mean of the
printed ones; 0 stands for none, printed with its reason.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from galloon.learners.automata.context import Reach
from galloon.learners.automata.expert import Ensemble, ExpertAutomaton, ExplicitAutomaton
from galloon.learners.paths.build import Making, make_learner
from galloon.learners.paths.catalogue import CATALOGUE, NAMES
from galloon.learners.paths.guarantee import as_played
from galloon.learners.paths.protocol import (
    BanditFeedback,
    Feedback,
    FloatArray,
    FullFeedback,
    IntArray,
    SemiBanditFeedback,
    Setting,
)

ROUNDS, STRETCH, SEEDS = 600, 100, 20
VARIANTS: Mapping[str, tuple[Mapping[str, str], ...]] = {
    "component_hedge": ({}, {"start": "centre"}, {"tuning": "paper"}),
    "expanded_hedge": ({}, {"tuning": "paper"}),
    "com_band": ({}, {"exploration": "centre"}),
    "exp3_paths": ({}, {"exploration": "implicit"}),
}


def _explicit(pairs: list[tuple[int, int]]) -> ExplicitAutomaton:
    sources, targets = (np.array(ends, dtype=np.int32) for ends in zip(*pairs, strict=True))
    last = int(targets.max())
    return ExplicitAutomaton(
        last + 1, 0, (last,), sources, targets, tuple(f"e{i}" for i in range(len(pairs)))
    )


AUTOMATA: Mapping[str, ExpertAutomaton] = {
    "ensemble": Ensemble(2, 3),
    "explicit": _explicit([(s, s + 1) for s in range(4) for _ in range(2)] + [(0, 4)]),
    "lattice": _explicit([(s, s + 1) for s in range(6)] + [(0, 2), (1, 3), (1, 4), (3, 5), (2, 6)]),
}


def figures(rounds: int = ROUNDS, seeds: int = SEEDS) -> dict[str, dict[str, float]]:
    """By learner, automaton, decision and delay."""
    found = {}
    for name in NAMES:
        for options in VARIANTS.get(name, ({},)):
            for place in AUTOMATA:
                for drawn in (True, False):
                    for batch in (1, STRETCH):
                        row = measured(name, options, place, drawn, batch, rounds, seeds)
                        shown = [name, *options.values(), place, "drawn" if drawn else "best"]
                        late = "at once" if batch == 1 else f"batches of {batch}"
                        found[", ".join([*shown, late])] = row
    return found


def measured(
    name: str, options: Mapping[str, str], place: str, drawn: bool, batch: int, rounds: int, seeds: int
) -> dict[str, float]:
    """Mean regret, its error, and the mean of the bounds; one seed is enough for a play without luck."""
    games = [_game(name, options, AUTOMATA[place], drawn, batch, rounds, seed) for seed in range(seeds)]
    regrets = np.array([regret for regret, _ in games])
    bounds = [bound for _, bound in games]
    known = [bound for bound in bounds if bound is not None]
    return {
        "regret": round(float(regrets.mean()), 2),
        "error": round(float(regrets.std() / np.sqrt(max(seeds - 1, 1))), 2),
        "bound": round(float(np.mean(known)), 2) if len(known) == len(bounds) else 0.0,
    }


def _game(
    name: str,
    options: Mapping[str, str],
    expert: ExpertAutomaton,
    drawn: bool,
    batch: int,
    rounds: int,
    seed: int,
) -> tuple[float, float | None]:
    length = float(expert.longest_path)
    by_gap = name in ("component_hedge", "expanded_hedge") and options.get("tuning") != "paper"
    making = Making(1.0, length, horizon=0 if by_gap else rounds, seed=seed, options=options)
    learner: Any = make_learner(name, expert, Reach(1, 1), making)
    context = learner.graph if CATALOGUE[name].on_expert else learner.context
    emitting = np.array([bool(context.window(edge)) for edge in range(context.transition_count)])
    dealer = np.random.default_rng(1000 + seed)
    total, gained, gains = np.zeros(context.transition_count), 0.0, np.zeros(context.transition_count)
    for first in range(0, rounds, batch):
        lessons = []
        for number in range(first, min(first + batch, rounds)):
            if number % STRETCH == 0:
                gains = dealer.integers(0, 2, context.transition_count) * emitting.astype(float)
            choice = learner.choose(number) if drawn else learner.choose_best()
            edges = choice.memory.edges
            law = learner.marginals() if drawn and CATALOGUE[name].marginals else None
            gained += float(gains[edges].sum() if law is None else law @ gains)
            total += gains
            lessons.append((choice.memory, _feedback(learner.setting, gains, edges)))
        for lesson in lessons:
            learner.learn(*lesson)
    return context.best_path(total)[1] - gained, as_played(learner.promise(), drawn).bound


def _feedback(setting: Setting, gains: FloatArray, edges: IntArray) -> Feedback:
    match setting:
        case Setting.FULL:
            return FullFeedback(gains)
        case Setting.SEMI_BANDIT:
            return SemiBanditFeedback(gains[edges])
        case Setting.BANDIT:
            return BanditFeedback(float(gains[edges].sum()))
