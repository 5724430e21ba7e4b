"""SQLite as a backend: statements, a full disk, damage, formats, the lock; `test_backend` is for all backends."""

import _sqlite3
import ctypes
import errno
import gc
import os
import random
import shutil
import sqlite3
import struct
from zlib import crc32

import pytest

from galloon.daemon.errors import StoreDamaged, StoreFailed, StoreFull, StoreLocked, StoreTooNew
from galloon.daemon.store import sqlite_schema
from galloon.daemon.store.journal import BATCH_ENTRIES
from galloon.daemon.store.protocol import Create, Delete, Entry, SaveSnapshot
from galloon.daemon.store.sqlite import OWN_STATEMENT, SqliteBackend
from galloon.daemon.store.sqlite_schema import learner_checksum


def _statements() -> int:
    """That this process holds; other tests may have left some."""
    gc.collect()
    return sum(type(each).__name__ == "Statement" for each in gc.get_objects())


def test_batches_of_every_size_come_back_and_leave_nothing_behind(tmp_path):
    """Bodies of any bytes, also empty ones alone; statements, which keep their last values, stay few."""
    before = _statements()
    backend, seq = SqliteBackend(tmp_path), 0
    key = backend.transact(Create("a", "{}"))
    bodies = [b"", b"\0", bytes(range(256)), b"'\"", bytes(100_000)]
    sizes = [*range(1, 2 * OWN_STATEMENT), 200, 333, BATCH_ENTRIES]
    wanted = []
    for size in sizes:
        for choice in (bodies, [b""]):
            batch = [Entry(key, (seq := seq + 1), 2**31, choice[n % len(choice)]) for n in range(size)]
            backend.write(batch)
            wanted += [(entry.seq, entry.kind, entry.body) for entry in batch]
    assert _statements() - before <= 2 * OWN_STATEMENT + 4
    assert [(e.seq, e.kind, e.body) for e in backend.journal(key, 0)] == wanted
    backend.close()


def test_what_was_written_is_let_go_of(tmp_path):
    """A flood leaves large entries and a large snapshot behind: they must not stay with the statements."""
    backend = SqliteBackend(tmp_path)
    key, seq = backend.transact(Create("a", "{}")), 0
    before = sqlite_bytes()
    for size in range(1, OWN_STATEMENT + 1):
        backend.write([Entry(key, (seq := seq + 1), 1, bytes(200_000)) for _ in range(size)])
    backend.transact(SaveSnapshot(key, seq, bytes(20_000_000)))
    kept = sqlite_bytes() - before
    backend.close()
    assert kept < 4_000_000, "the cache of pages takes two megabytes, nothing else may"


def test_a_snapshot_may_be_larger_than_a_value_of_sqlite(tmp_path, monkeypatch):
    """It lies there in pieces; with SQLite's limit and the pieces a thousand times smaller, to see it soon."""
    monkeypatch.setattr(sqlite_schema, "PIECE_BYTES", 16_384)
    backend = SqliteBackend(tmp_path)
    backend._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    bodies = [random.Random(size).randbytes(size) for size in (3_000_000, 16_384, 16_385, 0)]
    for seq, body in enumerate(bodies):
        key = backend.transact(Create(f"imported-{seq}", "{}", body))
        backend.transact(SaveSnapshot(key, seq, body[::-1]))
    backend.close()
    backend = SqliteBackend(tmp_path)
    assert [(each.seq, each.snapshot) for each in backend.learners()] == [
        (seq, body[::-1]) for seq, body in enumerate(bodies)
    ]
    backend.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM snapshots WHERE piece = 2", "lacks a piece"),
        ("DELETE FROM snapshots WHERE piece = 0", "is damaged"),
        ("UPDATE snapshots SET body = x'00' WHERE piece = 1", "is damaged"),
        ("UPDATE snapshots SET pieces = 2 WHERE piece < 2", "is damaged"),
    ],
)
def test_a_piece_that_is_missing_or_damaged_is_noticed(tmp_path, monkeypatch, statement, words):
    """Each has its number, their count and a checksum."""
    monkeypatch.setattr(sqlite_schema, "PIECE_BYTES", 10)
    backend = SqliteBackend(tmp_path)
    backend.transact(Create("a", "{}", bytes(range(25))))
    backend.close()
    _changed(tmp_path, statement)
    backend = SqliteBackend(tmp_path)
    with pytest.raises(StoreDamaged, match=f"the snapshot of learner 'a' {words}; restore"):
        list(backend.learners())
    backend.close()


