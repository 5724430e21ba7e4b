"""The life of rounds without a daemon around it: requests, events, and what stays in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.daemon.errors import ExpiredRound, OtherContent, OtherFeedback, StoreDamaged, UnknownRound
from galloon.daemon.learner.events import (
    Amended,
    Applied,
    Chose,
    Exchanged,
    Expired,
    Kept,
    Taught,
    from_entry,
)
from galloon.daemon.learner.round import WARM_SLOTS, WARM_VIEWS, Rounds, Status, Warm
from galloon.daemon.store.compression import packed, unpacked
from galloon.daemon.store.protocol import VOID, Entry, StoredEntry
from galloon.learners.combiners.contract import Choice
from galloon.learners.offers import no_offers

MARK, OTHER = b"m" * 16, b"o" * 16


def begun(rounds, name, memory=b"memory", answer=b"answer"):
    event = Chose(rounds.started, name, MARK, memory, answer, b"said")
    round_ = rounds.chosen(event)
    round_.seq = rounds.started
    return event


def taught(rounds, name, gain=1.0):
    round_ = rounds.taught(name)
    rounds.learned(gain)
    round_.taught(MARK, b"truth", b"lesson")


def test_requests_on_known_rounds():
    """New, repeated, contradicted, expired, forgotten."""
    rounds = Rounds(warm_rounds=2)
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
    assert rounds.awaiting("a", OTHER, replace=True).status is Status.LEARNED
    begun(rounds, "b")
    rounds.expired(("b",))
    with pytest.raises(ExpiredRound):
        rounds.awaiting("b", MARK)


def test_only_what_the_history_has_leaves_memory():
    """The longest untouched goes first; what is not durable, or is being taught, stays."""
    rounds, durable = Rounds(2), [0]
    rounds.durable = lambda: durable[0]
    for name in "abcd":
        begun(rounds, name)
    assert set(rounds.recent) == set("abcd")
    durable[0] = 3
    rounds.recent["a"].status = Status.TEACHING
    begun(rounds, "e")
    begun(rounds, "f")
    assert set(rounds.recent) == {"a", "d", "e", "f"}
    durable[0] = 6
    assert rounds.touch("d") is rounds.recent["d"]
    begun(rounds, "g")
    begun(rounds, "h")
    assert "a" in rounds.recent
    assert len(rounds.recent) <= 4


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
    rounds = Rounds(2 * WARM_VIEWS)
    for number in range(2 * WARM_VIEWS):
        rounds.chosen(Chose(number, f"u{number}", MARK, b"", b""), warm(3))
        if number % 2:
            taught(rounds, f"u{number}")
    known = [rounds.find(f"u{number}") for number in range(2 * WARM_VIEWS)]
    views = [round_ and round_.view for round_ in known]
    assert [view is not None for view in views] == [False] * WARM_VIEWS + [True] * WARM_VIEWS
    assert len(set(views[WARM_VIEWS:])) == WARM_VIEWS, "each has its own"


def test_long_utterances_do_not_add_up():
    """The newest is warm, however long it is."""
    rounds = Rounds(8)
    for number in range(4):
        rounds.chosen(Chose(number, f"u{number}", MARK, b"", b""), warm(WARM_SLOTS // 2))
    assert [bool(rounds.recent[f"u{number}"].warm) for number in range(4)] == [False, False, True, True]
    rounds.chosen(Chose(4, "huge", MARK, b"", b""), warm(WARM_SLOTS + 1))
    assert [round_.id for round_ in rounds.recent.values() if round_.warm] == ["huge"]
    rounds.chosen(Chose(5, "small", MARK, b"", b""), warm(1))
    assert [round_.id for round_ in rounds.recent.values() if round_.warm] == ["small"]


ids, marks = st.text(max_size=9), st.binary(min_size=16, max_size=16)
numbers, times = st.integers(0, 2**64 - 1), st.floats(0, 1e12)
events = (
    st.builds(Chose, numbers, ids, marks, st.binary(), st.binary(), st.binary(), times)
    | st.builds(Taught, ids, marks, st.binary(), times)
    | st.builds(Applied, ids, st.binary())
    | st.builds(Amended, ids, marks, st.binary(), st.binary(), times)
    | st.builds(Kept, numbers, ids, marks, st.binary(), st.binary(), st.binary(), st.binary(), st.booleans())
    | st.builds(Exchanged, times, ids)
    | st.builds(Expired, st.lists(ids).map(tuple))
)


@settings(deadline=None, max_examples=100)
@given(events)
def test_events_survive_the_journal(event):
    """To the bit; and cut short they are refused, not misread."""
    body = event.to_bytes()
    assert from_entry(StoredEntry(1, event.kind, body)) == event
    entry = packed(Entry(1, 1, event.kind, body * 9))
    assert unpacked(entry.kind, entry.body) == (event.kind, body * 9)
    if body:
        with pytest.raises(StoreDamaged, match="entry 1"):
            from_entry(StoredEntry(1, event.kind, body[:-1]))


def test_other_kinds_of_entries():
    """Void changes nothing; an unknown kind is from a newer galloon."""
    assert from_entry(StoredEntry(1, VOID, b"")) is None
    with pytest.raises(StoreDamaged, match="upgrade"):
        from_entry(StoredEntry(1, 99, b""))
