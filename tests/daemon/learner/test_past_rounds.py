"""Pages of a history against all of it: whatever the page, the direction, the filter, and where retention cut."""

import asyncio
from functools import partial

import pytest

from galloon.daemon.learner.history import History
from galloon.daemon.learner.past_rounds import Wanted, by_ids, page
from galloon.daemon.learner.round import Status
from galloon.daemon.store.protocol import Forget
from tests.daemon.serving import feedback, serving, utterance

ROUNDS, TAUGHT = 23, range(1, 23, 4)


async def _played(folder, cut: bool):
    """A learner with rounds of whom some are taught; with `cut` after the store has forgotten the first ones."""
    async with serving(folder) as daemon:
        stream = await daemon.open()
        for number in range(ROUNDS):
            await stream.choice(utterance(number))
            if number == ROUNDS // 2 and cut:
                learner = daemon.app.registry.find("test")
                await learner.snapshot()
        for number in TAUGHT:
            await stream.learned(feedback(number))
        learner = daemon.app.registry.find("test")
        await learner.written()
        if cut:
            await learner._journal.transact(Forget(learner.key, learner.snapshot_seq))
        await asyncio.to_thread(_compare, learner.recorded(), learner.seq, cut)


def _compare(history: History, last: int, cut: bool) -> None:
    known = (
        {f"u{number}" for number in range(ROUNDS)}
        if not cut
        else {f"u{number}" for number in range(ROUNDS) if number > ROUNDS // 2 or number in TAUGHT}
    )
    taught = {f"u{number}" for number in TAUGHT}
    for wanted, expected in (
        (Wanted(), known),
        (Wanted(frozenset([Status.LEARNED])), taught),
        (Wanted(frozenset([Status.PENDING])), known - taught),
        (Wanted(since=4e9), set()),
        (Wanted(until=1.0), set()),
    ):
        orders = []
        for newest_first in (False, True):
            for most in (1, 3, 100):
                found, place = [], None
                while True:
                    got = page(history, wanted, place, most, last, newest_first)
                    assert len(got.rounds) <= most
                    found += [round_.id for round_ in got.rounds]
                    place = got.place
                    if place is None:
                        break
                assert len(found) == len(set(found))
                assert set(found) == expected
                orders.append(found if not newest_first else found[::-1])
        assert all(order == orders[0] for order in orders)
    found = by_ids(history, ["u5", "never", "u1"], Wanted())
    rounds, unknown = found.rounds, list(found.unknown)
    assert [round_.id for round_ in rounds] == ["u5", "u1"]
    assert unknown == ["never"]
    assert all(round_.status is Status.LEARNED and round_.truth and round_.utterance for round_ in rounds)


@pytest.mark.parametrize("cut", [False, True])
def test_pages_hold_every_round_once(tmp_path, cut):
    asyncio.run(_played(tmp_path, cut))


async def test_a_place_that_a_client_made_up_is_looked_for_no_longer_than_others(tmp_path):
    """Far beyond the end of the history: a thread would go back to it for ever."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        for number in range(3):
            await stream.choice(utterance(number))
        learner = daemon.app.registry.find("test")
        await learner.written()
        look = partial(page, learner.recorded(), Wanted(), 10**18 - 1, 100, learner.seq, newest_first=True)
        found = await asyncio.to_thread(look)
        assert [round_.id for round_ in found.rounds] == ["u2", "u1", "u0"]
