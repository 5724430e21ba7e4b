"""Databases of older formats, brought to the present one when they are opened: all or nothing, for each step.

    1 to 2  a snapshot may have many pieces (format 1 had a row for each: learner, seq, body, checksum)
    2 to 3  the journal is the history: entries have keys, learners a base, and may have many snapshots

What format 1 and 2 wrote of rounds lies in their snapshots and in entries without a key. It is journaled again,
with a key, by the learner that was restored from it (`Learner.attach`).
"""

import sqlite3
from pathlib import Path

from galloon.daemon.errors import StoreDamaged
from galloon.daemon.store.sqlite_schema import (
    ADVICE,
    FORMAT,
    INSERT_PIECE,
    ROUNDS,
    SNAPSHOTS,
    crc,
    learner_checksum,
    snapshot_rows,
    transaction,
)


def upgrade(database: sqlite3.Connection, path: Path) -> None:
    """Bring an older database to this format; one of this format stays as it is."""
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version == FORMAT:
        return
    with transaction(database):
        whole = {1: _read_whole, 2: _read_pieces}[version](database, path)
        database.execute("ALTER TABLE journal ADD COLUMN key INTEGER NOT NULL DEFAULT 0")
        database.execute("ALTER TABLE learners ADD COLUMN base INTEGER NOT NULL DEFAULT 0")
        database.execute(ROUNDS)
        database.execute("DROP TABLE snapshots")
        database.execute(SNAPSHOTS)
        for learner, (seq, body) in whole.items():
            database.executemany(INSERT_PIECE, snapshot_rows(learner, seq, 0.0, body))
            _set_base(database, learner, seq)
        database.execute(f"PRAGMA user_version = {FORMAT}")


def _set_base(database: sqlite3.Connection, learner: int, base: int) -> None:
    """Older formats dropped what a snapshot covers."""
    for name, spec, found in database.execute(
        "SELECT name, spec, checksum FROM learners WHERE key = ?", (learner,)
    ).fetchall():
        if found == learner_checksum(name, spec):  # else it is damaged, and found to be so when it is read
            database.execute(
                "UPDATE learners SET base = ?, checksum = ? WHERE key = ?",
                (base, learner_checksum(name, spec, base), learner),
            )


def _read_whole(database: sqlite3.Connection, path: Path) -> dict[int, tuple[int, bytes]]:
    rows = database.execute("SELECT learner, seq, body, checksum FROM snapshots").fetchall()
    for learner, seq, body, found in rows:
        _check(found == crc((learner, seq), body), learner, path)
    return {learner: (seq, body) for learner, seq, body, _ in rows}


def _read_pieces(database: sqlite3.Connection, path: Path) -> dict[int, tuple[int, bytes]]:
    whole: dict[int, tuple[int, bytes]] = {}
    rows = database.execute(
        "SELECT learner, piece, pieces, seq, body, checksum FROM snapshots ORDER BY learner, piece"
    ).fetchall()
    for learner, piece, pieces, seq, body, found in rows:
        _check(found == crc((learner, piece, pieces, seq), body), learner, path)
        whole[learner] = (seq, whole.get(learner, (seq, b""))[1] + body)
    return whole


def _check(is_whole: bool, learner: int, path: Path) -> None:
    if not is_whole:
        raise StoreDamaged(f"{path}: the snapshot of learner {learner} is damaged; {ADVICE}")
