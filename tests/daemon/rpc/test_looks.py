"""Looks in threads: a few of each principal, also when whoever asked has gone."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from galloon.daemon.rpc.looks import AT_ONCE, THREADS, Looks


async def test_one_principal_leaves_threads_for_others_however_often_it_asks_and_leaves():
    gate = threading.Event()
    with ThreadPoolExecutor(THREADS) as pool:
        looks = Looks(pool)
        for _ in range(3):
            left = [asyncio.create_task(looks.look("many", gate.wait)) for _ in range(50)]
            await asyncio.sleep(0.01)
            for each in left:
                each.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        waiting = [asyncio.create_task(looks.look("many", gate.wait)) for _ in range(AT_ONCE)]
        assert await looks.look("other", lambda: 1) == 1
        gate.set()
        assert all(await asyncio.gather(*waiting)), "their places are free again"
