"""The allocator's settings are taken where the C library has them."""

import subprocess
import sys

PROGRAM = """
import ctypes, os
from galloon.daemon.allocator import settle_allocator
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
