"""A client install stays light: no compiler, no OpenFst, no server library is imported by the clients."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "llvmlite", "pynini", "pywrapfst", "aiohttp", "prometheus_client", "matplotlib", "scipy")


@pytest.mark.parametrize(
    "module",
    [
        *("api.client", "api.blocking", "examples.asynchronous", "examples.blocking"),
        *("commands.learners", "commands.explain", "commands.convert", "commands.top"),
        # Commands whose answer to a wrong option must come at once.
        *("commands.replay", "commands.score", "commands.combine"),
    ],
)
def test_importing_it_pulls_in_nothing_heavy(module: str):
    code = f"import sys, galloon.clients.{module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded.intersection(HEAVY)
    assert not any(name.startswith("galloon.daemon") for name in loaded)
