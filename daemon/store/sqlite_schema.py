"""The database file itself: its schema and format, opening with all checks, and transactions.

Format 3 (`PRAGMA user_version`; `application_id` is "GALL"):

    learners(key, name, spec, checksum, base)    spec is canonical JSON; retention has cut the journal at base
    snapshots(learner, seq, piece, pieces, time, body, checksum)
                                                 the bodies of pieces 0, 1, ... joined are a container of its own
                                                 that covers the journal up to seq; time is of Unix
    journal(learner, seq, kind, body, checksum, key)
                                                 seq without gaps after base; entries of one round have one key

Every row has a CRC-32 of what stands in it, because SQLite checks that its pages fit together, not what they hold.
A value in SQLite ends at a billion bytes; a snapshot in pieces does not. Older formats are brought to this one
when they are opened (`sqlite_upgrade`).
"""

import os
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

from galloon.daemon.errors import StoreDamaged, StoreError, StoreFailed, StoreTooNew

FORMAT = 3
APPLICATION_ID = int.from_bytes(b"GALL", "big")
FILE_NAME = "galloon.db"
OWNER_ONLY = 0o600
PIECE_BYTES = 1 << 24  # of a snapshot in one row
ADVICE = "restore the data directory from a backup, or move it away to start empty"
CHECKED_BYTES = 1 << 26  # of a store that is read as a whole before it is used; see `SqliteReader.verify`
SNAPSHOTS = """
CREATE TABLE snapshots(learner INTEGER NOT NULL, seq INTEGER NOT NULL, piece INTEGER NOT NULL,
                       pieces INTEGER NOT NULL, time REAL NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL,
                       PRIMARY KEY (learner, seq, piece))
"""
ROUNDS = "CREATE INDEX journal_round ON journal(learner, key) WHERE key != 0"
SCHEMA = f"""
BEGIN;
CREATE TABLE learners(key INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL,
                      checksum INTEGER NOT NULL, base INTEGER NOT NULL DEFAULT 0);
{SNAPSHOTS};
CREATE TABLE journal(learner INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL,
                     body BLOB NOT NULL, checksum INTEGER NOT NULL, key INTEGER NOT NULL DEFAULT 0);
CREATE UNIQUE INDEX journal_order ON journal(learner, seq);
{ROUNDS};
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
COMMIT;
"""
# The condition lets go of a large body: sqlite3 keeps what was last bound, and a row of nothing inserts nothing.
INSERT_PIECE = "INSERT INTO snapshots SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE ?6 IS NOT NULL"
NO_PIECE = (None,) * 7
# What reading raises when the file is damaged; the second, when SQLite's own sentence repeats damaged bytes.
UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
# Faults of the disk or of its permissions, not of the bytes in the file.
OUTSIDE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY}


def open_database(path: Path) -> sqlite3.Connection:
    """The database, checked; made if there is none."""
    # A connection in autocommit mode: every statement alone is a transaction. It is used by one thread at a
    # time, first by the one that recovers, then by the writer.
    _keep_private(path)
    database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _prepare(database, path)
    except UNREADABLE as error:
        database.close()
        raise judged(error, path) from error
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


def checksum(learner: int, seq: int, kind: int, body: bytes, key: int = 0) -> int:
    """Of one entry of the journal. Formats without keys had no place for one."""
    return crc((learner, seq, kind, key) if key else (learner, seq, kind), body)


def learner_checksum(name: str, spec: str, base: int = 0) -> int:
    return crc((base,) if base else (), f"{name}\n{spec}".encode())


def snapshot_rows(
    learner: int, seq: int, time: float, body: bytes
) -> Iterator[tuple[int, int, int, int, float, bytes, int]]:
    """The rows of a snapshot of any size, at least one; a copy of one piece at a time."""
    pieces = max(1, -(-len(body) // PIECE_BYTES))
    for piece in range(pieces):
        part = body if pieces == 1 else body[piece * PIECE_BYTES : (piece + 1) * PIECE_BYTES]
        yield learner, seq, piece, pieces, time, part, crc((learner, seq, piece, pieces), part)


def joined_snapshot(learner: int, rows: Sequence[tuple[int, int, int, bytes, int]]) -> bytes:
    """The bytes of (seq, piece, pieces, body, checksum) in order; a `StoreDamaged` where not as written."""
    seq, _, pieces = rows[0][:3]
    for number, (covers, piece, count, body, found) in enumerate(rows):
        whole = found == crc((learner, covers, piece, count), body)
        if not whole or (piece, count, covers) != (number, pieces, seq):
            raise StoreDamaged("is damaged")
    if len(rows) != pieces:
        raise StoreDamaged("lacks a piece")
    return rows[0][3] if pieces == 1 else b"".join([row[3] for row in rows])


def crc(numbers: tuple[int, ...], body: bytes) -> int:
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
    pages, page_bytes = (
        database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
    )
    if pages * page_bytes <= CHECKED_BYTES:
        check_integrity(database, path)


def check_integrity(database: sqlite3.Connection, path: Path) -> None:
    """Read all of it."""
    verdict = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise StoreDamaged(f"{path}: {verdict}; {ADVICE}")


def _keep_private(path: Path) -> None:
    """Texts of clients lie here: the file is the owner's alone, and SQLite gives its other files the same mode."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY))
        for file in path.parent.glob(f"{path.name}*"):
            if file.stat().st_mode & 0o077:
                file.chmod(OWNER_ONLY)
    except OSError as error:
        raise StoreFailed(
            f"{path}: cannot be opened: {error.strerror}; see to the disk and its permissions"
        ) from error


def _is_blank(database: sqlite3.Connection) -> bool:
    """Whether nothing was ever put into it. A crash can come between a file's first page and its tables."""
    marks = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    return not any(marks) and database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0


def judged(error: Exception, path: Path) -> StoreError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in OUTSIDE:
        return StoreFailed(f"{path}: cannot be opened: {error}; see to the disk and its permissions")
    return StoreDamaged(f"{path}: {error}; {ADVICE}")
