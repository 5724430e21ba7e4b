"""What every backend must do. A new one is one more line in BACKENDS: a name, and how it is opened on a folder."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from galloon.daemon.errors import StoreConflict
from galloon.daemon.store.protocol import (
    VOID,
    Create,
    Delete,
    Entry,
    SaveSnapshot,
    StoredEntry,
    StoredLearner,
)
from galloon.daemon.store.sqlite import SqliteBackend
from tests.daemon.store.memory_backend import MemoryBackend

BACKENDS = {
    "sqlite": SqliteBackend,
}
BODIES = (b"", b"\0", bytes(range(256)), b"'\"", bytes(100_000))


class Opened:
    """A backend that can be closed and opened again."""

    def __init__(self, make, folder):
        self._make, self._folder = make, folder
        self.backend = make(folder)

    def again(self):
        self.backend.close()
        self.backend = self._make(self._folder)
        return self.backend


@pytest.fixture(params=BACKENDS)
def opened(request, tmp_path):
    opened = Opened(BACKENDS[request.param], tmp_path / "data")
    yield opened
    opened.backend.close()


def content(backend):
    """All that can be read."""
    return [(learner, list(backend.journal(learner.key, learner.seq))) for learner in backend.learners()]


def test_a_new_store_is_empty(opened):
    assert content(opened.backend) == []
    assert content(opened.again()) == []


def test_what_is_written_is_read_after_reopening(opened):
    """Entries of several learners in one batch, of any bytes, in the order of each."""
    first, second = (opened.backend.transact(Create(name, f'{{"{name}": 1}}')) for name in "ab")
    for start in range(0, len(BODIES), 2):
        batch = [
            Entry(key, start + n + 1, 2**31, body)
            for n, body in enumerate(BODIES[start : start + 2])
            for key in (first, second)
        ]
        opened.backend.write(batch)
    wanted = [StoredEntry(n + 1, 2**31, body) for n, body in enumerate(BODIES)]
    assert content(opened.again()) == [
        (StoredLearner(first, "a", '{"a": 1}', 0, None), wanted),
        (StoredLearner(second, "b", '{"b": 1}', 0, None), wanted),
    ]
    assert list(opened.backend.journal(second, 3)) == wanted[3:]


def test_a_snapshot_replaces_what_it_covers_and_nothing_else(opened):
    backend = opened.backend
    key, other = backend.transact(Create("a", "{}", b"first")), backend.transact(Create("b", "{}"))
    backend.write([Entry(each, seq, 1, b"x") for seq in range(1, 6) for each in (key, other)])
    assert backend.transact(SaveSnapshot(key, 3, bytes(100_000))) == 3
    backend = opened.again()
    (learner, entries), (_, others) = content(backend)
    assert (learner.seq, learner.snapshot) == (3, bytes(100_000))
    assert [entry.seq for entry in entries] == [4, 5]
    assert len(others) == 5


def test_a_snapshot_that_comes_late_changes_nothing(opened):
    """The journal that it would need has gone."""
    key = opened.backend.transact(Create("a", "{}"))
    opened.backend.write([Entry(key, seq, 1, b"x") for seq in range(1, 6)])
    opened.backend.transact(SaveSnapshot(key, 4, b"new"))
    before = content(opened.backend)
    assert opened.backend.transact(SaveSnapshot(key, 2, b"old")) == 0
    assert content(opened.again()) == before


def test_a_deleted_learner_leaves_nothing_and_its_key_is_never_used_again(opened):
    backend = opened.backend
    key = backend.transact(Create("a", "{}", b"snapshot"))
    backend.write([Entry(key, seq, 1, b"x") for seq in range(1, 6)])
    assert backend.transact(Delete(key)) == 5
    assert content(backend) == []
    backend = opened.again()
    assert content(backend) == []
    assert backend.transact(Create("a", "{}")) > key


def test_a_name_that_is_taken_is_a_conflict(opened):
    key = opened.backend.transact(Create("a", "{}"))
    with pytest.raises(StoreConflict):
        opened.backend.transact(Create("a", '{"other": 1}', b"snapshot"))
    opened.backend.write([Entry(key, 1, 1, b"goes on")])
    assert [learner.spec for learner, _ in content(opened.again())] == ["{}"]


@pytest.mark.parametrize("operation", [Delete(7), SaveSnapshot(7, 1, b"snapshot")])
def test_an_operation_on_a_missing_learner_is_a_conflict(opened, operation):
    """Nothing is left behind that belongs to nobody: such a store would not open."""
    opened.backend.transact(Create("a", "{}"))
    before = content(opened.backend)
    with pytest.raises(StoreConflict):
        opened.backend.transact(operation)
    assert content(opened.again()) == before


def test_a_batch_with_an_entry_of_a_missing_learner_is_not_written_at_all(opened):
    key = opened.backend.transact(Create("a", "{}"))
    gone = opened.backend.transact(Create("b", "{}"))
    opened.backend.transact(Delete(gone))
    with pytest.raises(StoreConflict):
        opened.backend.write([Entry(key, 1, 1, b"x"), Entry(gone, 1, 1, b"y")])
    opened.backend.write([Entry(key, 1, VOID, b"")])
    assert [entries for _, entries in content(opened.again())] == [[StoredEntry(1, VOID, b"")]]


STEPS = st.lists(
    st.one_of(
        st.builds(Create, st.sampled_from("abc"), st.just("{}"), st.sampled_from([None, b"", b"body"])),
        st.builds(Delete, st.integers(1, 5)),
        st.builds(SaveSnapshot, st.integers(1, 5), st.integers(0, 6), st.binary(max_size=3)),
        st.lists(st.tuples(st.integers(1, 5), st.sampled_from(BODIES[:3])), min_size=1, max_size=40),
        st.just("reopen"),
    ),
    max_size=25,
)


@pytest.mark.parametrize("name", BACKENDS)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_any_run_of_steps_gives_what_the_model_gives(name, tmp_path_factory, steps):
    """Results, conflicts and everything that can be read, also after reopening at any place."""
    opened = Opened(BACKENDS[name], tmp_path_factory.mktemp("backend"))
    model, seqs = MemoryBackend(), dict.fromkeys(range(1, 6), 0)
    keys: dict[int, int] = {}  # the model's, and those that the backend chose
    for step in steps:
        if step == "reopen":
            assert unkeyed(opened.again()) == unkeyed(model)
            continue
        outcomes = [
            _done(opened.backend, step, dict(seqs), lambda key: keys.get(key, 999)),
            _done(model, step, dict(seqs), lambda key: key),
        ]
        if isinstance(step, Create) and "conflict" not in outcomes:
            keys[outcomes[1]] = outcomes[0]
        else:
            assert outcomes[0] == outcomes[1]
        if isinstance(step, list) and outcomes[0] is None:
            for learner, _ in step:
                seqs[learner] += 1
    assert unkeyed(opened.again()) == unkeyed(model)
    opened.backend.close()


def unkeyed(backend):
    return [(replace(learner, key=0), entries) for learner, entries in content(backend)]


def _done(backend, step, seqs, key_of):
    try:
        match step:
            case Create():
                return backend.transact(step)
            case Delete(learner):
                return backend.transact(Delete(key_of(learner)))
            case SaveSnapshot(learner, seq, body):  # covers no more than there is
                return backend.transact(SaveSnapshot(key_of(learner), min(seq, seqs[learner]), body))
        batch = []
        for learner, body in step:
            seqs[learner] += 1
            batch.append(Entry(key_of(learner), seqs[learner], 1, body))
        return backend.write(batch)
    except StoreConflict:
        return "conflict"
