"""The allocator's settings are taken where the C library has them, and free pages are given back."""

import subprocess
import sys
from pathlib import Path

from galloon.daemon.operate.memory import without_caches
from tests.daemon_process import running_daemon

PROGRAM = """
import ctypes, os
from galloon.daemon.operate.memory import settle_allocator
if os.confstr("CS_GNU_LIBC_VERSION"):
    assert settle_allocator()
    # Freed memory above the fixed threshold is mapped apart each time: the threshold does not follow it up.
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    for _ in range(3):
        block = libc.malloc(1 << 22)
        maps = open("/proc/self/maps").read().splitlines()
        spans = [[int(end, 16) for end in line.split()[0].split("-")] + [line] for line in maps]
        line = next(line for start, end, line in spans if start <= block < end)
        assert "[heap]" not in line, line
        libc.free(block)
"""


def test_large_blocks_stay_out_of_the_heap():
    """Also the second time, when glibc by itself would have raised its threshold."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)


SCATTERED = """
import ctypes, os
from pathlib import Path
from galloon.daemon.operate.memory import give_back
def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
if os.confstr("CS_GNU_LIBC_VERSION"):
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    blocks = [libc.malloc(50_000) for _ in range(1000)]
    for block in blocks:
        ctypes.memset(block, 1, 50_000)
    for block in blocks[:-1]:  # the last one keeps the heap from shrinking by itself
        libc.free(block)
    before = resident_mb()
    give_back()
    assert resident_mb() < before - 30, (before, resident_mb())
"""


def test_free_pages_are_given_back():
    subprocess.run([sys.executable, "-c", SCATTERED], check=True, timeout=60)


def test_the_operators_word_on_caches_stays():
    """What else was tuned stays too; what is settled is left alone, or the daemon would start for ever."""
    assert without_caches({"A": "b"}) == {"A": "b", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    other = {"GLIBC_TUNABLES": "glibc.malloc.perturb=1"}
    assert without_caches(other) == {"GLIBC_TUNABLES": "glibc.malloc.perturb=1:glibc.malloc.tcache_count=0"}
    assert without_caches({"GLIBC_TUNABLES": "glibc.malloc.tcache_count=7"}) is None


def test_a_daemon_runs_without_caches_in_the_process_that_was_started(tmp_path):
    with running_daemon(tmp_path) as daemon:
        environment = Path(f"/proc/{daemon.pid}/environ").read_bytes().split(b"\0")
        assert b"GLIBC_TUNABLES=glibc.malloc.tcache_count=0" in environment


def test_a_configuration_that_can_be_read_once_is_read_once(tmp_path):
    """As from a shell's `<(...)`: what it says is still known to the command that goes on."""
    command = [sys.executable, "-m", "galloon", "serve", "--config", "/dev/stdin"]
    command += ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data-dir", str(tmp_path / "data")]
    tokens = '[auth]\ntokens = "/none"\n'  # well written, and found out only later
    done = subprocess.run(command, input=tokens, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "/none: cannot be read as a file of tokens" in done.stderr
