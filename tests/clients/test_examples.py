"""The examples run, as their docstrings say, against a real daemon."""

import subprocess
import sys

import pytest

from tests.daemon_process import Daemon


@pytest.mark.parametrize(
    ("module", "lines"), [("asynchronous", 20), ("blocking", 51)], ids=["asynchronous", "blocking"]
)
def test_an_example_runs(daemon: Daemon, module: str, lines: int):
    command = [sys.executable, "-m", f"galloon.clients.examples.{module}", daemon.address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == lines
