"""`galloon top`: rendered once as text, as JSON, on narrow terminals, and while the daemon is away."""

import asyncio
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from galloon.__main__ import main
from galloon.clients.api.client import Client
from galloon.clients.api.connection import Backoff
from galloon.clients.api.stream import StreamOptions
from galloon.clients.top.status import Followed, Latency, Status, Watcher
from galloon.clients.top.view import view
from galloon.codec.learner import ErrorRate, LearnerInfo, Statistics
from galloon.learners.combiners.contract import TrueTokens
from tests.clients.samples import BIGRAMS, TRUTH, aligned
from tests.daemon_process import Daemon, running_daemon


def rendered(status: Status, width: int, encoding: str = "utf-8") -> str:
    output = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=output, width=width, color_system=None)
    console.print(view(status, console))
    output.seek(0)
    return output.read()


def followed(name: str = "asr", **changes) -> Followed:
    figures = {
        "rounds_started": 1200, "lessons": 1000, "rounds_pending": 200, "rounds_expired": 0, "gain": 2500.0,
        "regret": 30.0, "regret_estimate": None, "bound": 120.0, "guarantee": "", "expert_states": 9,
        "expert_transitions": 24,
        "context_states": 20, "context_transitions": 63, "state_bytes": 504, "journal_entries": 12,
        "snapshot_bytes": 0, "snapshot_age_s": None, "streams": 3, "extra": {},
        "error_rates": {"galloon": ErrorRate(5, 100, 9, 500), "a": ErrorRate(8, 100, 9, 500)},
    }  # fmt: skip
    seen = Followed(LearnerInfo(name, BIGRAMS, BIGRAMS.engines))
    seen.take(Statistics(**{**figures, "rounds_started": 1000, "lessons": 900}), 10.0)
    seen.take(Statistics(**{**figures, **changes}), 12.0)
    return seen


def test_everything_on_a_wide_terminal():
    status = Status("127.0.0.1:7410", (followed(),), 1, {"choose": Latency(0.0004, 0.002)})
    text = rendered(status, 240)
    for part in ("1 learners", "3 streams", "100 rounds/s", "50 lessons/s", "choose 0.40 (p99 2.00) ms"):
        assert part in text, text
    for cell in (
        "asr",
        "expanded_hedge",
        "1,200",
        "2.500",
        "30.0",
        "120.0",
        "##......   25%",
        "5.00",
        "8.00 a",
        "█",
    ):
        assert cell in text, text


@pytest.mark.parametrize("width", [40, 60, 80, 100, 132])
def test_a_narrow_terminal_drops_columns_and_wraps_no_row(width: int):
    text = rendered(Status("127.0.0.1:7410", (followed(),), 1, {}), width)
    rows = [line for line in text.splitlines() if line.startswith("asr")]
    assert len(rows) == 1
    assert len(rows[0]) <= width
    assert "1,200" in rows[0]


def test_a_terminal_without_blocks_gets_none():
    text = rendered(Status("127.0.0.1:7410", (followed(),), 1, {}), 240, "ascii")
    assert "asr" in text
    assert "trend" not in text


def test_what_is_not_known_is_not_shown_as_zero():
    unknown = followed(regret=None, regret_estimate=7.5, bound=None, error_rates={})
    row = next(line for line in rendered(Status("x:1", (unknown,), 1, {}), 240).splitlines() if "asr" in line)
    assert "~7.5" in row
    assert "%" not in row
    nothing = Followed(LearnerInfo("new", BIGRAMS, BIGRAMS.engines))
    assert "new" in rendered(Status("x:1", (nothing,), 1, {}), 120)


def test_more_learners_than_are_watched_are_counted():
    assert "and 41 more" in rendered(Status("x:1", (followed(),), 42, {}), 120)
    assert "galloon learners create" in rendered(Status("x:1", (), 0, {}), 120)


def test_a_count_that_fell_after_a_crash_is_no_negative_rate():
    seen = followed()
    seen.take(Statistics(**{**_fields(seen), "rounds_started": 5, "lessons": 1}), 14.0)
    assert (seen.rounds_rates[-1], seen.lessons_rate) == (0.0, 0.0)


def _fields(seen: Followed) -> dict:
    assert seen.statistics is not None
    return {name: getattr(seen.statistics, name) for name in Statistics.__dataclass_fields__}


async def test_one_look_at_a_real_daemon(daemon: Daemon, client: Client, name: str):
    """Rounds, gain and regret come over the wire, latencies from the metrics page."""
    async with client.stream(name, create=BIGRAMS) as stream:
        for i in range(20):
            await stream.choose(aligned(f"u{i}"))
            await stream.learn(f"u{i}", TrueTokens(TRUTH))
    arguments = ["top", "--server", daemon.address, "--metrics", f"http://{daemon.http_address}/metrics"]
    arguments += ["--once", "--interval", "0.3", "--prefix", name]
    plain = await asyncio.to_thread(CliRunner().invoke, main, arguments, env={"COLUMNS": "200"})
    assert plain.exit_code == 0, plain.output
    assert name[:25] in plain.stdout  # long names are cut
    assert "choose" in plain.stdout
    told = await asyncio.to_thread(CliRunner().invoke, main, [*arguments, "--json"])
    found = json.loads(told.stdout)
    assert [learner["name"] for learner in found["learners"]] == [name]
    assert found["learners"][0]["statistics"]["lessons"] == 20
    assert found["latencies"]["choose"]["p99_s"] >= found["latencies"]["choose"]["p50_s"] > 0


def test_wrong_usage_ends_with_2(daemon: Daemon):
    result = CliRunner().invoke(main, ["top", "--once", "--server", daemon.address, "--metrics", "ftp://x"])
    assert (result.exit_code, "http://host:port/metrics" in result.stderr) == (2, True)


async def test_a_daemon_that_goes_away_is_waited_for(tmp_path: Path):
    """The last figures stay, the view says what is wrong, and it recovers with the daemon."""
    quick = StreamOptions(timeout_s=0.5, backoff=Backoff(first_s=0.05, longest_s=0.1))
    with running_daemon(tmp_path) as daemon:
        async with Client(daemon.address, options=quick) as client:
            await client.create_learner("x", BIGRAMS)
            watcher = Watcher(client, prefix="", most=5, interval_s=0.1, metrics_url=None)
            async with watcher:
                await _until(lambda: watcher.status().learners[0].statistics is not None)
                daemon.kill()
                await _until(lambda: watcher.status().problem)
                assert "no news" in rendered(watcher.status(), 120)
                assert watcher.status().learners[0].info.name == "x"
                await asyncio.to_thread(daemon.start)
                await _until(lambda: not watcher.status().problem)


async def _until(condition) -> None:
    for _ in range(6000):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen")
