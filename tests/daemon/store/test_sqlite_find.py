"""Finding one round takes as long in a long history as in a short one, counted in steps of SQLite."""

from galloon.daemon.store.protocol import Create, Entry
from galloon.daemon.store.sqlite import SqliteBackend

STEPS = 10  # of SQLite's machine between two calls of the handler


def _steps_to_find(folder, entries: int) -> int:
    backend = SqliteBackend(folder)
    learner = backend.transact(Create("test", "{}"))
    backend.write([Entry(learner, seq, 4, b"body", key=1000 + seq) for seq in range(1, entries + 1)])
    called = []
    database = backend._reader._database
    database.set_progress_handler(lambda: called.append(1), STEPS)  # None: go on
    (found,) = backend.find(learner, 1000 + entries)
    database.set_progress_handler(None, 0)
    backend.close()
    assert found.seq == entries
    return len(called)


def test_a_long_history_is_not_read_to_find_one_round(tmp_path):
    assert _steps_to_find(tmp_path / "long", 3000) <= 2 * _steps_to_find(tmp_path / "short", 30) + 5
