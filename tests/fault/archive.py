"""All events that a store ever held, although snapshots drop the journal before them.

`keep_everything` prepares a store before its first daemon: a trigger copies what is dropped. `events` gives
everything in order.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from galloon.daemon.learner.events import Event, from_entry
from galloon.daemon.store.protocol import StoredEntry
from galloon.daemon.store.sqlite_schema import FILE_NAME, open_database

TRIGGER = """
CREATE TABLE archive(learner INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TRIGGER keep BEFORE DELETE ON journal
  BEGIN INSERT INTO archive VALUES (OLD.learner, OLD.seq, OLD.kind, OLD.body); END;
"""
ALL = """
SELECT seq, kind, body FROM (SELECT learner, seq, kind, body FROM archive
                             UNION ALL SELECT learner, seq, kind, body FROM journal)
WHERE learner = ? ORDER BY seq
"""


@dataclass(frozen=True, slots=True)
class History:
    """One learner from its first event on."""

    name: str
    spec: str
    events: tuple[Event | None, ...]  # None for a void entry
    archived: int  # entries that a snapshot had dropped


def keep_everything(data_dir: Path) -> None:
    data_dir.mkdir(parents=True, mode=0o700)
    database = open_database(data_dir / FILE_NAME)
    database.executescript(TRIGGER)
    database.close()


def histories(data_dir: Path) -> list[History]:
    """Every learner; the daemon must not run."""
    database = sqlite3.connect(data_dir / FILE_NAME)
    try:
        found = []
        for key, name, spec in database.execute("SELECT key, name, spec FROM learners").fetchall():
            rows = database.execute(ALL, (key,)).fetchall()
            assert [seq for seq, _, _ in rows] == list(range(1, len(rows) + 1)), "the journal has a gap"
            entries = tuple(from_entry(StoredEntry(*row)) for row in rows)
            (archived,) = database.execute(
                "SELECT count(*) FROM archive WHERE learner = ?", (key,)
            ).fetchone()
            found.append(History(name, spec, entries, archived))
        return found
    finally:
        database.close()