def test_snapshots_of_format_1_are_cut_into_pieces_on_opening(tmp_path, monkeypatch):
    """And a damaged one is refused as before, with nothing changed."""
    SqliteBackend(tmp_path).close()
    body = bytes(range(250))
    sum_ = crc32(body, crc32(struct.pack("<2q", 1, 7)))
    database = sqlite3.connect(tmp_path / "galloon.db")
    database.executescript(
        "DROP TABLE snapshots; PRAGMA user_version = 1; DROP INDEX journal_round;"
        "ALTER TABLE journal DROP COLUMN key; ALTER TABLE learners DROP COLUMN base;"
        "CREATE TABLE snapshots(learner INTEGER PRIMARY KEY, seq INTEGER, body BLOB, checksum INTEGER)"
    )
    database.execute("INSERT INTO learners VALUES (1, 'a', '{}', ?)", (learner_checksum("a", "{}"),))
    database.execute("INSERT INTO snapshots VALUES (1, 7, ?, ?)", (body, sum_ + 1))
    database.commit()
    monkeypatch.setattr(sqlite_schema, "PIECE_BYTES", 100)
    with pytest.raises(StoreDamaged, match="the snapshot of learner 1 is damaged"):
        SqliteBackend(tmp_path)
    database.execute("UPDATE snapshots SET checksum = ?", (sum_,))
    database.commit()
    database.close()
    backend = SqliteBackend(tmp_path)
    assert [(each.seq, each.snapshot) for each in backend.learners()] == [(7, body)]
    backend.close()


def sqlite_bytes() -> int:
    """What SQLite holds, by its own count."""
    used = ctypes.CDLL(_sqlite3.__file__).sqlite3_memory_used
    used.restype = ctypes.c_int64
    return used()


def test_a_full_disk_takes_nothing_and_heals(tmp_path):
    """Of a batch or an operation: nothing is left of what was refused, and the same succeeds later."""
    backend = SqliteBackend(tmp_path)
    key = backend.transact(Create("a", "{}"))
    (pages,) = backend._database.execute("PRAGMA page_count").fetchone()
    backend._database.execute(f"PRAGMA max_page_count = {pages}")
    steps = (
        lambda: backend.write([Entry(key, 1, 1, bytes(100_000))]),
        lambda: backend.transact(SaveSnapshot(key, 1, bytes(100_000))),
        lambda: backend.transact(Create("b", "{}", bytes(100_000))),
    )
    for step in steps:
        with pytest.raises(StoreFull):
            step()
    assert [(learner.name, learner.snapshot) for learner in backend.learners()] == [("a", None)]
    assert list(backend.journal(key, 0)) == []
    backend._database.execute("PRAGMA max_page_count = 1000000")
    for step in steps:
        step()
    assert [learner.name for learner in backend.learners()] == ["a", "b"]
    backend.close()


def test_a_disk_too_full_for_the_mark_loses_no_entry_and_refuses_a_delete(tmp_path, monkeypatch):
    """The mark may be old. A delete must take it back first, or the next start would miss entries."""
    backend = SqliteBackend(tmp_path)
    key = backend.transact(Create("a", "{}"))
    backend.write([Entry(key, 1, 1, b"x")])

    def pwrite(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", pwrite)
    backend.write([Entry(key, 2, 1, b"x")])
    with pytest.raises(StoreFull):
        backend.transact(Delete(key))
    monkeypatch.undo()
    backend.close()
    backend = SqliteBackend(tmp_path)
    assert [learner.name for learner in backend.learners()] == ["a"]
    assert len(list(backend.journal(key, 0))) == 2
    backend.transact(Delete(key))
    assert (tmp_path / "acknowledged").stat().st_size == 20, "the next mark needs no space"
    backend.close()


def _drop(backend, monkeypatch):
    backend._database.execute("DROP TABLE journal")


def _no_memory(backend, monkeypatch):
    def checksum(*_):
        raise MemoryError

    monkeypatch.setattr("galloon.daemon.store.sqlite.checksum", checksum)


@pytest.mark.parametrize("failing", [_drop, _no_memory])
def test_any_error_but_a_full_disk_is_a_failure(tmp_path, monkeypatch, failing):
    backend = SqliteBackend(tmp_path)
    key = backend.transact(Create("a", "{}"))
    failing(backend, monkeypatch)
    with pytest.raises(StoreFailed):
        backend.write([Entry(key, 1, 2, b"feedback")])
    backend.close()


def test_one_daemon_at_a_time(tmp_path):
    """The lock names who holds the directory."""
    first = SqliteBackend(tmp_path)
    with pytest.raises(StoreLocked, match=r"process \d+"):
        SqliteBackend(tmp_path)
    first.close()
    SqliteBackend(tmp_path).close()


def _filled(path):
    backend = SqliteBackend(path)
    key = backend.transact(Create("a", "{}"))
    backend.write([Entry(key, seq, 1, bytes([seq]) * 300) for seq in range(1, 51)])
    backend.close()
    return key


def _changed(path, statement):
    database = sqlite3.connect(path / "galloon.db")
    database.execute(statement)
    database.commit()
    database.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE journal SET body = x'00' WHERE seq = 7", "entry 7 .* damaged"),
        ("UPDATE journal SET kind = 2 WHERE seq = 8", "entry 8 .* damaged"),
        ("DELETE FROM journal WHERE seq = 9", "entry 9 .* missing"),
    ],
)
def test_a_damaged_journal_is_refused_by_name(tmp_path, statement, words):
    """Changed or missing entries stop the start, with the entry and what to do."""
    key = _filled(tmp_path)
    _changed(tmp_path, statement)
    backend = SqliteBackend(tmp_path)
    with pytest.raises(StoreDamaged, match=words) as refused:
        list(backend.journal(key, 0))
    assert "restore" in str(refused.value)
    backend.close()


