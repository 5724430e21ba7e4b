"""The queue to disk by itself, over a backend in memory: order, batches, a full disk, failures, conflicts."""

import asyncio
import threading
import time

import pytest

from galloon.daemon.errors import StoreConflict, StoreFailed, StoreFull
from galloon.daemon.store.compression import unpacked
from galloon.daemon.store.journal import LAG_BYTES, Journal
from galloon.daemon.store.protocol import VOID, Create, Delete, Entry, Exchange, SaveSnapshot
from tests.daemon.store.memory_backend import MemoryBackend

FULL = StoreFull("the disk is full")


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


def started(backend, failed=pytest.fail, delay_s=0.001, queue_bytes=1 << 20):
    journal = Journal(backend, delay_s, queue_bytes)
    journal.start(lambda seconds, entries: None, failed)
    return journal


async def test_entries_are_written_in_order_in_few_batches():
    backend, written = MemoryBackend(), Written()
    journal = started(backend)
    key = await journal.transact(Create("a", "{}"))
    for seq in range(1, 201):
        journal.append(Entry(key, seq, 1, b"x" * seq, written if seq % 10 == 0 else None))
    await written.wait(20)
    assert written.fates == [None] * 20
    assert journal.figures.commits == len(backend.batches) < 100
    assert await journal.transact(SaveSnapshot(key, 150, b"snapshot")) == 0
    await journal.close()
    assert backend.closed
    assert [entry.seq for entry in backend.journal(key, 0)] == list(range(1, 201))
    assert journal.durable(key) == 200
    assert (journal.figures.entries, journal.figures.bytes) == (200, sum(range(201)))


async def test_a_full_disk_refuses_what_waits_keeps_the_rest_and_heals():
    """Feedback is refused and leaves a void entry; choices are written when space returns; no gap remains."""
    backend, written = MemoryBackend(), Written()
    journal = started(backend)
    key = await journal.transact(Create("a", "{}"))
    backend.error = FULL
    journal.append(Entry(key, 1, 1, bytes(100_000)))
    journal.append(Entry(key, 2, 2, b"feedback", written))
    await written.wait(1)
    assert written.fates == [FULL]
    with pytest.raises(StoreFull):
        await journal.transact(Create("b", "{}"))
    backend.error = None
    journal.append(Entry(key, 3, 2, b"again", written))
    await written.wait(2)
    assert written.fates[1] is None
    await journal.close()
    found = [(entry.seq, *unpacked(entry.kind, entry.body)) for entry in backend.journal(key, 0)]
    assert found == [(1, 1, bytes(100_000)), (2, VOID, b""), (3, 2, b"again")]


async def test_on_a_full_disk_nobody_is_made_to_wait():
    """Choices go on; what they leave is written when there is space again."""
    backend, written = MemoryBackend(), Written()
    journal = started(backend)
    key = await journal.transact(Create("a", "{}"))
    backend.error = FULL
    journal.append(Entry(key, 1, 1, bytes(LAG_BYTES)))
    journal.append(Entry(key, 2, 1, b"x", written))
    await written.wait(1)
    while journal.lags(key):  # noqa: ASYNC110  # the writer has told others, and is about to note it
        await asyncio.sleep(0.001)
    assert not journal.has_room()
    backend.error = None
    await journal.close()
    assert journal.has_room()
    assert [entry.seq for entry in backend.journal(key, 0)] == [1, 2]


async def test_refused_feedback_does_not_pile_up_while_the_disk_is_full():
    """What a full disk refuses leaves a place in the sequence behind, and the queue counts it."""
    backend, written, seq = MemoryBackend(), Written(), 0
    journal = started(backend, queue_bytes=20_000)
    key = await journal.transact(Create("a", "{}"))
    backend.error = FULL
    while journal.has_room():
        seq += 1
        assert seq < 1000, "nothing counts what waits"
        journal.append(Entry(key, seq, 2, bytes(100), written))
    backend.error = None
    await journal.close()
    assert [entry.seq for entry in backend.journal(key, 0)] == list(range(1, seq + 1))


async def test_what_a_full_disk_refused_keeps_its_order_while_more_comes():
    """The event loop appends while the writer puts a batch back."""
    journal = Journal(MemoryBackend(), 0.001, 1 << 20)
    journal._loop = asyncio.get_running_loop()
    count, more = 20_000, threading.Event()

    def append():
        for seq in range(1, count + 1):
            journal.append(Entry(1, seq, 1, b"x"))
            more.set()

    appending = threading.Thread(target=append)
    appending.start()
    while appending.is_alive():
        more.wait()
        batch = [journal._queue.popleft() for _ in range(min(5, len(journal._queue)))]
        journal._keep(batch, FULL)
    appending.join()
    assert [entry.seq for entry in journal._queue] == list(range(1, count + 1))


