"""The C library's memory, set up for a long life: `settle_allocator` is called before any thread is started,
`give_back` now and then.

glibc raises by itself the size from which memory is mapped apart and given back when it is freed, up to 32 MB.
Large batches and snapshots then lie between what stays, and a daemon that is flooded now and then keeps a little
more each time. With a fixed size, and few heaps for all threads, what lay free after each of 25 floods stayed
at 9 to 17 MB; it rose from 26 to 34 MB otherwise. What lies free in whole pages is given back.
"""

import ctypes
import os

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # as in malloc.h
SETTINGS = {
    "MALLOC_TRIM_THRESHOLD_": (TRIM_THRESHOLD, 1 << 20),
    "MALLOC_MMAP_THRESHOLD_": (MMAP_THRESHOLD, 1 << 20),
    "MALLOC_ARENA_MAX": (ARENA_MAX, 2),
}


def settle_allocator() -> bool:
    """Whether the C library has these settings; those that the operator made by variables stay."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    taken = [mallopt(*setting) for variable, setting in SETTINGS.items() if variable not in os.environ]
    return all(taken)


def give_back() -> None:
    """Hand whole pages that lie free back to the system; without the interpreter lock."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
