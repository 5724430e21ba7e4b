"""Lanes: one learner's work strictly in order, other learners' work never behind it."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.daemon.learner.work_queue import DISK, LARGE, SLICE_S, WorkQueue
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import spec_pb2, utterance_pb2
from tests.daemon.serving import serving

LIGHT, HEAVY = ("light", 0), ("heavy", 0)


@pytest.fixture
def pool():
    with ThreadPoolExecutor(4) as pool:
        yield pool


@settings(deadline=None, max_examples=25)
@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_work_of_one_lane_keeps_its_order_and_never_overlaps(kinds):
    """Whatever mixture of light and heavy work, from whichever thread it runs in."""

    async def main() -> None:
        with ThreadPoolExecutor(4) as pool:
            lane, order, running = WorkQueue(pool, 0.001), [], []
            lane._seconds[LIGHT] = 0.0

            def work(number: int, heavy: bool) -> int:
                running.append(number)
                assert len(running) == 1
                if heavy:
                    time.sleep(0.0012)
                order.append(number)
                running.pop()
                return number

            parts = [
                lane.run(HEAVY if heavy else LIGHT, lambda n=number, h=heavy: work(n, h))
                for number, heavy in enumerate(kinds)
            ]
            assert await asyncio.gather(*parts) == list(range(len(kinds)))
            assert order == list(range(len(kinds)))

    asyncio.run(main())


async def test_light_work_runs_at_once_on_the_loop_once_it_is_known_to_be_light(pool):
    """The first time is measured in a thread."""
    lane = WorkQueue(pool, 1.0)
    assert await lane.run(LIGHT, threading.get_ident) != threading.get_ident()
    assert await lane.run(LIGHT, threading.get_ident) == threading.get_ident()


async def test_short_work_waits_for_no_long_work_of_others(pool):
    """However many large requests others have sent: those that wait for them are large too."""
    gate = threading.Event()
    with ThreadPoolExecutor(1) as long_pool:
        crowd = [WorkQueue(pool, 0.001, long_pool) for _ in range(8)]
        waiting = [asyncio.create_task(each.run((LARGE, 0), gate.wait)) for each in crowd]
        mine = WorkQueue(pool, 0.001, long_pool)
        await mine.run((DISK, 0), lambda: time.sleep(0.001))
        assert await mine.run(HEAVY, threading.get_ident) != threading.get_ident()
        assert not any(each.done() for each in waiting)
        gate.set()
        assert all(await asyncio.gather(*waiting))


async def test_work_that_grows_heavy_leaves_the_loop(pool):
    """Measured as it goes along."""
    lane = WorkQueue(pool, 0.0002)
    await lane.run(LIGHT, lambda: None)
    for _ in range(130):
        await lane.run(LIGHT, lambda: sum(range(50_000)))
    assert await lane.run(LIGHT, threading.get_ident) != threading.get_ident()


async def test_errors_reach_whoever_asked(pool):
    """And the lane goes on."""
    lane = WorkQueue(pool, 1.0)
    for _ in range(2):  # once in a thread, once on the loop
        with pytest.raises(ZeroDivisionError):
            await lane.run(LIGHT, lambda: 1 // 0)
    assert await lane.run(LIGHT, lambda: 5) == 5


async def test_other_lanes_do_not_wait(pool):
    """A lane that is stuck in heavy work does not hold up another one."""
    stuck, free, gate = WorkQueue(pool, 0.001), WorkQueue(pool, 0.001), threading.Event()
    waiting = asyncio.ensure_future(stuck.run(HEAVY, gate.wait))
    assert await free.run(HEAVY, lambda: "done") == "done"
    assert not waiting.done()
    gate.set()
    await waiting


async def test_streams_of_one_learner_share_its_slice(pool, monkeypatch):
    """However many hand over a piece in one turn of the loop, the others' turn comes when the slice is over."""
    now, done = [100.0], list[int]()
    monkeypatch.setattr("galloon.daemon.learner.work_queue.perf_counter", lambda: now[0])
    lane, other = WorkQueue(pool, 1.0), WorkQueue(pool, 1.0)
    lane._seconds[LIGHT] = other._seconds[LIGHT] = 0.0

    def work(number: int) -> None:
        done.append(number)
        now[0] += 0.6 * SLICE_S

    for number in range(4):
        lane.enter(LIGHT, lambda n=number: work(n), lambda *_: None)
    other.enter(LIGHT, lambda: done.append(-1), lambda *_: None)
    await asyncio.sleep(0)
    assert done == [0, 1, -1], "two fill the slice, then it is somebody else's turn"
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert done == [0, 1, -1, 2, 3]


async def test_rest_waits_for_all_that_was_queued(pool):
    lane, done = WorkQueue(pool, 1.0), list[int]()
    await lane.rest()  # nothing to wait for
    for number in range(3):
        lane.enter(HEAVY, lambda n=number: done.append(n), lambda *_: None)
    await lane.rest()
    assert done == [0, 1, 2]


async def test_much_is_not_measured_by_little(tmp_path):
    """A client could make a kind of work light by small requests, and stop the loop with a large one."""
    threads: list[bool] = []
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec_pb2.LearnerSpec(engines=["ann", "bob", "cy"]))
        learner = daemon.app.registry.find("test")
        choose, learn = learner._combiner.choose, learner._combiner.learn
        loop = threading.get_ident()

        def watched(work):
            def run(*args):
                threads.append(threading.get_ident() != loop)
                return work(*args)

            return run

        learner.queue._inline_s = 1.0
        await said(stream, "small", 3)
        learner._combiner.choose, learner._combiner.learn = watched(choose), watched(learn)
        await said(stream, "again", 3)
        await said(stream, "large", 1200)
        del learner._combiner.choose, learner._combiner.learn
    assert threads == [False, False, True, True]


async def said(stream, name: str, words: int) -> None:
    given = [f"w{number:x}" for number in range(words)]
    outputs = [utterance_pb2.EngineOutput(engine=engine, words=given) for engine in ("ann", "bob")]
    said = utterance_pb2.EngineOutputs(engines=outputs)
    await stream.choice(utterance_pb2.Utterance(id=name, outputs=said))
    await stream.learned(wire.Feedback(id=name, true_text=" ".join(given)))
