"""A daemon of one's own: there when needed, gone afterwards, and its log at hand when it fails."""

import sys
from pathlib import Path

import pytest

from galloon.clients.api.blocking import BlockingClient
from galloon.clients.api.client import Client
from galloon.clients.api.errors import Unreachable
from galloon.clients.commands import local_daemon as module
from galloon.clients.commands.local_daemon import OPTIONS, local_daemon
from tests.clients.samples import BIGRAMS, aligned


def test_it_serves_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Settings meant for another daemon do not reach it."""
    monkeypatch.setattr(module, "IN_MEMORY", tmp_path)
    monkeypatch.setenv("GALLOON_AUTH_TOKENS", "/nowhere")
    with local_daemon() as daemon:
        with BlockingClient(daemon.address) as client, client.stream("x", create=BIGRAMS) as stream:
            assert stream.choose(aligned("u1")).round == 0
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_one_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho the disk is on fire >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with (
        pytest.raises(Unreachable, match=r"status 3; its log ends:\n  the disk is on fire"),
        local_daemon() as daemon,
    ):
        assert daemon.address


async def test_one_that_dies_fails_the_work_with_its_log():
    async def work() -> None:
        with local_daemon() as daemon:
            async with Client(daemon.address, options=OPTIONS) as client:
                async with client.stream("x", create=BIGRAMS) as stream:
                    await stream.choose(aligned("u1"))
                    daemon._process.kill()
                    await stream.choose(aligned("u2"))

    with pytest.raises(Unreachable, match=r"(?s)its log ends:\n.*serving"):
        await work()
