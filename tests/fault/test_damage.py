"""P3: damage is detected, named and refused; it is never silently dropped, and never becomes another state."""

import sqlite3
from pathlib import Path

import pytest

from galloon.daemon.errors import StoreDamaged
from galloon.daemon.store.protocol import Create, Entry
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.daemon.store.sqlite_schema import FILE_NAME
from tests.fault.damage import in_own_process


def test_flipped_torn_and_missing_bytes_are_refused_or_hit_nothing(tmp_path: Path):
    """Anywhere in the database and its log, after a clean end and after a kill."""
    damaged = in_own_process(tmp_path, trials=30, seed=6)
    assert damaged.refused > 5, damaged


def test_a_schema_that_is_no_text_is_damage(tmp_path: Path):
    """SQLite repeats the damaged name in its error, and Python cannot read that."""
    database = sqlite3.connect(tmp_path / FILE_NAME)
    database.executescript("PRAGMA writable_schema = 1; CREATE TABLE t(a);")
    database.execute("UPDATE sqlite_master SET name = CAST(x'CE41' AS TEXT), sql = CAST(x'CE41' AS TEXT)")
    database.commit()
    database.close()
    with pytest.raises(StoreDamaged, match="restore"):
        SqliteBackend(tmp_path)


def _filled(path: Path) -> None:
    backend = SqliteBackend(path)
    key = backend.transact(Create("first", '{"seed": 1}', b"a snapshot"))
    other = backend.transact(Create("other", '{"seed": 2}'))
    backend.write([Entry(each, seq, 1, b"entry") for seq in range(1, 4) for each in (key, other)])
    backend.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE learners SET name = 'secone' WHERE name = 'first'", "name or spec of learner 1 is damaged"),
        ("UPDATE learners SET spec = '{\"seed\": 3}' WHERE key = 1", "name or spec of learner 1 is damaged"),
        ("UPDATE snapshots SET seq = 2", "snapshot of learner 'first' is damaged"),
        ("UPDATE snapshots SET body = 'b snapshot'", "snapshot of learner 'first' is damaged"),
        ("UPDATE snapshots SET learner = 2", "snapshot of learner 'other' is damaged"),
        ("UPDATE snapshots SET learner = 7", "learner 7 is missing, but not its snapshots"),
        (
            "UPDATE journal SET learner = 7 WHERE learner = 2 AND seq = 3",
            "learner 7 is missing, but not its journal",
        ),
        ("DELETE FROM learners WHERE key = 1", "learner 1 is missing, but not its snapshots"),
    ],
)
def test_what_no_page_check_sees_is_refused_by_row(tmp_path: Path, statement: str, words: str):
    """A bit of a name, a spec or a sequence number leaves every page well-formed."""
    _filled(tmp_path)
    (tmp_path / "acknowledged").unlink()  # the other witness would speak first
    database = sqlite3.connect(tmp_path / FILE_NAME)
    database.execute(statement)
    database.commit()
    database.close()
    backend = SqliteBackend(tmp_path)
    with pytest.raises(StoreDamaged, match=words) as refused:
        list(backend.learners())
    assert "restore" in str(refused.value)
    backend.close()
