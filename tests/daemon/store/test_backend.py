"""What every backend must do. A new one is one more line in BACKENDS: a name, and how it is opened on a folder."""

import threading
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
    Exchange,
    Forget,
    SaveSnapshot,
    StoredEntry,
    StoredLearner,
    StoredSnapshot,
    Vacuum,
)
from galloon.daemon.store.sqlite import SqliteBackend
from tests.daemon.store.memory_backend import MemoryBackend
from tests.postgres import SoleMember, needs_postgres

BACKENDS = {"sqlite": SqliteBackend, "postgres": SoleMember}
NAMES = ["sqlite", pytest.param("postgres", marks=needs_postgres)]
KEYS = (0, 1, 2, 3)
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


@pytest.fixture(params=NAMES)
def opened(request, tmp_path):
    opened = Opened(BACKENDS[request.param], tmp_path / "data")
    yield opened
    opened.backend.close()


def content(backend):
    """What recovery reads."""
    return [(learner, list(backend.journal(learner.key, learner.seq))) for learner in backend.learners()]


def everything(backend):
    """All that can be read."""
    return [
        (
            learner,
            list(backend.journal(learner.key, 0)),
            [backend.find(learner.key, key) for key in KEYS],
            [(known, backend.snapshot(learner.key, known.seq)) for known in backend.snapshots(learner.key)],
        )
        for learner in backend.learners()
    ]


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


def test_a_snapshot_deletes_nothing_of_the_history(opened):
    backend = opened.backend
    key, other = backend.transact(Create("a", "{}", b"first")), backend.transact(Create("b", "{}"))
    backend.write([Entry(each, seq, 1, b"x") for seq in range(1, 6) for each in (key, other)])
    assert backend.transact(SaveSnapshot(key, 3, bytes(100_000), 7.0)) == 0
    backend = opened.again()
    (learner, entries), (_, others) = content(backend)
    assert (learner.seq, learner.snapshot) == (3, bytes(100_000))
    assert [entry.seq for entry in entries] == [4, 5]
    assert [entry.seq for entry in backend.journal(key, 0)] == [1, 2, 3, 4, 5]
    assert len(others) == 5
    assert backend.snapshots(key) == [StoredSnapshot(0, 0.0, 5), StoredSnapshot(3, 7.0, 100_000)]
    assert backend.snapshot(key, 0) == b"first"
    with pytest.raises(StoreConflict):
        backend.snapshot(key, 2)


def test_a_snapshot_may_replace_older_ones_but_not_the_base(opened):
    backend = opened.backend
    key = backend.transact(Create("a", "{}"))
    backend.write([Entry(key, seq, 1, b"x") for seq in range(1, 6)])
    for seq in (1, 2, 3):
        backend.transact(SaveSnapshot(key, seq, b"body"))
    backend.transact(Forget(key, 1))
    assert backend.transact(SaveSnapshot(key, 4, b"body", 0.0, (1, 2, 4))) == 1
    assert [known.seq for known in opened.again().snapshots(key)] == [1, 3, 4]


def test_a_snapshot_that_comes_late_changes_nothing(opened):
    key = opened.backend.transact(Create("a", "{}"))
    opened.backend.write([Entry(key, seq, 1, b"x") for seq in range(1, 6)])
    opened.backend.transact(SaveSnapshot(key, 4, b"new"))
    before = content(opened.backend)
    assert opened.backend.transact(SaveSnapshot(key, 2, b"old", 0.0, (4,))) == 0
    assert content(opened.again()) == before


def test_the_entries_of_a_round_are_found_by_their_key(opened):
    """Of this learner alone, in order, also while they are cut off; none without a key."""
    backend = opened.backend
    key, other = backend.transact(Create("a", "{}")), backend.transact(Create("b", "{}"))
    for seq, mark in enumerate((-(2**63), 2**63 - 1, 0, -(2**63)), start=1):
        backend.write([Entry(each, seq, 7, b"%d" % each, key=mark) for each in (key, other)])
    wanted = [StoredEntry(seq, 7, b"%d" % key, -(2**63)) for seq in (1, 4)]
    assert backend.find(key, -(2**63)) == wanted
    assert opened.again().find(key, -(2**63)) == wanted
    assert opened.backend.find(key, 0) == []
    assert opened.backend.find(key, 5) == []


def test_retention_cuts_at_a_snapshot_and_keeps_rounds_that_go_on(opened):
    """What is before the base is gone, but for rounds that have an entry after it; no gap after the base."""
    backend = opened.backend
    key = backend.transact(Create("a", "{}"))
    backend.write([Entry(key, seq, 1, b"%d" % seq, key=seq % 3) for seq in range(1, 7)])
    backend.write([Entry(key, 7, 1, b"7", key=1)])
    for seq in (3, 6):
        backend.transact(SaveSnapshot(key, seq, b"at %d" % seq, float(seq)))
    with pytest.raises(StoreConflict):
        backend.transact(Forget(key, 5))
    assert backend.transact(Forget(key, 6)) == 4
    backend = opened.again()
    ((learner, entries),) = content(backend)
    assert (learner.base, learner.seq, [entry.seq for entry in entries]) == (6, 6, [7])
    assert [entry.seq for entry in backend.journal(key, 0)] == [7]
    assert [entry.seq for entry in backend.find(key, 1)] == [1, 4, 7]
    assert backend.find(key, 2) == []
    with pytest.raises(StoreConflict):
        backend.transact(Forget(key, 3))
    assert backend.transact(Forget(key, 6)) == 0


