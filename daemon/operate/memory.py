"""The C library's memory, set up for a long life: `start_without_caches` and `settle_allocator`, called before any
thread is started, and `give_back`, now and then.

glibc raises by itself the size from which memory is mapped apart and given back when it is freed, up to 32 MB.
Large batches and snapshots then lie between what stays, and a daemon that is flooded now and then keeps a little
more each time. With a fixed size, and few heaps for all threads, what lay free after each of 25 floods stayed
at 9 to 17 MB; it rose from 26 to 34 MB otherwise. What lies free in whole pages is given back.

glibc also keeps free pieces for each thread, and whole pages because of them. gRPC has many threads: over 24
floods memory crept up by 2.4 MB, and stayed where it was without these caches.
"""

import ctypes
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

TUNABLES, CACHES = "GLIBC_TUNABLES", "glibc.malloc.tcache_count"
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # as in malloc.h
MAPPED_BYTES = 1 << 20  # what is as large as this lies apart, and goes as a whole
SETTINGS = {
    "MALLOC_TRIM_THRESHOLD_": (TRIM_THRESHOLD, 1 << 20),
    "MALLOC_MMAP_THRESHOLD_": (MMAP_THRESHOLD, MAPPED_BYTES),
    "MALLOC_ARENA_MAX": (ARENA_MAX, 2),
}


def start_without_caches() -> None:
    """Become the same command again, in an environment that turns the threads' caches off.

    glibc looks there before a program begins, and nowhere later.
    """
    environment = without_caches(os.environ)
    if environment is not None and _is_command():
        with suppress(OSError):  # it serves as well with caches, and holds a little more memory
            os.execve(sys.executable, sys.orig_argv, environment)  # noqa: S606  # itself


def without_caches(environment: Mapping[str, str]) -> dict[str, str] | None:
    """The environment to start in; None where it says something about the caches already."""
    known = environment.get(TUNABLES, "")
    if CACHES in known:
        return None
    return {**environment, TUNABLES: ":".join(filter(None, (known, f"{CACHES}=0")))}


def _is_command() -> bool:
    """Whether this process is `galloon` and nothing else, such as a test that calls it."""
    program = Path(sys.argv[0])
    return program.name == "galloon" or program.parts[-2:] == ("galloon", "__main__.py")


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
