"""The store on its own: order, grouping, a full disk, damage, formats, the lock."""

import _sqlite3
import asyncio
import ctypes
import gc
import shutil
import sqlite3
import threading
import time

import pytest

from galloon.daemon.errors import StoreDamaged, StoreFailed, StoreFull, StoreLocked, StoreTooNew
from galloon.daemon.store.protocol import VOID, Entry
from galloon.daemon.store.sqlite import BATCH_ENTRIES, LAG_BYTES, OWN_STATEMENT, SqliteStore


def opened(path):
    return SqliteStore(path, 0.001, 1 << 20)


class Written:
    """Collects the fates of entries."""

    def __init__(self):
        self.fates, self.changed = [], asyncio.Event()

    def __call__(self, error):
        self.fates.append(error)
        self.changed.set()

    async def wait(self, count):
        while len(self.fates) < count:
            self.changed.clear()
            await self.changed.wait()


async def test_entries_come_back_in_order(tmp_path):
    """Many entries, few commits, all there after reopening."""
    store, written = opened(tmp_path), Written()
    store.start(lambda seconds, entries: None, pytest.fail)
    key = await store.create("a", "{}", None)
    for seq in range(1, 201):
        store.append(Entry(key, seq, 1, b"x" * seq, written if seq % 10 == 0 else None))
    await written.wait(20)
    assert written.fates == [None] * 20
    assert store.figures.commits < 100
    assert await store.save_snapshot(key, 150, b"snapshot") == 150
    await store.close()
    store = opened(tmp_path)
    (learner,) = store.learners()
    assert (learner.name, learner.seq, learner.snapshot) == ("a", 150, b"snapshot")
    assert [(e.seq, len(e.body)) for e in store.journal(key, 150)] == [(seq, seq) for seq in range(151, 201)]
    store.start(lambda seconds, entries: None, pytest.fail)
    await store.close()


async def test_batches_of_every_size_come_back_and_leave_nothing_behind(tmp_path):
    """Bodies of any bytes, also empty ones alone; statements, which keep their last values, stay few."""
    store, seq = opened(tmp_path), 0
    bodies = [b"", b"\0", bytes(range(256)), b"'\"", bytes(100_000)]
    sizes = [*range(1, 2 * OWN_STATEMENT), 200, 333, BATCH_ENTRIES]
    wanted = []
    for size in sizes:
        for choice in (bodies, [b""]):
            batch = [Entry(7, (seq := seq + 1), 2**31, choice[n % len(choice)]) for n in range(size)]
            store._insert(batch)
            wanted += [(entry.seq, entry.kind, entry.body) for entry in batch]
    assert sum(type(each).__name__ == "Statement" for each in gc.get_objects()) <= 2 * OWN_STATEMENT
    assert [(e.seq, e.kind, e.body) for e in store.journal(7, 0)] == wanted
    store.start(lambda seconds, entries: None, pytest.fail)
    await store.close()


async def test_what_was_written_is_let_go_of(tmp_path):
    """A flood leaves large entries and a large snapshot behind: they must not stay with the statements."""
    store = opened(tmp_path)
    store.start(lambda seconds, entries: None, pytest.fail)
    key, written, seq = await store.create("a", "{}", None), Written(), 0
    before = sqlite_bytes()
    for size in range(1, OWN_STATEMENT + 1):
        for last in range(size):
            store.append(
                Entry(key, (seq := seq + 1), 1, bytes(200_000), written if last == size - 1 else None)
            )
        await written.wait(size)
    await store.save_snapshot(key, seq, bytes(20_000_000))
    kept = sqlite_bytes() - before
    await store.close()
    assert kept < 4_000_000, "the cache of pages takes two megabytes, nothing else may"


def sqlite_bytes() -> int:
    """What SQLite holds, by its own count."""
    used = ctypes.CDLL(_sqlite3.__file__).sqlite3_memory_used
    used.restype = ctypes.c_int64
    return used()


async def test_a_full_disk_refuses_what_waits_keeps_the_rest_and_heals(tmp_path):
    """Feedback is refused and leaves a void entry; choices are written when space returns; no gap remains."""
    store, key, written = await _full(tmp_path)
    store.append(Entry(key, 1, 1, bytes(100_000)))
    store.append(Entry(key, 2, 2, b"feedback", written))
    await written.wait(1)
    assert isinstance(written.fates[0], StoreFull)
    with pytest.raises(StoreFull):
        await store.create("b", "{}", None)
    store._database.execute("PRAGMA max_page_count = 1000000")
    store.append(Entry(key, 3, 2, b"again", written))
    await written.wait(2)
    assert written.fates[1] is None
    await store.close()
    store = opened(tmp_path)
    assert [(e.seq, e.kind, len(e.body)) for e in store.journal(key, 0)] == [
        (1, 1, 100_000),
        (2, VOID, 0),
        (3, 2, 5),
    ]
    store.start(lambda seconds, entries: None, pytest.fail)
    await store.close()


