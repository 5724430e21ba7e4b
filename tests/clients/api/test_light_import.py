"""A client install stays light: no compiler, no OpenFst, no server library is imported by the clients."""

import subprocess
import sys

import pytest

HEAVY = ("numba", "llvmlite", "pynini", "pywrapfst", "aiohttp", "prometheus_client", "matplotlib", "scipy")


@pytest.mark.parametrize(
    "module",
    [
        *(
            "client",
            "blocking",
            "learners_command",
            "explain_command",
            "convert",
            "top",
            "examples.asynchronous",
            "examples.blocking",
        ),
        *("replay.command", "score", "combine"),  # whose answer to a wrong option comes at once
    ],
)
def test_importing_it_pulls_in_nothing_heavy(module: str):
    code = f"import sys, galloon.clients.{module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded.intersection(HEAVY)
    assert not any(name.startswith("galloon.daemon") for name in loaded)
