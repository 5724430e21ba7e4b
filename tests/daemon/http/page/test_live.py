"""News come to those who listen, about what has changed, and to nobody else."""

import asyncio

from galloon.daemon.http.page import live
from tests.daemon.http.page.visitor import play, until, visiting
from tests.daemon.serving import serving


async def test_a_listener_hears_of_what_changed(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 2, "one")
        await play(daemon, 1, "two")
        async with visitor.listen(learner="one") as news:
            first = await anext(news)
            assert {(brief["name"], brief["lessons"]) for brief in first["learners"]} == {
                ("one", 2),
                ("two", 1),
            }
            assert first["learner"]["point"]["lessons"] == [2]
            assert first["store"]["commits"] > 0
            await play(daemon, 3, "two", first=1)
            # Counting of errors may bring news of its own before.
            async for heard in news:
                changed = {brief["name"]: brief["lessons"] for brief in heard.get("learners", ())}
                if changed.get("two") == 4:
                    break
            await play(daemon, 1, "one", first=2)
            async for heard in news:
                if heard.get("learner", {}).get("lessons") == 3:
                    assert heard["learner"]["point"]["lessons"] == [3]
                    break


async def test_a_listener_hears_of_learners_that_are_gone(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 1, "one")
        async with visitor.listen() as news:
            await anext(news)
            await daemon.app.registry.delete("one")
            async for heard in news:
                if heard.get("gone") == ["one"]:
                    break


async def test_nothing_is_computed_for_nobody(tmp_path, monkeypatch):
    asked = []
    whole = live._Listener.news

    async def counted(listener):
        asked.append(listener.learner)
        return await whole(listener)

    monkeypatch.setattr(live._Listener, "news", counted)
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 3)
        assert asked == []
        async with visitor.listen(learner="test") as news:
            await anext(news)
        assert asked
        await until(lambda: daemon.app.page._live.listeners == 0)
        heard = len(asked)
        await play(daemon, 3, first=3)
        assert len(asked) == heard


async def test_too_many_listeners_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "MOST_LISTENERS", 1)
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 1)
        async with visitor.listen() as news:
            await anext(news)
            status, _, body = await visitor.raw("GET", "/events")
    assert status == 429
    assert b"listeners" in body


async def test_a_daemon_that_stops_lets_its_listeners_go(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 1)
        heard = asyncio.Event()

        async def listen():
            async with visitor.listen() as news:
                async for _ in news:
                    heard.set()

        listener = asyncio.create_task(listen())
        await heard.wait()
        await daemon.app._http.close()
        await listener
