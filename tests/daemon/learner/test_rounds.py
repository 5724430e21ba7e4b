"""The life of rounds without a daemon around it: any sequence of events, captured and restored to the bit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.daemon.errors import ExpiredRound, OtherContent, OtherFeedback, StoreDamaged, UnknownRound
from galloon.daemon.learner.events import Chose, Expired, Taught, from_entry
from galloon.daemon.learner.rounds import Rounds
from galloon.daemon.store.protocol import VOID, StoredEntry
from galloon.learners import state

MARK, OTHER = b"m" * 16, b"o" * 16


def begun(rounds, name, memory=b"memory", answer=b"answer"):
    event = Chose(rounds.started, name, MARK, memory, answer)
    rounds.chosen(event)
    return event


def taught(rounds, name, gain=1.0):
    return rounds.learned(Taught(name, MARK, b"feedback"), gain, lambda round_, counts: b"lesson")


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
            if action == "choose" and name not in rounds.pending and name not in rounds.settled:
                begun(rounds, name, blob, blob * 2)
            elif action == "teach" and name in rounds.pending:
                taught(rounds, name, gain=len(blob) / 3)
            elif action == "expire" and name in rounds.pending:
                rounds.expired(Expired((name,)))
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
        rounds.question("a", MARK)
    begun(rounds, "a")
    assert rounds.answer_to("a", MARK) == b"answer"
    with pytest.raises(OtherContent):
        rounds.answer_to("a", OTHER)
    pending = rounds.question("a", MARK)
    pending.feedback = MARK
    assert rounds.question("a", MARK) is pending
    with pytest.raises(OtherFeedback):
        rounds.question("a", OTHER)
    taught(rounds, "a")
    assert rounds.question("a", MARK) == b"lesson"
    with pytest.raises(OtherFeedback):
        rounds.question("a", OTHER)
    begun(rounds, "b")
    rounds.expired(Expired(("b",)))
    with pytest.raises(ExpiredRound):
        rounds.question("b", MARK)
    begun(rounds, "c")
    taught(rounds, "c")
    with pytest.raises(UnknownRound):
        rounds.question("a", MARK)  # forgotten: only two are remembered


def test_the_oldest_leave_first_and_only_once():
    """By count and by age; a round whose feedback is on its way stays."""
    rounds = Rounds(8)
    for number in range(6):
        rounds.chosen(Chose(number, f"u{number}", MARK, b"", b""), born=float(number))
    rounds.pending["u1"].feedback = MARK
    assert rounds.overdue(most=4, born_before=0.0) == ("u0",)
    assert rounds.overdue(most=4, born_before=0.0) == ()
    assert rounds.overdue(most=4, born_before=3.5) == ("u2", "u3")
    with pytest.raises(ExpiredRound):
        rounds.question("u2", MARK)


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