def test_an_exchange_is_one_step(opened):
    """An entry, a snapshot at it, a spec; stale snapshots go, erased entries become void in their places."""
    backend = opened.backend
    key, other = backend.transact(Create("a", "{}")), backend.transact(Create("b", "{}"))
    backend.write([Entry(each, seq, 1, b"secret", key=seq) for seq in (1, 2, 3) for each in (key, other)])
    for seq in (1, 2, 3):
        backend.transact(SaveSnapshot(key, seq, b"old"))
    assert backend.transact(Exchange(key, 4, 9, b"why", b"new", 5.0, 2, '{"new": 1}', (2, 77))) == 1
    backend = opened.again()
    stored = {learner.name: learner for learner in backend.learners()}
    assert stored["a"] == StoredLearner(key, "a", '{"new": 1}', 4, b"new")
    assert [known.seq for known in backend.snapshots(key)] == [1, 4]
    assert list(backend.journal(key, 0)) == [
        StoredEntry(1, 1, b"secret", 1),
        StoredEntry(2, VOID, b""),
        StoredEntry(3, 1, b"secret", 3),
        StoredEntry(4, 9, b"why"),
    ]
    assert len(backend.find(other, 2)) == 1
    assert backend.transact(Vacuum()) == 0
    assert len(list(backend.journal(key, 0))) == 4
    backend.write([Entry(key, 5, 1, b"goes on")])
    assert len(list(opened.again().journal(key, 0))) == 5


def test_a_reader_sees_whole_batches_while_another_thread_writes(opened):
    key = opened.backend.transact(Create("a", "{}"))
    seen: list[list[int]] = []
    done = threading.Event()

    def read():
        while not done.is_set():
            seen.append([entry.seq for entry in opened.backend.find(key, 3)])

    reader = threading.Thread(target=read)
    reader.start()
    for start in range(0, 300, 3):
        opened.backend.write([Entry(key, start + n, 1, b"x", key=3) for n in (1, 2, 3)])
    done.set()
    reader.join()
    assert all(found == list(range(1, len(found) + 1)) and len(found) % 3 == 0 for found in seen)
    assert len(opened.backend.find(key, 3)) == 300


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


MISSING = [
    Delete(7),
    SaveSnapshot(7, 1, b"snapshot"),
    Forget(7, 0),
    Exchange(7, 1, 1, b"entry", b"snapshot", 0.0, 0),
]


@pytest.mark.parametrize("operation", MISSING)
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
        st.builds(
            SaveSnapshot,
            st.integers(1, 5),
            st.integers(0, 6),
            st.binary(max_size=3),
            st.sampled_from([0.0, 1.5]),
            st.lists(st.integers(0, 6), max_size=3).map(tuple),
        ),
        st.builds(Forget, st.integers(1, 5), st.integers(0, 6)),
        st.builds(
            Exchange,
            st.integers(1, 5),
            st.just(0),  # the next one
            st.just(5),
            st.binary(max_size=3),
            st.binary(max_size=3),
            st.just(2.5),
            st.integers(0, 9),
            st.sampled_from([None, "{1}"]),
            st.lists(st.integers(1, 3), max_size=2).map(tuple),
            st.sampled_from([None, b"other base"]),
        ),
        st.just(Vacuum()),
        st.lists(
            st.tuples(st.integers(1, 5), st.sampled_from(BODIES[:3]), st.sampled_from(KEYS)),
            min_size=1,
            max_size=40,
        ),
        st.just("reopen"),
    ),
    max_size=25,
)


@pytest.mark.parametrize("name", NAMES)
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
            for learner, *_ in step:
                seqs[learner] += 1
        elif isinstance(step, Exchange) and outcomes[0] != "conflict":
            seqs[step.learner] += 1
    assert unkeyed(opened.again()) == unkeyed(model)
    opened.backend.close()


def unkeyed(backend):
    return [(replace(learner, key=0), *rest) for learner, *rest in everything(backend)]


def _done(backend, step, seqs, key_of):
    try:
        match step:
            case Create():
                return backend.transact(step)
            case Delete(learner):
                return backend.transact(Delete(key_of(learner)))
            case SaveSnapshot(learner, seq):  # covers no more than there is
                return backend.transact(replace(step, learner=key_of(learner), seq=min(seq, seqs[learner])))
            case Forget(learner, seq):
                return backend.transact(Forget(key_of(learner), seq))
            case Exchange(learner):
                return backend.transact(replace(step, learner=key_of(learner), seq=seqs[learner] + 1))
            case Vacuum():
                return backend.transact(step)
        batch = []
        for learner, body, key in step:
            seqs[learner] += 1
            batch.append(Entry(key_of(learner), seqs[learner], 1, body, key=key))
        return backend.write(batch)
    except StoreConflict:
        return "conflict"
