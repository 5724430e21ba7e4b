"""Reading the store, by a connection of its own: what is durable, while the writer goes on.

`learners`, `journal`, `find`, `snapshots` and `snapshot` check every row that they give; `verify` reads the whole
file. Nothing is read for long at once: a long reading transaction would keep the write-ahead log from shrinking.
"""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from galloon.daemon.errors import StoreConflict, StoreDamaged
from galloon.daemon.store.protocol import StoredEntry, StoredLearner, StoredSnapshot
from galloon.daemon.store.sqlite_schema import (
    ADVICE,
    UNREADABLE,
    check_integrity,
    checksum,
    joined_snapshot,
    learner_checksum,
)

ENTRIES_AT_ONCE = 64
KEYS_AT_ONCE = 10_000
# Every learner that a table names, by jumps through its index: a scan would take as long as the history is.
NAMED_LEARNERS = """
WITH RECURSIVE named(learner) AS (
    SELECT min(learner) FROM {0} UNION ALL
    SELECT (SELECT min(learner) FROM {0} WHERE learner > named.learner) FROM named WHERE named.learner IS NOT NULL)
SELECT learner FROM named WHERE learner IS NOT NULL AND learner NOT IN (SELECT key FROM learners)
"""


class SqliteReader:
    """Any thread may call any method; they take turns."""

    def __init__(self, path: Path, database: sqlite3.Connection | None = None) -> None:
        self._path = path
        self._database = database or sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA query_only = 1")
        self._turn = threading.Lock()

    def learners(self) -> Iterator[StoredLearner]:
        for key, name, spec, found, base in self._read(
            "SELECT key, name, spec, checksum, base FROM learners ORDER BY key"
        ):
            if found != learner_checksum(name, spec, base):
                raise StoreDamaged(f"{self._path}: the name or spec of learner {key} is damaged; {ADVICE}")
            newest = max((known.seq for known in self.snapshots(key)), default=None)
            if newest is None and base:
                raise StoreDamaged(f"{self._path}: the snapshot of learner {name!r} is missing; {ADVICE}")
            body = None if newest is None else self.snapshot(key, newest)
            yield StoredLearner(key, name, spec, newest or 0, body, base)

    def journal(self, learner: int, after: int) -> Iterator[StoredEntry]:
        last = max(after, self.base(learner))
        while rows := self._read(
            "SELECT seq, kind, body, checksum, key FROM journal WHERE learner = ? AND seq > ? "
            "ORDER BY seq LIMIT ?",
            (learner, last, ENTRIES_AT_ONCE),
        ):
            for row in rows:
                last += 1
                yield self._entry(learner, last, row)

    def find(self, learner: int, key: int) -> Sequence[StoredEntry]:
        # Left to itself SQLite reads the whole journal of the learner, because that is in the order of seq.
        rows = self._read(
            "SELECT seq, kind, body, checksum, key FROM journal INDEXED BY journal_round "
            "WHERE learner = ? AND key = ? AND key != 0 ORDER BY seq",
            (learner, key),
        )
        return [self._entry(learner, row[0], row) for row in rows]

    def base(self, learner: int) -> int:
        return int(sum(base for (base,) in self._read("SELECT base FROM learners WHERE key = ?", (learner,))))

    def keys(self, learner: int) -> Iterator[list[int]]:
        last = -(2**63)  # no hash in practice; were it one, its round would only be looked for in vain
        while found := self._read(
            "SELECT DISTINCT key FROM journal WHERE learner = ? AND key != 0 AND key > ? ORDER BY key LIMIT ?",
            (learner, last, KEYS_AT_ONCE),
        ):
            yield [key for (key,) in found]
            last = found[-1][0]

    def snapshots(self, learner: int) -> Sequence[StoredSnapshot]:
        rows = self._read(
            "SELECT seq, min(time), sum(length(body)) FROM snapshots WHERE learner = ? GROUP BY seq ORDER BY seq",
            (learner,),
        )
        return [StoredSnapshot(*row) for row in rows]

    def snapshot(self, learner: int, seq: int) -> bytes:
        rows = self._read(
            "SELECT seq, piece, pieces, body, checksum FROM snapshots WHERE learner = ? AND seq = ? "
            "ORDER BY piece",
            (learner, seq),
        )
        if not rows:
            raise StoreConflict(f"{self._path}: learner {learner} has no snapshot at {seq}")
        try:
            return joined_snapshot(learner, rows)
        except StoreDamaged as error:
            name = self._read("SELECT name FROM learners WHERE key = ?", (learner,))[0][0]
            raise StoreDamaged(f"{self._path}: the snapshot of learner {name!r} {error}; {ADVICE}") from error

    def size(self) -> int:
        pages, free, size = (
            self._read(f"PRAGMA {name}")[0][0] for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def check_learners(self) -> None:
        """Nothing is without its learner."""
        for table in ("snapshots", "journal"):
            for (orphan,) in self._read(NAMED_LEARNERS.format(table)):
                raise StoreDamaged(
                    f"{self._path}: learner {orphan} is missing, but not its {table}; {ADVICE}"
                )

    def last_seq(self, learner: int) -> int:
        """Of its entries and snapshots."""
        return int(
            self._read(
                "SELECT max(coalesce((SELECT max(seq) FROM journal WHERE learner = ?1), 0), "
                "coalesce((SELECT max(seq) FROM snapshots WHERE learner = ?1), 0))",
                (learner,),
            )[0][0]
        )

    def verify(self) -> None:
        """Read the whole file, by yet another connection: it may take minutes."""
        database = sqlite3.connect(self._path, isolation_level=None)
        try:
            check_integrity(database, self._path)
        except UNREADABLE as error:
            raise StoreDamaged(f"{self._path}: {error}; {ADVICE}") from error
        finally:
            database.close()

    def close(self) -> None:
        with self._turn:
            self._database.close()

    def _entry(self, learner: int, expected: int, row: tuple[int, int, bytes, int, int]) -> StoredEntry:
        seq, kind, body, found, key = row
        fault = "missing" if seq != expected else "damaged"
        if seq != expected or found != checksum(learner, seq, kind, body, key):
            raise StoreDamaged(
                f"{self._path}: journal entry {expected} of learner {learner} is {fault}; {ADVICE}"
            )
        return StoredEntry(seq, kind, body, key)

    def _read(self, sql: str, parameters: tuple[int, ...] = ()) -> list[Any]:
        try:
            with self._turn:
                return self._database.execute(sql, parameters).fetchall()
        except UNREADABLE as error:
            raise StoreDamaged(f"{self._path}: {error}; {ADVICE}") from error
