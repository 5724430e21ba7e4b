"""Kernels on a read-only disk: found there, never written there, and a missing one is compiled and told."""

import os
import subprocess
import sys

import pytest

KERNEL = """
from numba import njit

@njit(cache=True)
def twice(x):
    return x + x
"""
CALL = """
import kernel
print(kernel.twice({value!r}), sum(kernel.twice.stats.cache_hits.values()))
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    (tmp_path / "cache").mkdir()

    def call(value, sealed=True):
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        if sealed:
            name = "galloon.learners.kernels._sealed_cache.SealedCache"
            environment["NUMBA_CACHE_LOCATOR_CLASSES"] = name
        command = [sys.executable, "-c", CALL.format(value=value)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return call


def test_what_was_compiled_is_loaded_and_the_rest_stays_in_memory(run, tmp_path):
    assert run(3, sealed=False).stdout == "6 0\n"
    before = {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert len(before) == 2
    found = run(4)
    assert (found.stdout, found.stderr) == ("8 1\n", "")
    other = run(1.5)
    assert other.stdout == "3.0 0\n"
    assert "kernel compiled at run time" in other.stderr
    after = {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert after == before


def test_a_cache_that_is_not_there_is_no_cache(run):
    """Better not to start than to compile everything at each start."""
    done = run(3)
    assert done.returncode == 1
    assert "no locator available" in done.stderr
