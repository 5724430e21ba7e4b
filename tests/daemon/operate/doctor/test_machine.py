"""The machine: a control group counts for more than the host, and clocks must run."""

import sys

import pytest

from galloon.daemon.operate.doctor.finding import Verdict
from galloon.daemon.operate.doctor.machine import (
    check_clock,
    check_machine,
    check_memory,
    check_processor,
    check_python,
)

GIB = 2**30


@pytest.fixture
def root(tmp_path):
    """A machine with 8 GiB, as its files describe it."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 9999999 kB\nMemAvailable: {8 * GIB // 1024} kB\n")
    (tmp_path / "proc/cpuinfo").write_text("processor : 0\nflags : fpu sse4_2 avx2\n")
    return tmp_path


def test_this_machine_is_good_enough_to_run_the_tests():
    verdicts = {finding.area: finding.verdict for finding in check_machine()}
    assert verdicts.keys() == {"python", "processor", "memory", "clock"}
    assert Verdict.BAD not in verdicts.values()


@pytest.mark.parametrize(
    ("limit", "used", "verdict"),
    [
        ("max", 0, Verdict.GOOD),
        (str(2 * GIB), GIB, Verdict.GOOD),
        (str(2 * GIB), 2 * GIB - 400 * 2**20, Verdict.DOUBTFUL),
        (str(2 * GIB), 2 * GIB - 100 * 2**20, Verdict.BAD),
    ],
)
def test_memory_is_what_the_control_group_leaves(root, limit, used, verdict):
    (root / "sys/fs/cgroup/memory.max").write_text(f"{limit}\n")
    (root / "sys/fs/cgroup/memory.current").write_text(f"{used}\n")
    assert check_memory(root).verdict is verdict


def test_a_fraction_of_a_core_is_too_little(root):
    assert check_processor(root).verdict is Verdict.GOOD
    assert "sse4_2/avx2" in check_processor(root).what
    (root / "sys/fs/cgroup/cpu.max").write_text("50000 100000\n")
    found = check_processor(root)
    assert found.verdict is Verdict.DOUBTFUL
    assert "0.5 cores" in found.what


def test_old_and_small_pythons_are_refused():
    assert check_python((3, 10), sys.maxsize).verdict is Verdict.BAD
    assert check_python((3, 12), 2**31 - 1).verdict is Verdict.BAD
    assert check_python((3, 12), sys.maxsize).verdict is Verdict.GOOD


@pytest.mark.parametrize(
    ("monotonic", "wall", "verdict"),
    [
        ([10.0, 10.25], [2e9, 2e9 + 0.25], Verdict.GOOD),
        ([10.0, 10.25], [2e9, 2e9 + 60], Verdict.DOUBTFUL),
        ([10.0, 10.25], [2e9, 2e9 - 60], Verdict.DOUBTFUL),
        ([10.0, 10.0], [2e9, 2e9 + 0.25], Verdict.BAD),
        ([10.0, 10.25], [1000.0, 1000.25], Verdict.BAD),
    ],
)
def test_clocks_must_run_together_and_be_set(monotonic, wall, verdict):
    fast, slow = iter(monotonic), iter([*wall, wall[-1], wall[-1]])
    assert check_clock(lambda: next(fast), lambda: next(slow), lambda _: None).verdict is verdict
