"""The allocator's settings are taken where the C library has them, and free pages are given back."""

import subprocess
import sys

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
