"""The database file itself: its schema and format, opening with all checks, and transactions.

Format 2 (`PRAGMA user_version`; `application_id` is "GALL"):

    learners(key, name, spec, checksum)          spec is canonical JSON
    snapshots(learner, piece, pieces, seq, body, checksum)
                                                 the bodies of pieces 0, 1, ... joined are a container of its own
                                                 that covers the journal up to seq
    journal(learner, seq, kind, body, checksum)  seq without gaps

Every row has a CRC-32 of what stands in it, because SQLite checks that its pages fit together, not what they hold.
A value in SQLite ends at a billion bytes; a snapshot in pieces does not. Format 1 had each snapshot in one row
(learner, seq, body, checksum) and is brought to format 2 when it is opened.
"""

import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

from galloon.daemon.errors import StoreDamaged, StoreError, StoreFailed, StoreTooNew

FORMAT = 2
APPLICATION_ID = int.from_bytes(b"GALL", "big")
FILE_NAME = "galloon.db"
OWNER_ONLY = 0o600
PIECE_BYTES = 1 << 24  # of a snapshot in one row
ADVICE = "restore the data directory from a backup, or move it away to start empty"
SNAPSHOTS = """
CREATE TABLE snapshots(learner INTEGER NOT NULL, piece INTEGER NOT NULL, pieces INTEGER NOT NULL,
                       seq INTEGER NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL,
                       PRIMARY KEY (learner, piece));
"""
SCHEMA = f"""
BEGIN;
CREATE TABLE learners(key INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL,
                      checksum INTEGER NOT NULL);
{SNAPSHOTS}
CREATE TABLE journal(learner INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL,
                     body BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE UNIQUE INDEX journal_order ON journal(learner, seq);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
COMMIT;
"""
# The condition lets go of a large body: sqlite3 keeps what was last bound, and a row of nothing inserts nothing.
INSERT_PIECE = "INSERT INTO snapshots SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE ?5 IS NOT NULL"
NO_PIECE = (None,) * 6
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


def snapshot_rows(learner: int, seq: int, body: bytes) -> Iterator[tuple[int, int, int, int, bytes, int]]:
    """The rows of a snapshot of any size, at least one; a copy of one piece at a time."""
    pieces = max(1, -(-len(body) // PIECE_BYTES))
    for piece in range(pieces):
        part = body if pieces == 1 else body[piece * PIECE_BYTES : (piece + 1) * PIECE_BYTES]
        yield learner, piece, pieces, seq, part, _crc((learner, piece, pieces, seq), part)


def read_snapshot(database: sqlite3.Connection, learner: int) -> tuple[int, bytes | None]:
    """What it covers, and its bytes: None where there is none; a `StoreDamaged` where it is not as written."""
    rows = database.execute(
        "SELECT piece, pieces, seq, body, checksum FROM snapshots WHERE learner = ? ORDER BY piece",
        (learner,),
    ).fetchall()
    if not rows:
        return 0, None
    pieces, seq = rows[0][1:3]
    for number, (piece, count, covers, body, found) in enumerate(rows):
        whole = found == _crc((learner, piece, count, covers), body)
        if not whole or (piece, count, covers) != (number, pieces, seq):
            raise StoreDamaged("is damaged")
    if len(rows) != pieces:
        raise StoreDamaged("lacks a piece")
    return seq, rows[0][3] if pieces == 1 else b"".join([row[3] for row in rows])


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
    if version < FORMAT:
        _upgrade(database, path)
    # Not the quick one: only this compares indices with their tables, and entries are read through an index.
    verdict = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise StoreDamaged(f"{path}: {verdict}; {ADVICE}")


def _upgrade(database: sqlite3.Connection, path: Path) -> None:
    """From format 1: all or nothing."""
    with transaction(database):
        database.execute("ALTER TABLE snapshots RENAME TO whole_snapshots")
        database.execute(SNAPSHOTS)
        for learner, seq in database.execute("SELECT learner, seq FROM whole_snapshots").fetchall():
            body, found = database.execute(
                "SELECT body, checksum FROM whole_snapshots WHERE learner = ?", (learner,)
            ).fetchone()
            if found != _crc((learner, seq), body):
                raise StoreDamaged(f"{path}: the snapshot of learner {learner} is damaged; {ADVICE}")
            database.executemany(INSERT_PIECE, snapshot_rows(learner, seq, body))
        database.execute("DROP TABLE whole_snapshots")
        database.execute(f"PRAGMA user_version = {FORMAT}")


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


def _judged(error: Exception, path: Path) -> StoreError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in OUTSIDE:
        return StoreFailed(f"{path}: cannot be opened: {error}; see to the disk and its permissions")
    return StoreDamaged(f"{path}: {error}; {ADVICE}")
