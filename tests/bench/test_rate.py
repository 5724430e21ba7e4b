"""The rate's bench on a small scale: both servers answer all of the load, and the parts of a profile add up."""

import asyncio
import cProfile
from pathlib import Path

import pytest

from bench import crowd, pages, rate
from bench.load import put_load
from bench.profiles import breakdown
from bench.servers import daemon, echo_server
from bench.work import DEFAULT, SPEC, rounds


def test_echo_and_daemon_take_the_same_load(tmp_path: Path):
    with echo_server(tmp_path) as echo, daemon(tmp_path) as served:
        for server in (echo, served):
            work = [rounds(f"s{stream}", 5) for stream in range(3)]
            taken = asyncio.run(put_load(server.address, ["small"] * 3, work, window=2))
            assert (len(taken.choose_s), len(taken.learn_s)) == (15, 15)
            assert taken.messages_per_s > 0
            assert server.cpu_s() > 0
            assert server.memory_bytes() > 10_000_000


def test_the_default_learner_takes_plain_texts(tmp_path: Path):
    with daemon(tmp_path) as served:
        work = [rounds(f"s{stream}", 5, plain_text=True) for stream in range(3)]
        taken = asyncio.run(put_load(served.address, ["texts"] * 3, work, 2, DEFAULT))
    assert (len(taken.choose_s), len(taken.learn_s)) == (15, 15)


def test_pages_take_the_load_of_single_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for number, value in {"STREAMS": 2, "ROUNDS": 8, "PAGE": 4, "TURNS": 1, "IN_TURN_ROUNDS": 8}.items():
        monkeypatch.setattr(pages, number, value)
    with echo_server(tmp_path) as echo, daemon(tmp_path) as served:
        for spec in (SPEC, DEFAULT):
            assert pages._compared(echo, served, spec)["pages_over_single"] > 0
            assert pages._shipped(served, spec)["pages_over_single"] > 0
        assert pages._in_turn(served)["pages_over_single"] > 0


def test_a_small_crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(crowd, "CROWD", 20)
    with daemon(tmp_path) as served:
        figures = asyncio.run(crowd._crowd(served))
    assert (figures["learners"], figures["lessons"], figures["errors"]) == (20, 20, 0)


def test_quantiles_are_values_that_occurred():
    assert rate.quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert rate.quantile([1.0], 0.99) == 1.0


def test_parts_of_a_profile_add_up_to_one(tmp_path: Path):
    for name, count in (("idle", 1), ("loaded", 50)):
        profile = cProfile.Profile()
        profile.runcall(rounds, "x", count)
        profile.dump_stats(tmp_path / name)
    parts = breakdown(tmp_path / "loaded", tmp_path / "idle")
    assert sum(parts.values()) == pytest.approx(1.0)
    assert "messages of the wire" in parts