async def test_what_a_full_disk_refused_is_tried_once_more_at_the_end():
    """Also when the end comes in the middle of an attempt."""
    loop, ends = asyncio.get_running_loop(), []

    class FullOnce(MemoryBackend):
        def write(self, batch):
            if not ends:
                ends.append(asyncio.run_coroutine_threadsafe(journal.close(), loop))
                while not journal._closing:
                    time.sleep(0.001)
                raise FULL
            super().write(batch)

    backend = FullOnce()
    journal = started(backend)
    key = await journal.transact(Create("a", "{}"))
    journal.append(Entry(key, 1, 1, b"x"))
    while not ends:  # noqa: ASYNC110  # the writer comes to it in its own time
        await asyncio.sleep(0.001)
    await asyncio.wrap_future(ends[0])
    assert [entry.body for entry in backend.journal(key, 0)] == [b"x"]


@pytest.mark.parametrize("problem", [StoreFailed("no sync"), ZeroDivisionError("a defect of the backend")])
async def test_after_a_failed_write_nothing_is_acknowledged_any_more(problem):
    """Any error but a full disk or a conflict ends the store; it is never tried again in place."""
    backend, written, failures = MemoryBackend(), Written(), []
    journal = started(backend, failures.append)
    key = await journal.transact(Create("a", "{}"))
    backend.error = problem
    journal.append(Entry(key, 1, 2, b"feedback", written))
    journal.append(Entry(key, 2, 2, b"feedback", written))
    await written.wait(2)
    backend.error = None
    assert {type(fate) for fate in written.fates} == {StoreFailed}
    assert [type(failure) for failure in failures] == [StoreFailed]
    with pytest.raises(StoreFailed):
        await journal.transact(Create("b", "{}"))
    await journal.close()
    assert list(backend.journal(key, 0)) == []


async def test_a_writer_that_dies_of_a_defect_stops_the_daemon_and_refuses_what_waits(monkeypatch):
    """Nobody goes on waiting for it."""
    failed, written = asyncio.get_running_loop().create_future(), Written()
    journal = started(MemoryBackend(), failed.set_result)
    key = await journal.transact(Create("a", "{}"))
    monkeypatch.setattr(journal, "_leave", lambda *_: {}["defect"])
    journal.append(Entry(key, 1, 1, b"x"))
    assert isinstance(await failed, StoreFailed)
    journal.append(Entry(key, 2, 1, b"x", written))
    with pytest.raises(StoreFailed):
        await journal.transact(Delete(key))
    await written.wait(1)
    assert isinstance(written.fates[0], StoreFailed)
    await journal.close()


async def test_a_conflict_fails_one_request_and_the_journal_goes_on():
    """A name that is taken, a learner that has gone: their requests fail, entries of others are written."""
    backend, gone, kept = MemoryBackend(), Written(), Written()
    journal = started(backend, delay_s=60.0)
    first, second = [await journal.transact(Create(name, "{}")) for name in "ab"]
    with pytest.raises(StoreConflict):
        await journal.transact(Create("a", "{}"))
    await journal.transact(Delete(first))
    with pytest.raises(StoreConflict):
        await journal.transact(SaveSnapshot(first, 1, b"late"))
    for seq in range(1, 4):
        journal.append(Entry(first, seq, 1, b"late", gone))
        journal.append(Entry(second, seq, 1, b"x", kept))
    await gone.wait(3)
    await kept.wait(3)
    assert {type(fate) for fate in gone.fates} == {StoreConflict}
    assert kept.fates == [None] * 3
    assert [entry.seq for entry in backend.journal(second, 0)] == [1, 2, 3]
    assert journal._queued_bytes == 0
    await journal.close()


async def test_a_queue_that_the_disk_cannot_follow_says_so():
    """There is a number on it, in bytes."""
    journal = started(MemoryBackend(), delay_s=60.0, queue_bytes=1000)
    key = await journal.transact(Create("a", "{}"))
    assert journal.has_room()
    journal.append(Entry(key, 1, 1, bytes(2000)))
    assert not journal.has_room()
    await journal.close()


async def test_the_disk_is_behind_with_one_learner_and_not_with_another():
    written = Written()
    journal = started(MemoryBackend(), delay_s=60.0, queue_bytes=1 << 30)
    first, second = [await journal.transact(Create(name, "{}")) for name in "ab"]
    journal.append(Entry(first, 1, 1, bytes(LAG_BYTES)))
    assert journal.lags(first)
    assert not journal.lags(second)
    journal.append(Entry(second, 1, 1, b"x", written))  # somebody waits: all is written
    await written.wait(1)
    assert not journal.lags(first)
    await journal.close()


async def test_an_exchange_that_a_full_disk_refuses_leaves_no_gap():
    """Its place in the sequence is taken: a void entry stands there before anything later is written."""
    backend = MemoryBackend()
    journal = started(backend)
    key = await journal.transact(Create("a", "{}"))
    journal.append(Entry(key, 1, 1, b"before"))
    await journal.transact(SaveSnapshot(key, 1, b"state"))
    backend.error = FULL
    exchange = asyncio.create_task(journal.transact(Exchange(key, 2, 5, b"why", b"new", 0.0, 0)))
    await asyncio.sleep(0)
    journal.append(Entry(key, 3, 1, b"after"))
    with pytest.raises(StoreFull):
        await exchange
    backend.error = None
    await journal.close()
    assert [(entry.seq, entry.kind) for entry in backend.journal(key, 0)] == [(1, 1), (2, VOID), (3, 1)]
