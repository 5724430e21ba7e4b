"""What the learner thinks of its engines without any truth: in the metrics and on the learner's page."""

import asyncio

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from galloon import Client, Spec, Utterance
from tests.daemon.serving import serving

NAME = "galloon_engine_estimated_error_ratio"
WORDS = "so far so good said the old man by the sea".split()


async def _said(folder):
    async with serving(folder) as daemon, Client(daemon.app.address) as client:
        async with client.stream("lines", create=Spec(("ann", "bob", "cy"))) as stream:
            for number in range(40):
                words = [WORDS[(number * step) % len(WORDS)] for step in (1, 3, 4, 7, 9)]
                said = {"ann": " ".join(words), "cy": " ".join(["else", *words[1:]])}
                said["bob"] = " ".join([*words[:4], "seen" if number % 4 == 0 else words[4]])
                await stream.choose(Utterance.of_texts(f"u{number}", said))
        async with aiohttp.ClientSession(f"http://{daemon.app.http_address}") as http:
            async with http.get("/metrics") as answer:
                metrics = await answer.text()
            async with http.get("/api/learner", params={"name": "lines"}) as answer:
                return metrics, (await answer.json())["statistics"]["estimates"]


def test_estimates_are_told_with_their_intervals(tmp_path):
    metrics, told = asyncio.run(_said(tmp_path))
    found = {
        (sample.name, sample.labels["engine"]): sample.value
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if sample.name.startswith(NAME)
    }
    page = {entry["engine"]: entry for entry in told}
    assert page.keys() == {"ann", "bob", "cy"}
    for engine, entry in page.items():
        assert found[NAME, engine] == pytest.approx(entry["error_rate"] / 100, abs=1e-4)
        assert found[f"{NAME}_low", engine] <= found[NAME, engine] <= found[f"{NAME}_high", engine]
    assert page["cy"]["error_rate"] > max(page[name]["error_rate"] for name in ("ann", "bob"))
