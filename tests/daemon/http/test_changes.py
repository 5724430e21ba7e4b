"""An engine whose errors change is said by the daemon: in its metrics, on the learner's page, in the log."""

import asyncio

import aiohttp
from structlog.testing import capture_logs

from galloon import Client, Spec, TrueText, Utterance
from tests.daemon.serving import serving

LINES = 120
WORDS = "so far so good said the old man by the sea".split()


async def _said(folder):
    async with serving(folder) as daemon, Client(daemon.app.address) as client:
        async with client.stream("lines", create=Spec(("ann", "bob", "cy"))) as stream:
            for number in range(LINES):
                true = " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 3, 4, 7, 9))
                said = dict.fromkeys(("ann", "bob", "cy"), true)
                said["ann"] = true if number < LINES // 2 else "nothing of this kind at all"
                await stream.choose(Utterance.of_texts(f"u{number}", said))
                await stream.learn(f"u{number}", TrueText(true))
        async with aiohttp.ClientSession(f"http://{daemon.app.http_address}") as http:
            async with http.get("/metrics") as answer:
                metrics = await answer.text()
            async with http.get("/api/learner", params={"name": "lines"}) as answer:
                return metrics, (await answer.json())["statistics"]["changes"]


def test_a_change_is_said_everywhere(tmp_path):
    """Only of the engine that changed."""
    with capture_logs() as logs:
        metrics, (change,) = asyncio.run(_said(tmp_path))
    assert '\ngalloon_engine_changes_total{engine="ann",learner="lines"} 1.0' in metrics
    assert 'galloon_engine_changes_total{engine="bob"' not in metrics
    assert change["engine"] == "ann"
    assert LINES // 2 < change["last_lesson"] < LINES
    (said,) = [entry for entry in logs if entry["event"] == "errors of an engine changed"]
    assert (said["engine"], said["learner"]) == ("ann", "lines")
