"""The store: opened read-only, every page, checksum and sequence looked at, beside a running daemon or without.

Nothing is repaired here. Learners are not built; a snapshot is judged by its own checksum.
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from galloon.daemon.errors import StoreDamaged
from galloon.daemon.operate.doctor.finding import Finding, bad, doubtful, good
from galloon.daemon.store.high_water import FILE_NAME as MARK_NAME
from galloon.daemon.store.high_water import HighWater
from galloon.daemon.store.sqlite_reader import SqliteReader
from galloon.daemon.store.sqlite_schema import (
    ADVICE,
    APPLICATION_ID,
    FILE_NAME,
    FORMAT,
    learner_checksum,
)
from galloon.learners import state
from galloon.learners.errors import DamagedState
from galloon.learners.saved_learner import KIND, VERSION

# More of the journal than this takes a noticeable time to replay.
LONG_JOURNAL = 100_000
SHOWN = 5  # names of learners


def check_store(data_dir: Path) -> Iterator[Finding]:
    """All of the store in this directory."""
    path = data_dir / FILE_NAME
    if not path.exists():
        yield good("store", f"{path}: none yet; `galloon serve` makes it")
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            yield from _check_database(database, path)
    except sqlite3.DatabaseError as error:
        yield bad("store", f"{path}: {error}", ADVICE)


def holder(data_dir: Path) -> int | None:
    """The process that serves this directory now, if any does."""
    try:
        descriptor = os.open(data_dir / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # Shared, so that two doctors do not see each other; let go at once.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return int(os.pread(descriptor, 32, 0).decode(errors="replace").strip() or 0)
    finally:
        os.close(descriptor)
    return None


def _check_database(database: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        yield bad("store", f"{path}: this is not a store of galloon", ADVICE)
        return
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        advice = "upgrade galloon, or restore a backup that this version wrote"
        yield bad("store", f"{path}: written in format {version}, this galloon reads up to {FORMAT}", advice)
        return
    if version < FORMAT:
        yield doubtful(
            "store",
            f"{path}: written in format {version}: `galloon serve` brings it to format {FORMAT}",
            "make a backup, start `galloon serve` once, then look again",
        )
        return
    verdict = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        yield bad("store", f"{path}: {verdict}", ADVICE)
        return
    database.execute("BEGIN")  # one view of everything, while a daemon may be writing
    learners = database.execute("SELECT count(*) FROM learners").fetchone()[0]
    size = sum(file.stat().st_size for file in path.parent.glob(f"{FILE_NAME}*"))
    yield good("store", f"{path}: format {version}, {learners} learners, {size / 2**20:.1f} MiB, intact")
    yield _check_learners(database, path)
    reader = SqliteReader(path, database)
    yield _check_snapshots(reader)
    yield _check_journal(reader)
    if holder(path.parent) is None:  # else the mark moves while we look
        yield from _check_nothing_lost(database, path)


def _check_learners(database: sqlite3.Connection, path: Path) -> Finding:
    names = []
    for key, name, spec, found, base in database.execute(
        "SELECT key, name, spec, checksum, base FROM learners ORDER BY key"
    ):
        if found != learner_checksum(name, spec, base):
            return bad("learners", f"{path}: the name or spec of learner {key} is damaged", ADVICE)
        names.append(name)
    for table in ("snapshots", "journal"):
        orphans = f"SELECT DISTINCT learner FROM {table} EXCEPT SELECT key FROM learners"  # noqa: S608  # two names of our own
        for (key,) in database.execute(orphans):
            return bad("learners", f"{path}: learner {key} is missing, but not its {table}", ADVICE)
    few = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    return good("learners", f"{len(names)}: {few}" if names else "none yet")


def _check_nothing_lost(database: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    """SQLite says nothing when its log is damaged or gone; the mark of the last acknowledged entry does."""
    if not (path.parent / MARK_NAME).exists():
        return
    mark = HighWater(path.parent)
    try:
        found = mark.read()
    finally:
        mark.close()
    if found is None:
        return
    learner, seq = found
    last = database.execute(
        "SELECT max(coalesce((SELECT max(seq) FROM journal WHERE learner = ?1), 0), "
        "coalesce((SELECT max(seq) FROM snapshots WHERE learner = ?1), 0))",
        (learner,),
    ).fetchone()[0]
    if last < seq:
        text = f"{path}: learner {learner} ends at entry {last}, but {seq} was acknowledged"
        yield bad("acknowledged", text, f"put its -wal file back, or restore a backup and remove {mark.path}")
    else:
        yield good("acknowledged", f"everything is there, up to entry {seq} of learner {learner}")


def _check_snapshots(reader: SqliteReader) -> Finding:
    count, largest, longest = 0, 0, 0
    try:
        for learner in reader.learners():
            for known in reader.snapshots(learner.key):
                body = reader.snapshot(learner.key, known.seq)
                state.unpack(body, KIND, VERSION)
                count, largest, longest = count + 1, max(largest, len(body)), max(longest, known.seq)
    except StoreDamaged as error:
        return bad("snapshots", str(error).removesuffix(f"; {ADVICE}"), ADVICE)
    except DamagedState as error:
        return bad("snapshots", f"the snapshot of learner {learner.name!r}: {error}", ADVICE)
    if not count:
        return good("snapshots", "none yet")
    text = f"{count}, the largest of {largest / 2**20:.2f} MiB; the longest covers {longest} entries"
    return good("snapshots", text)


def _check_journal(reader: SqliteReader) -> Finding:
    history = entries = 0
    try:
        for learner in reader.learners():
            for entry in reader.journal(learner.key, 0):
                history += 1
                entries += entry.seq > learner.seq
    except StoreDamaged as error:
        return bad("journal", str(error).removesuffix(f"; {ADVICE}"), ADVICE)
    text = f"{history} entries of history, {entries} of them to replay on the next start, all intact"
    if entries > LONG_JOURNAL:
        return doubtful("journal", text, "lower store.snapshot_events for a quicker start")
    return good("journal", text)