def _drop(store, monkeypatch):
    store._database.execute("DROP TABLE journal")


def _no_memory(store, monkeypatch):
    def checksum(*_):
        raise MemoryError

    monkeypatch.setattr("galloon.daemon.store.sqlite.checksum", checksum)


@pytest.mark.parametrize("failing", [_drop, _no_memory])
async def test_after_a_failed_write_nothing_is_acknowledged_any_more(tmp_path, monkeypatch, failing):
    """Any error but a full disk ends the store; it is never tried again in place."""
    store, written, failures = opened(tmp_path), Written(), []
    store.start(lambda seconds, entries: None, failures.append)
    key = await store.create("a", "{}", None)
    failing(store, monkeypatch)
    store.append(Entry(key, 1, 2, b"feedback", written))
    store.append(Entry(key, 2, 2, b"feedback", written))
    await written.wait(2)
    assert {type(fate) for fate in written.fates} == {StoreFailed}
    assert isinstance(failures[0], StoreFailed)
    with pytest.raises(StoreFailed):
        await store.create("b", "{}", None)
    await store.close()


async def test_what_a_full_disk_refused_keeps_its_order_while_more_comes(tmp_path):
    """The event loop appends while the writer puts a batch back."""
    store = opened(tmp_path)
    store._loop = asyncio.get_running_loop()
    count, more = 20_000, threading.Event()

    def append():
        for seq in range(1, count + 1):
            store.append(Entry(1, seq, 1, b"x"))
            more.set()

    appending = threading.Thread(target=append)
    appending.start()
    while appending.is_alive():
        more.wait()
        batch = [store._queue.popleft() for _ in range(min(5, len(store._queue)))]
        store._keep(batch, StoreFull("full"))
    appending.join()
    assert [entry.seq for entry in store._queue] == list(range(1, count + 1))
    store._database.close()
    store._directory.unlock()


async def test_a_writer_that_dies_of_a_defect_stops_the_daemon(tmp_path, monkeypatch):
    """Nothing is acknowledged any more, so nobody may go on waiting for it."""
    store, failed = opened(tmp_path), asyncio.get_running_loop().create_future()
    store.start(lambda seconds, entries: None, failed.set_result)
    key = await store.create("a", "{}", None)
    monkeypatch.setattr(store, "_written", lambda *_: {}["defect"])
    store.append(Entry(key, 1, 1, b"x", pytest.fail))
    assert isinstance(await failed, StoreFailed)
    await store.close()


async def test_a_queue_that_the_disk_cannot_follow_says_so(tmp_path):
    """There is a number on it, in bytes."""
    store = SqliteStore(tmp_path, 60.0, 1000)
    store.start(lambda seconds, entries: None, pytest.fail)
    key = await store.create("a", "{}", None)
    assert store.has_room()
    store.append(Entry(key, 1, 1, bytes(2000)))
    assert not store.has_room()
    await store.close()


async def test_the_disk_is_behind_with_one_learner_and_not_with_another(tmp_path):
    store, written = SqliteStore(tmp_path, 60.0, 1 << 30), Written()
    store.start(lambda seconds, entries: None, pytest.fail)
    first, second = await store.create("a", "{}", None), await store.create("b", "{}", None)
    store.append(Entry(first, 1, 1, bytes(LAG_BYTES)))
    assert store.lags(first)
    assert not store.lags(second)
    store.append(Entry(second, 1, 1, b"x", written))  # somebody waits: all is written
    await written.wait(1)
    assert not store.lags(first)
    await store.close()


async def test_on_a_full_disk_nobody_is_made_to_wait(tmp_path):
    """Choices go on; what they leave is written when there is space again."""
    store, key, written = await _full(tmp_path)
    store.append(Entry(key, 1, 1, bytes(LAG_BYTES)))
    store.append(Entry(key, 2, 1, b"x", written))
    await written.wait(1)
    assert isinstance(written.fates[0], StoreFull)
    while store.lags(key):  # noqa: ASYNC110  # the writer has told others, and is about to note it
        await asyncio.sleep(0.001)
    assert not store.has_room()
    store._database.execute("PRAGMA max_page_count = 1000000")
    await store.close()
    assert store.has_room()


