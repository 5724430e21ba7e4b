"""All events that a store ever held: its journal is the history, and snapshots drop none of it.

`keep_everything` prepares a store before its first daemon; `histories` gives everything in order.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from galloon.daemon.learner.events import Event, from_entry
from galloon.daemon.store.protocol import StoredEntry
from galloon.daemon.store.sqlite_schema import FILE_NAME, open_database

ALL = "SELECT seq, kind, body, key FROM journal WHERE learner = ? ORDER BY seq"


@dataclass(frozen=True, slots=True)
class History:
    """One learner from its first event on."""

    name: str
    spec: str
    events: tuple[Event | None, ...]  # None for a void entry
    entries: tuple[StoredEntry, ...]
    archived: int  # entries that a snapshot covers


def keep_everything(data_dir: Path) -> None:
    data_dir.mkdir(parents=True, mode=0o700)
    database = open_database(data_dir / FILE_NAME)
    database.close()


def histories(data_dir: Path) -> list[History]:
    """Every learner; the daemon must not run."""
    database = sqlite3.connect(data_dir / FILE_NAME)
    try:
        found = []
        for key, name, spec in database.execute("SELECT key, name, spec FROM learners").fetchall():
            entries = tuple(StoredEntry(*row) for row in database.execute(ALL, (key,)))
            assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1)), (
                "the journal has a gap"
            )
            (archived,) = database.execute(
                "SELECT coalesce(max(seq), 0) FROM snapshots WHERE learner = ?", (key,)
            ).fetchone()
            found.append(History(name, spec, tuple(map(from_entry, entries)), entries, archived))
        return found
    finally:
        database.close()
