"""The one suite that every learner passes. A check takes a `Subject` and fails by assertion.

`CHECKS` lists them; `test_every_learner` runs each on every learner and every sort of automaton.
"""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from galloon.learners.errors import BoundExceeded, DamagedState, InvalidInput
from galloon.learners.paths.draws import exponentials
from galloon.learners.paths.protocol import BanditFeedback, FullFeedback, Memory, SemiBanditFeedback, Setting
from tests.learners.paths.subjects import BOUND, KINDS, Subject, feedback_on, play
from tests.reference.perturbed_leader import PerturbedLeader as SlowPerturbedLeader

TOLERANCE = 1e-9
FLOW_TOLERANCE = 1e-8  # solvers stop when in and out of a state agree to 1e-9
DRAWS = 2000
CHANCE = 1e-5  # of a right law to fail its chi-square test: some 200 laws are tested


def tolerance(subject):
    return FLOW_TOLERANCE if subject.kind.startswith(("component_hedge", "mirror", "barrier")) else TOLERANCE


def played(subject, rounds=4, seed=3):
    learner = subject.build(seed=seed)
    play(learner, rounds, np.random.default_rng(seed))
    return learner


# What it says of its law.


def check_law_sums_to_one(subject):
    assert subject.law(played(subject)).sum() == pytest.approx(1, abs=TOLERANCE)


def check_marginals_are_sums_over_paths(subject):
    learner = played(subject)
    expected = subject.paths.flows(subject.law(learner))
    np.testing.assert_allclose(learner.marginals(), expected, rtol=0, atol=tolerance(subject))


def check_choices_follow_the_law(subject):
    """Draws through `choose` against the law: chi-square, cells of few expected draws put together."""
    learner = played(subject)
    counts = np.zeros(len(subject.paths))
    for number in range(1000, 1000 + DRAWS):
        counts[subject.paths.index(learner.choose(number).path)] += 1
    law = subject.law(learner)
    expected = DRAWS * law
    if subject.kind == "perturbed_leader":  # its law is itself a frequency: two samples are compared
        observed = np.array([counts, law * learner.draws])
        observed = _gathered(observed, observed.sum(axis=0) >= 10)
        if observed.shape[1] > 1:
            assert stats.chi2_contingency(observed).pvalue > CHANCE
        return
    assert counts[expected < 1e-9].sum() == 0
    cells = _gathered(np.array([counts, expected]), expected >= 5)
    if cells.shape[1] > 1:
        assert stats.chisquare(cells[0], cells[1] * DRAWS / cells[1].sum()).pvalue > CHANCE


def _gathered(rows, large):
    """The large cells, and one more with the rest of each row, if the rest is not empty."""
    rest = rows[:, ~large].sum(axis=1, keepdims=True)
    return np.hstack([rows[:, large], rest]) if rest.sum() > 1e-6 else rows[:, large]


def check_a_choice_tells_its_probability(subject):
    learner = played(subject)
    for number in range(20):
        choice = learner.choose(number)
        if subject.kind == "perturbed_leader":
            assert np.isnan(choice.log_probability)
        else:
            assert choice.log_probability == learner.log_probability(choice.path)
        assert choice.memory.edges.tolist() == subject.context.context_path(choice.path).tolist()


def check_the_most_probable_path_is(subject):
    learner = played(subject)
    best = subject.paths.index(learner.choose_best().path)
    if subject.kind == "perturbed_leader":  # the leader, which noise may push behind another
        totals = subject.paths.incidence @ learner.scores
        assert totals[best] == pytest.approx(totals.max(), abs=TOLERANCE)
    else:
        law = subject.law(learner)
        assert law[best] == pytest.approx(law.max(), rel=TOLERANCE)


def check_what_is_not_a_path_is_refused(subject):
    learner = subject.build()
    for path in ([999], [*subject.paths.paths[-1], 0], [-1]):
        with pytest.raises(InvalidInput, match="path"):
            learner.log_probability(np.array(path, dtype=np.int32))


# What it learns.


def check_updates_are_the_definition(subject, rounds=5, seed=11):
    """Round after round the law over all paths is what the definition, by enumeration, says."""
    if subject.kind == "perturbed_leader":
        _check_leaders(subject, rounds, seed)
        return
    rng = np.random.default_rng(seed)
    learner = subject.build(seed=seed)
    reference = subject.reference(learner)
    for number in range(rounds):
        law = reference.law(learner)
        np.testing.assert_allclose(subject.law(learner), law, rtol=1e-7, atol=tolerance(subject))
        np.testing.assert_allclose(
            learner.marginals(), subject.paths.flows(law), rtol=0, atol=tolerance(subject)
        )
        choice = learner.choose(number)
        feedback = feedback_on(learner, choice.memory, rng)
        learner.learn(choice.memory, feedback)
        reference.learn(learner, subject.paths.index(choice.path), law, feedback)
    assert learner.rounds_learned == rounds