def test_a_file_of_other_bytes_is_refused(tmp_path):
    """Garbage in place of pages, a foreign database, no database at all."""
    _filled(tmp_path)
    path = tmp_path / "galloon.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    with pytest.raises(StoreDamaged, match="restore"):
        SqliteBackend(tmp_path)
    path.write_bytes(b"not a database, by any measure" * 1000)
    with pytest.raises(StoreDamaged, match="restore"):
        SqliteBackend(tmp_path)
    path.unlink()
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE cats(name)")
    foreign.commit()
    foreign.close()
    with pytest.raises(StoreDamaged, match="not a store of galloon"):
        SqliteBackend(tmp_path)


def _killed(path):
    """A store as SIGKILL leaves it: everything acknowledged lies in the write-ahead log."""
    backend = SqliteBackend(path / "running")
    key = backend.transact(Create("a", "{}"))
    for seq in range(1, 31):
        backend.write([Entry(key, seq, 2, bytes([seq]) * 5000)])
    left = path / "left"
    shutil.copytree(path / "running", left)
    backend.close()
    return left, key


@pytest.mark.parametrize("damage", ["gone", "cut", "flipped early", "flipped late"])
def test_acknowledged_entries_that_the_log_has_lost_are_missed(tmp_path, damage):
    """SQLite itself says nothing when its log is damaged or gone; the mark of what was acknowledged does."""
    left, _ = _killed(tmp_path)
    log = left / "galloon.db-wal"
    data = bytearray(log.read_bytes())
    match damage:
        case "gone":
            log.unlink()
            (left / "galloon.db-shm").unlink()
        case "cut":
            log.write_bytes(data[: len(data) // 2])
        case _:
            data[len(data) // 3 if damage == "flipped early" else -100] ^= 1
            log.write_bytes(data)
    backend = SqliteBackend(left)
    with pytest.raises(StoreDamaged, match="30 was acknowledged; its -wal file is damaged or gone"):
        list(backend.learners())
    backend.close()


def test_a_log_that_is_whole_opens_after_a_kill_and_marks_may_be_missing(tmp_path):
    """Also with a mark that a power cut made old, unreadable or empty: it only ever says too little."""
    left, key = _killed(tmp_path)
    for mark in (None, b"", b"rubbish rubbish rubbish"):
        if mark is not None:
            (left / "acknowledged").write_bytes(mark)
        backend = SqliteBackend(left)
        assert [learner.name for learner in backend.learners()] == ["a"]
        assert len(list(backend.journal(key, 0))) == 30
        backend.close()


def test_a_newer_format_is_refused(tmp_path):
    """With the format found, the format known, and what to do."""
    _filled(tmp_path)
    _changed(tmp_path, "PRAGMA user_version = 99")
    with pytest.raises(StoreTooNew, match="format 99, this galloon reads up to 3: upgrade galloon"):
        SqliteBackend(tmp_path)


def test_a_directory_that_cannot_be_used_is_named(tmp_path):
    """A file where the data directory should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match="data directory"):
        SqliteBackend(tmp_path / "file")
