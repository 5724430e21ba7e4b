"""The database file itself: its schema and format, opening with all checks, and transactions.

Format 1 (`PRAGMA user_version`; `application_id` is "GALL"):

    learners(key, name, spec, checksum)          spec is canonical JSON
    snapshots(learner, seq, body, checksum)      body is a container of its own, covers the journal up to seq
    journal(learner, seq, kind, body, checksum)  seq without gaps

Every row has a CRC-32 of what stands in it, because SQLite checks that its pages fit together, not what they hold.
"""

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

from galloon.daemon.errors import StoreDamaged, StoreError, StoreFailed, StoreTooNew

FORMAT = 1
APPLICATION_ID = int.from_bytes(b"GALL", "big")
FILE_NAME = "galloon.db"
ADVICE = "restore the data directory from a backup, or move it away to start empty"
SCHEMA = f"""
BEGIN;
CREATE TABLE learners(key INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL,
                      checksum INTEGER NOT NULL);
CREATE TABLE snapshots(learner INTEGER PRIMARY KEY, seq INTEGER NOT NULL, body BLOB NOT NULL,
                       checksum INTEGER NOT NULL);
CREATE TABLE journal(learner INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL,
                     body BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE UNIQUE INDEX journal_order ON journal(learner, seq);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
COMMIT;
"""
# What reading raises when the file is damaged; the second, when SQLite's own sentence repeats damaged bytes.
UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
# Faults of the disk or of its permissions, not of the bytes in the file.
OUTSIDE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY}


def open_database(path: Path) -> sqlite3.Connection:
    """The database, checked; made if there is none."""
    # A connection in autocommit mode: every statement alone is a transaction. It is used by one thread at a
    # time, first by the one that recovers, then by the writer.
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _prepare(database, path)
    except UNREADABLE as error:
        database.close()
        raise _judged(error, path) from error
    except StoreError:
        database.close()
        raise
    return database


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; sqlite3's own context manager does not begin one in autocommit mode."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    finally:
        if database.in_transaction:
            database.execute("ROLLBACK")


def checksum(learner: int, seq: int, kind: int, body: bytes) -> int:
    """Of one entry of the journal."""
    return _crc((learner, seq, kind), body)


def learner_checksum(name: str, spec: str) -> int:
    return _crc((), f"{name}\n{spec}".encode())


def snapshot_checksum(learner: int, seq: int, body: bytes) -> int:
    return _crc((learner, seq), body)


def _crc(numbers: tuple[int, ...], body: bytes) -> int:
    """CRC-32; -1, which no row has, for what cannot be right: one flipped bit turns a blob into a text."""
    try:
        return crc32(body, crc32(struct.pack(f"<{len(numbers)}q", *numbers)))
    except (struct.error, TypeError):
        return -1


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    if database.execute("PRAGMA page_count").fetchone()[0] == 0:
        database.execute("PRAGMA page_size = 8192")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA wal_autocheckpoint = 2000")
    if _is_blank(database):
        database.executescript(SCHEMA)
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreDamaged(f"{path}: this is not a store of galloon; {ADVICE}")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        raise StoreTooNew(
            f"{path}: written in format {version}, this galloon reads up to {FORMAT}: upgrade galloon, "
            "or restore a backup that this version wrote"
        )
    # Not the quick one: only this compares indices with their tables, and entries are read through an index.
    verdict = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise StoreDamaged(f"{path}: {verdict}; {ADVICE}")


def _is_blank(database: sqlite3.Connection) -> bool:
    """Whether nothing was ever put into it. A crash can come between a file's first page and its tables."""
    marks = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    return not any(marks) and database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0


def _judged(error: Exception, path: Path) -> StoreError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in OUTSIDE:
        return StoreFailed(f"{path}: cannot be opened: {error}; see to the disk and its permissions")
    return StoreDamaged(f"{path}: {error}; {ADVICE}")