def _check_leaders(subject, rounds, seed):
    """The perturbed leader has no law to compare, but with the same noise the same leader."""
    rng = np.random.default_rng(seed)
    learner = subject.build(seed=seed)
    reference = SlowPerturbedLeader(subject.paths)
    for number in range(rounds):
        for other in (number, 1_000_000 + number, 2_000_000 + number):
            noise = exponentials(seed, other, subject.context.transition_count)
            leader = reference.leader(learner, noise)
            assert subject.paths.index(learner.choose(other).path) == leader
        memory = learner.choose(number).memory
        feedback = feedback_on(learner, memory, rng)
        learner.learn(memory, feedback)
        reference.learn(feedback)


def check_feedback_in_any_order_gives_one_state(subject):
    """Choices first, then their feedback in every order; in sums of floats only the last digits differ.

    Not where the rate follows what was measured on the way: there the order of events is the order of lessons.
    """
    if subject.order_matters:
        return
    rng = np.random.default_rng(5)
    template = played(subject)
    lessons = []
    for number in range(4, 8):
        memory = template.choose(number).memory
        lessons.append((memory, feedback_on(template, memory, rng)))
    laws, marginals = [], []
    for order in list(permutations(range(len(lessons))))[:: 5 if subject.kind == "perturbed_leader" else 1]:
        learner = subject.build(seed=3)
        learner.restore(template.to_bytes())
        for i in order:
            learner.learn(*lessons[i])
        assert learner.rounds_learned == template.rounds_learned + len(lessons)
        laws.append(subject.law(learner))
        marginals.append(learner.marginals())
    for law, flow in zip(laws[1:], marginals[1:], strict=True):
        np.testing.assert_allclose(law, laws[0], rtol=1e-7, atol=tolerance(subject))
        np.testing.assert_allclose(flow, marginals[0], rtol=0, atol=tolerance(subject))


def check_many_lessons_at_once(subject):
    """`learn_many` is `learn` one by one: to the bit, but for the warm start of a projection.

    By the measured gap lessons at once are one round: the windows of an utterance (`test_measured_gap`).
    """
    if subject.order_matters:
        return
    rng = np.random.default_rng(5)
    one_by_one, at_once = subject.build(seed=3), subject.build(seed=3)
    memories = [one_by_one.choose(number).memory for number in range(5)]
    lessons = [(memory, feedback_on(one_by_one, memory, rng)) for memory in memories]
    for lesson in lessons:
        one_by_one.learn(*lesson)
    at_once.learn_many(lessons)
    if subject.kind.startswith(("component_hedge", "mirror")):
        np.testing.assert_allclose(at_once.flow, one_by_one.flow, rtol=0, atol=FLOW_TOLERANCE)
        assert at_once.rounds_learned == one_by_one.rounds_learned
    else:
        assert at_once.digest() == one_by_one.digest()
        np.testing.assert_array_equal(at_once.marginals(), one_by_one.marginals())
    before = at_once.digest()
    at_once.learn_many([])
    assert at_once.digest() == before


def check_choosing_changes_nothing(subject):
    learner = played(subject)
    before = learner.digest()
    first, again = learner.choose(17), learner.choose(17)
    assert first.path.tolist() == again.path.tolist()
    assert first.memory.to_bytes() == again.memory.to_bytes()
    learner.marginals()
    learner.choose_best()
    assert learner.digest() == before


def check_the_best_choice_is_as_a_drawn_one(subject):
    """`choose_best` gives the most probable path with just what a draw of it would remember."""
    learner = played(subject)
    best = learner.choose_best()
    assert best.path.tolist() == learner.choose_best().path.tolist()
    drawn = (learner.choose(number) for number in range(500))
    same = next(choice for choice in drawn if choice.path.tolist() == best.path.tolist())
    assert best.memory.to_bytes() == same.memory.to_bytes()
    np.testing.assert_array_equal(best.log_probability, same.log_probability)


def check_memories_travel_as_bytes(subject):
    ones, twin = played(subject), played(subject)
    choice = ones.choose(9)
    feedback = feedback_on(ones, choice.memory, np.random.default_rng(0))
    ones.learn(choice.memory, feedback)
    twin.learn(Memory.from_bytes(choice.memory.to_bytes()), feedback)
    assert ones.digest() == twin.digest()


