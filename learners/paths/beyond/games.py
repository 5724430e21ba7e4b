"""The games of `galloon simulate --beyond`: synthetic rounds for the problems that the paper leaves open.

Each game of `GAMES` plays its learner and gives, for each thing to compete with, regret and its bound.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from galloon.learners.automata.att_text import read_graph
from galloon.learners.automata.context import Reach
from galloon.learners.automata.ensemble_context import EnsembleContext
from galloon.learners.automata.graph_context import GraphContext
from galloon.learners.automata.unrolled import unroll
from galloon.learners.paths.beyond.feature_learner import FeatureLattice, FeatureLearner, margin_loss
from galloon.learners.paths.beyond.growing_hedge import GrowingHedge
from galloon.learners.paths.beyond.stopping_hedge import StoppingHedge
from galloon.learners.paths.build import Making, make_learner
from galloon.learners.paths.protocol import FloatArray, FullFeedback

CYCLIC = "0 1 a\n1 1 b\n1 2 c\n2 0 d\n2\n"  # b may come any number of times, and d begins again
LONGEST = 6
REACH = Reach(2, 2)
GOOD, BAD = 0.8, 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How much less than this the learner gained, and what is proved."""

    against: str
    regret: float
    bound: float


def cycles(rounds: int, random: np.random.Generator) -> list[Outcome]:
    """Paths of at most six transitions of an automaton with cycles, unrolled."""
    graph = read_graph(CYCLIC)
    unrolled = unroll(graph, LONGEST)
    copies = np.array([graph.names.index(name.partition("@")[0]) for name in unrolled.names])
    learner = make_learner("expanded_hedge", unrolled, Reach(1, 1), Making(1.0, float(LONGEST)))
    context = learner.automaton
    assert isinstance(context, GraphContext)
    newest = context.windows[:, -1]
    gained, dealt = 0.0, np.zeros(newest.size)
    for number in range(rounds):
        worth = (random.random(graph.edge_count) < [GOOD, 0.3, GOOD, 0.3]).astype(float)
        gains = np.where(newest >= 0, worth[copies[newest]], 0.0)
        gained += float(learner.marginals() @ gains)
        learner.learn(learner.choose(number).memory, FullFeedback(gains))
        dealt += gains
    bound = learner.promise().bound
    assert bound is not None
    return [Outcome("the best path of at most 6 transitions", context.best_path(dealt)[1] - gained, bound)]


def stopping(rounds: int, random: np.random.Generator) -> list[Outcome]:
    """All paths of the same automaton, of any length: losses, and a walk that may stop."""
    graph = read_graph(CYCLIC)
    learner = StoppingHedge(graph)
    lost, dealt = 0.0, np.zeros(graph.edge_count)
    for _ in range(rounds):
        losses = (random.random(graph.edge_count) < [0.2, 0.5, 0.2, 0.5]).astype(float)
        lost += learner.learn(losses)
        dealt += losses
    paths = {"a c": [0, 2], "a b c": [0, 1, 2], "a c d a c": [0, 2, 3, 0, 2]}
    return [
        Outcome(f"the path {name}", lost - float(dealt[path].sum()), learner.bound(np.array(path, np.int32)))
        for name, path in paths.items()
    ]


def newcomers(rounds: int, random: np.random.Generator) -> list[Outcome]:
    """Two experts in four slots, bigrams; a better one comes half way, one goes after three quarters."""
    learner = GrowingHedge(["h1", "h2"], 4, REACH)
    gained: list[float] = []
    own: dict[str, list[float]] = {"h1": [], "h2": [], "h3": []}
    for number in range(rounds):
        if number == rounds // 2:
            learner.join("h3")
        if number == 3 * rounds // 4:
            learner.leave("h1")
        rates = [{"h1": 0.3, "h2": BAD, "h3": GOOD}[name] for name in learner.names]
        right = random.random((4, len(learner.names))) < rates
        gains = _bigrams(learner.context, right)
        gained.append(learner.learn(gains))
        for place, name in enumerate(learner.names):
            own[name].append(float((right[1:, place] & right[:-1, place]).sum()))
    return [
        Outcome("h2, from the first round", sum(own["h2"]) - sum(gained), learner.bound()),
        Outcome(
            "h3, from its own first round",
            sum(own["h3"]) - sum(gained[rounds // 2 :]),
            learner.bound_since("h3"),
        ),
    ]


def growing(rounds: int, random: np.random.Generator) -> list[Outcome]:
    """Three experts in two slots, bigrams; a slot is added after each quarter of the rounds."""
    learner = GrowingHedge(["h1", "h2", "h3"], 2, REACH)
    gained, dealt = 0.0, np.zeros(learner.context.transition_count)
    for number in range(rounds):
        if number and number % max(rounds // 4, 1) == 0:
            learner.append_slot()
            dealt = np.concatenate([dealt, np.zeros(learner.context.transition_count - dealt.size)])
        right = random.random((learner.context.expert.slots, 3)) < [BAD, GOOD, BAD]
        gains = _bigrams(learner.context, right)
        gained += learner.learn(gains)
        dealt += gains
    return [
        Outcome("the best path of all slots", learner.context.best_path(dealt)[1] - gained, learner.bound())
    ]


def lattices(rounds: int, random: np.random.Generator) -> list[Outcome]:
    """Another lattice in each round: three engines, sure or not; what is shared is which engine, and how sure."""
    learner = FeatureLearner(6)
    played: list[tuple[FeatureLattice, FloatArray]] = []
    missed = 0.0
    for _ in range(rounds):
        lattice, sure = _lattice(random)
        chances = np.array([GOOD, BAD, 0.4])[lattice.features[:, 0]] + 0.15 * sure
        gains = (random.random(chances.size) < chances).astype(float)
        missed += learner.learn(lattice, gains)
        played.append((lattice, gains))
    outcomes = []
    for name, weights in {"weights of 0": np.zeros(6), "the last weights": learner.weights}.items():
        loss = sum(margin_loss(each, gains, weights, *each.best_path(gains))[0] for each, gains in played)
        outcomes.append(
            Outcome(f"the best path of each round, by {name}", missed, learner.bound(loss, weights))
        )
    return outcomes


GAMES: Mapping[str, Callable[[int, np.random.Generator], list[Outcome]]] = {
    "cycles": cycles,
    "stopping": stopping,
    "newcomers": newcomers,
    "growing": growing,
    "lattices": lattices,
}


def _bigrams(context: EnsembleContext, right: NDArray[np.bool_]) -> FloatArray:
    """Each transition of A', a window of two slots, gains 1 if both its experts are right."""
    windows = np.array([context.window(edge) for edge in range(context.transition_count)])
    hits = right.ravel()[windows]
    gains: FloatArray = hits.all(axis=1).astype(float)
    return gains


def _lattice(random: np.random.Generator) -> tuple[FeatureLattice, FloatArray]:
    """Two to five slots; in each, every engine has a transition, and now and then one skips a slot."""
    slots = int(random.integers(2, 6))
    first, targets, features = [0], [], []
    for slot in range(slots):
        for engine in range(3):
            sure = int(random.random() < 0.5)
            skips = int(slot + 2 <= slots and random.random() < 0.2)
            targets.append(slot + 1 + skips)
            features.append([engine, 3 + sure])
        first.append(len(targets))
    first.append(len(targets))
    made = FeatureLattice(
        np.array(first), np.array(targets, dtype=np.int32), np.array(features, dtype=np.int32)
    )
    return made, (made.features[:, 1] == 4).astype(float)