async def test_what_a_full_disk_refused_is_tried_once_more_at_the_end(tmp_path, monkeypatch):
    """Also when the end comes in the middle of an attempt."""
    store, loop, ends = opened(tmp_path), asyncio.get_running_loop(), []
    store.start(lambda seconds, entries: None, pytest.fail)
    key = await store.create("a", "{}", None)

    def fail_while_it_ends(batch):
        monkeypatch.undo()
        ends.append(asyncio.run_coroutine_threadsafe(store.close(), loop))
        while not store._closing:
            time.sleep(0.001)
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise full

    monkeypatch.setattr(store, "_insert", fail_while_it_ends)
    store.append(Entry(key, 1, 1, b"x"))
    while not ends:  # noqa: ASYNC110  # the writer comes to it in its own time
        await asyncio.sleep(0.001)
    await asyncio.wrap_future(ends[0])
    store = opened(tmp_path)
    assert [entry.body for entry in store.journal(key, 0)] == [b"x"]
    store.start(lambda seconds, entries: None, pytest.fail)
    await store.close()


def test_one_daemon_at_a_time(tmp_path):
    """The lock names who holds the directory."""
    first = opened(tmp_path)
    with pytest.raises(StoreLocked, match=r"process \d+"):
        opened(tmp_path)
    first._database.close()
    first._directory.unlock()
    opened(tmp_path)._database.close()


async def _full(path):
    """A store on a disk without space, a learner of it, and who hears of entries."""
    store = opened(path)
    store.start(lambda seconds, entries: None, pytest.fail)
    key = await store.create("a", "{}", None)
    pages = store._database.execute("PRAGMA page_count").fetchone()[0]
    store._database.execute(f"PRAGMA max_page_count = {pages}")
    return store, key, Written()


async def _filled(path):
    store = opened(path)
    store.start(lambda seconds, entries: None, pytest.fail)
    key = await store.create("a", "{}", None)
    for seq in range(1, 51):
        store.append(Entry(key, seq, 1, bytes([seq]) * 300))
    await store.close()
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
async def test_a_damaged_journal_is_refused_by_name(tmp_path, statement, words):
    """Changed or missing entries stop the start, with the entry and what to do."""
    key = await _filled(tmp_path)
    _changed(tmp_path, statement)
    store = opened(tmp_path)
    with pytest.raises(StoreDamaged, match=words) as refused:
        list(store.journal(key, 0))
    assert "restore" in str(refused.value)
    store._database.close()


async def test_a_file_of_other_bytes_is_refused(tmp_path):
    """Garbage in place of pages, a foreign database, no database at all."""
    await _filled(tmp_path)
    path = tmp_path / "galloon.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    with pytest.raises(StoreDamaged, match="restore"):
        opened(tmp_path)
    path.write_bytes(b"not a database, by any measure" * 1000)
    with pytest.raises(StoreDamaged, match="restore"):
        opened(tmp_path)
    path.unlink()
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE cats(name)")
    foreign.commit()
    foreign.close()
    with pytest.raises(StoreDamaged, match="not a store of galloon"):
        opened(tmp_path)


async def _killed(path):
    """A store as SIGKILL leaves it: everything acknowledged lies in the write-ahead log."""
    folder = path / "running"
    store, written = opened(folder), Written()
    store.start(lambda seconds, entries: None, pytest.fail)
    key = await store.create("a", "{}", None)
    for seq in range(1, 31):
        store.append(Entry(key, seq, 2, bytes([seq]) * 5000, written))
        await written.wait(seq)
    left = path / "left"
    shutil.copytree(folder, left)
    await store.close()
    return left, key


@pytest.mark.parametrize("damage", ["gone", "cut", "flipped early", "flipped late"])
async def test_acknowledged_entries_that_the_log_has_lost_are_missed(tmp_path, damage):
    """SQLite itself says nothing when its log is damaged or gone; the mark of what was acknowledged does."""
    left, _ = await _killed(tmp_path)
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
    store = opened(left)
    with pytest.raises(StoreDamaged, match="30 was acknowledged; its -wal file is damaged or gone"):
        list(store.learners())
    store._database.close()


async def test_a_log_that_is_whole_opens_after_a_kill_and_marks_may_be_missing(tmp_path):
    """Also with a mark that a power cut made old, unreadable or empty: it only ever says too little."""
    left, key = await _killed(tmp_path)
    for mark in (None, b"", b"rubbish rubbish rubbish"):
        if mark is not None:
            (left / "acknowledged").write_bytes(mark)
        store = opened(left)
        assert [learner.name for learner in store.learners()] == ["a"]
        assert len(list(store.journal(key, 0))) == 30
        store._database.close()
        store._high_water.close()
        store._directory.unlock()


async def test_a_newer_format_is_refused(tmp_path):
    """With the format found, the format known, and what to do."""
    await _filled(tmp_path)
    _changed(tmp_path, "PRAGMA user_version = 99")
    with pytest.raises(StoreTooNew, match="format 99, this galloon reads up to 1: upgrade galloon"):
        opened(tmp_path)


def test_a_directory_that_cannot_be_used_is_named(tmp_path):
    """A file where the data directory should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match="data directory"):
        opened(tmp_path / "file")