# What it refuses.


def check_wrong_feedback_is_refused_and_changes_nothing(subject):
    learner = played(subject)
    before, rounds = learner.digest(), learner.rounds_learned
    memory = learner.choose(50).memory
    for feedback, error in _wrong_feedback(learner, memory):
        with pytest.raises(InvalidInput) as caught:
            learner.learn(memory, feedback)
        assert type(caught.value) is error, feedback
        assert learner.digest() == before, feedback
        assert learner.rounds_learned == rounds
    good = feedback_on(learner, memory, np.random.default_rng(0))
    with pytest.raises(InvalidInput):  # one bad lesson spoils the lot
        learner.learn_many([(memory, good), (memory, _wrong_feedback(learner, memory)[0][0])])
    assert learner.digest() == before
    learner.learn(memory, good)
    assert learner.rounds_learned == rounds + 1


def _wrong_feedback(learner, memory):
    """Every way to be wrong, with the error that it must give."""
    full, semi, bandit = FullFeedback, SemiBanditFeedback, BanditFeedback
    match learner.setting:
        case Setting.FULL:
            make, count, bound = full, learner.context.transition_count, BOUND
            others = [semi(np.zeros(memory.edges.size)), bandit(0.1)]
        case Setting.SEMI_BANDIT:
            make, count, bound = semi, memory.edges.size, BOUND
            others = [full(np.zeros(learner.context.transition_count)), bandit(0.1)]
        case _:
            make, count, bound = (lambda gains: bandit(float(gains[0]))), 1, learner.path_bound
            others = [full(np.zeros(1)), semi(np.zeros(memory.edges.size))]
    wrong = [(other, InvalidInput) for other in others]
    for value, error in (
        (bound * 1.01, BoundExceeded),
        (-0.01, BoundExceeded),
        (np.nan, InvalidInput),
        (np.inf, InvalidInput),
        (-np.inf, InvalidInput),
    ):
        gains = np.full(count, bound / 2)
        gains[count // 2] = value
        wrong.append((make(gains), error))
    if learner.setting is not Setting.BANDIT:
        wrong += [(make(np.zeros(count + 1)), InvalidInput), (make(np.zeros((count, 1))), InvalidInput)]
    return wrong


def check_senseless_bounds_are_refused(subject):
    on = subject.expert if subject.capabilities.on_expert else subject.context
    for bound in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InvalidInput, match="gain must be positive and finite"):
            KINDS[subject.kind](on, bound)


# What it keeps.


def check_state_round_trips_to_the_bit(subject):
    learner, copy = played(subject, rounds=6), subject.build(seed=3)
    play(copy, 2, np.random.default_rng(99))  # something for the restored state to replace
    data = learner.to_bytes()
    copy.restore(data)
    assert copy.to_bytes() == data
    assert copy.digest() == learner.digest()
    rngs = np.random.default_rng(8), np.random.default_rng(8)
    for number in range(100, 105):
        ours, theirs = learner.choose(number), copy.choose(number)
        assert ours.path.tolist() == theirs.path.tolist()
        assert ours.memory.to_bytes() == theirs.memory.to_bytes()
        np.testing.assert_array_equal(ours.log_probability, theirs.log_probability)
        np.testing.assert_array_equal(learner.marginals(), copy.marginals())
        for one, rng, choice in zip((learner, copy), rngs, (ours, theirs), strict=True):
            one.learn(choice.memory, feedback_on(one, choice.memory, rng))
    assert copy.to_bytes() == learner.to_bytes()


def check_foreign_states_are_refused(subject):
    learner = played(subject)
    before = learner.digest()
    data = learner.to_bytes()
    other_kind = next(kind for kind in KINDS if not learner.name.startswith(kind.split("-")[0]))
    other = Subject(other_kind, subject.expert, subject.reach).build()
    for foreign in (
        subject.build(seed=4).to_bytes(),  # would draw otherwise
        other.to_bytes(),
        data[:-1],
        data[:100],
        b"",
        bytes([*data[:-40], data[-40] ^ 1, *data[-39:]]),
    ):
        with pytest.raises(DamagedState):
            learner.restore(foreign)
        assert learner.digest() == before


def check_size_is_told(subject):
    learner = played(subject)
    size = learner.size()
    assert 0 < size.state_bytes <= len(learner.to_bytes())
    assert size.states > 1
    assert size.transitions >= 1


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]
