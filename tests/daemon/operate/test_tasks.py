"""No background task dies in silence: it is logged, counted and started again; the daemon goes on."""

import asyncio

from structlog.testing import capture_logs

from galloon.daemon.operate import housekeeping, tasks
from galloon.daemon.operate.housekeeping import Housekeeping
from galloon.daemon.operate.tasks import Supervisor
from tests.daemon.serving import feedback, serving, utterance


async def test_work_that_fails_is_told_of_and_started_again(monkeypatch):
    monkeypatch.setattr(tasks, "PAUSE_S", 0.0)
    failed: list[str] = []
    ran, enough = 0, asyncio.Event()

    async def work() -> None:
        nonlocal ran
        ran += 1
        if ran == 3:
            enough.set()
            await asyncio.sleep(3600)
        raise ValueError("a defect")

    supervisor = Supervisor(failed.append)
    with capture_logs() as logs:
        supervisor.start("digging", work)
        await asyncio.wait_for(enough.wait(), 30)
        await supervisor.stop()
    assert failed == ["digging", "digging"]
    assert [entry["task"] for entry in logs if entry["event"] == "background task failed"] == failed


async def test_housekeeping_that_meets_a_defect_goes_on(tmp_path, monkeypatch):
    """As a text once killed it for good, without a line in the log: others' snapshots were never written again."""
    monkeypatch.setattr(tasks, "PAUSE_S", 0.0)
    monkeypatch.setattr(housekeeping, "TICK_S", 0.01)
    look, defects = Housekeeping._look_after, [ValueError("a defect")]

    async def stumbling(self, learner):
        if defects:
            raise defects.pop()
        await look(self, learner)

    monkeypatch.setattr(Housekeeping, "_look_after", stumbling)
    async with serving(tmp_path, store__snapshot_events=2) as daemon:
        stream = await daemon.open()
        await stream.choice(utterance(1))
        await stream.learned(feedback(1))
        learner = daemon.app.registry.find("test")
        async with asyncio.timeout(30):
            while learner.snapshot_time is None:  # noqa: ASYNC110  # housekeeping tells nobody
                await asyncio.sleep(0.01)
        assert not defects
        assert daemon.app.metrics.task_failures["housekeeping"]._value.get() == 1
