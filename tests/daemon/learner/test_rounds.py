"""The life of rounds without a daemon around it: any sequence of events, captured and restored to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.daemon.errors import ExpiredRound, OtherContent, OtherFeedback, StoreDamaged, UnknownRound
from galloon.daemon.learner.events import Chose, Expired, Taught, from_entry
from galloon.daemon.learner.round import WARM_ROUNDS, WARM_SLOTS, Rounds, Status, Warm
from galloon.daemon.store.protocol import VOID, StoredEntry
from galloon.learners import state
from galloon.learners.combiners.contract import Choice
from galloon.learners.offers import no_offers

MARK, OTHER = b"m" * 16, b"o" * 16


def begun(rounds, name, memory=b"memory", answer=b"answer"):
    event = Chose(rounds.started, name, MARK, memory, answer)
    rounds.chosen(event)
    return event


def taught(rounds, name, gain=1.0):
    round_ = rounds.taught(name)
    rounds.learned(round_, MARK, gain)
    round_.lesson = b"lesson"


def packed(rounds, before=None):
    meta, arrays = rounds.capture(rounds.started if before is None else before)
    return state.pack("rounds", 1, meta, arrays)


def restored(data, remembered):
    found = state.unpack(data, "rounds", 1)
    rounds = Rounds(remembered)
    rounds.restore(found.meta, found.arrays)
    return rounds


actions = st.lists(
    st.tuples(st.sampled_from(["choose", "teach", "expire"]), st.integers(0, 5), st.binary(max_size=5))
)


@settings(deadline=None, max_examples=100)
@given(actions, st.integers(0, 4), st.integers(0, 30))
def test_any_history_survives_a_snapshot_anywhere_in_it(history, remembered, cut):
    """Restored and continued, it ends where the uninterrupted one ends, bit for bit."""
    straight, interrupted = Rounds(remembered), Rounds(remembered)
    for step, (action, number, blob) in enumerate(history):
        if step == cut:
            interrupted = restored(packed(interrupted), remembered)
        for rounds in (straight, interrupted):
            name = f"u{number}"
            if action == "choose" and rounds.find(name) is None:
                begun(rounds, name, blob, blob * 2)
            elif action == "teach" and name in rounds.pending:
                taught(rounds, name, gain=len(blob) / 3)
            elif action == "expire" and name in rounds.pending:
                rounds.expired((name,))
    assert packed(straight) == packed(interrupted)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.booleans(), max_size=12), st.integers(0, 12))
def test_a_capture_leaves_out_what_began_after_the_mark(teach_it, mark):
    """The state at the mark is the same whether or not rounds began since."""
    early, late = Rounds(8), Rounds(8)
    mark = min(mark, len(teach_it))
    for number, teach in enumerate(teach_it):
        for rounds in (early, late) if number < mark else (late,):
            begun(rounds, f"u{number}")
            if teach and number < mark:
                taught(rounds, f"u{number}")
    assert packed(early) == packed(late, before=mark)


def test_requests_on_known_rounds():
    """New, repeated, contradicted, expired, forgotten."""
    rounds = Rounds(remembered=2)
    assert rounds.answer_to("a", MARK) is None
    with pytest.raises(UnknownRound):
        rounds.awaiting("a", MARK)
    begun(rounds, "a")
    assert rounds.answer_to("a", MARK) == b"answer"
    with pytest.raises(OtherContent):
        rounds.answer_to("a", OTHER)
    pending = rounds.awaiting("a", MARK)
    assert pending.status is Status.PENDING
    pending.status, pending.feedback = Status.TEACHING, MARK
    assert rounds.awaiting("a", MARK) is pending
    with pytest.raises(OtherFeedback):
        rounds.awaiting("a", OTHER)
    taught(rounds, "a")
    assert rounds.awaiting("a", MARK).lesson == b"lesson"
    assert rounds.awaiting("a", MARK).status is Status.LEARNED
    with pytest.raises(OtherFeedback):
        rounds.awaiting("a", OTHER)
    begun(rounds, "b")
    rounds.expired(("b",))
    with pytest.raises(ExpiredRound):
        rounds.awaiting("b", MARK)
    begun(rounds, "c")
    taught(rounds, "c")
    with pytest.raises(UnknownRound):
        rounds.awaiting("a", MARK)  # forgotten: only two are remembered


def test_the_oldest_leave_first_and_only_once():
    """By count and by age; a round whose feedback is on its way stays."""
    rounds = Rounds(8)
    for number in range(6):
        rounds.chosen(Chose(number, f"u{number}", MARK, b"", b""), started_at=float(number))
    rounds.pending["u1"].status = Status.TEACHING
    assert rounds.overdue(most=4, started_before=0.0) == ("u0",)
    assert rounds.overdue(most=4, started_before=0.0) == ()
    assert rounds.overdue(most=4, started_before=3.5) == ("u2", "u3")
    with pytest.raises(ExpiredRound):
        rounds.awaiting("u2", MARK)


def test_a_round_begins_once_and_is_taught_while_it_is_pending():
    """A journal that says otherwise is damaged; live, it would be a defect."""
    rounds = Rounds(8)
    event = begun(rounds, "a")
    with pytest.raises(StoreDamaged, match="second time"):
        rounds.chosen(event)
    with pytest.raises(StoreDamaged, match="second time"):
        begun(rounds, "a")
    taught(rounds, "a")
    with pytest.raises(StoreDamaged, match="not pending"):
        rounds.taught("a")


def warm(slots):
    offers = no_offers(slots)
    return Warm(
        offers,
        Choice("x", offers, "x" * slots, "a" * slots, [1.0] * slots, np.empty((0, 0)), 0.0, b"", object()),
    )


def test_the_last_rounds_are_warm_whatever_becomes_of_them():
    rounds = Rounds(WARM_ROUNDS)
    for number in range(2 * WARM_ROUNDS):
        rounds.chosen(Chose(number, f"u{number}", MARK, b"", b""), warm=warm(3))
        if number % 2:
            taught(rounds, f"u{number}")
    known = [rounds.find(f"u{number}") for number in range(2 * WARM_ROUNDS)]
    views = [round_ and round_.view for round_ in known]
    assert [view is not None for view in views] == [False] * WARM_ROUNDS + [True] * WARM_ROUNDS
    assert len(set(views[WARM_ROUNDS:])) == WARM_ROUNDS, "each has its own"


def test_long_utterances_do_not_add_up():
    """The newest is warm, however long it is."""
    rounds = Rounds(8)
    for number in range(4):
        rounds.chosen(Chose(number, f"u{number}", MARK, b"", b""), warm=warm(WARM_SLOTS // 2))
    assert [bool(rounds.pending[f"u{number}"].warm) for number in range(4)] == [False, False, True, True]
    rounds.chosen(Chose(4, "huge", MARK, b"", b""), warm=warm(WARM_SLOTS + 1))
    assert [round_.id for round_ in rounds.pending.values() if round_.warm] == ["huge"]
    rounds.chosen(Chose(5, "small", MARK, b"", b""), warm=warm(1))
    assert [round_.id for round_ in rounds.pending.values() if round_.warm] == ["small"]


ids, marks = st.text(max_size=9), st.binary(min_size=16, max_size=16)
events = (
    st.builds(Chose, st.integers(0, 2**64 - 1), ids, marks, st.binary(), st.binary())
    | st.builds(Taught, ids, marks, st.binary())
    | st.builds(Expired, st.lists(ids).map(tuple))
)


@settings(deadline=None, max_examples=100)
@given(events)
def test_events_survive_the_journal(event):
    """To the bit; and cut short they are refused, not misread."""
    body = event.to_bytes()
    assert from_entry(StoredEntry(1, event.kind, body)) == event
    if body:
        with pytest.raises(StoreDamaged, match="entry 1"):
            from_entry(StoredEntry(1, event.kind, body[:-1]))


def test_other_kinds_of_entries():
    """Void changes nothing; an unknown kind is from a newer galloon."""
    assert from_entry(StoredEntry(1, VOID, b"")) is None
    with pytest.raises(StoreDamaged, match="upgrade"):
        from_entry(StoredEntry(1, 99, b""))
