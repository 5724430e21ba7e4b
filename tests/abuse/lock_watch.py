"""How long work holds the interpreter lock at a time: what every other client waits for, whatever its own work is.

`longest_hold` runs work in a thread while this one asks for the lock again and again, and gives the most processor
time that the worker got between two answers. Processor time, not seconds: what a busy machine takes from both does
not count. Where the machine lets this thread wait although the lock is free, the figure is too large, so the least
of a few runs is the one to believe.
"""

import threading
import time
from collections.abc import Callable


def longest_hold(make: Callable[[], Callable[[], object]], runs: int = 3) -> float:
    """The seconds of the least of some runs; `make` gives the work of each."""
    return min(_watched(make()) for _ in range(runs))


def _watched(work: Callable[[], object]) -> float:
    failed: list[BaseException] = []
    looked, done, seen = threading.Event(), threading.Event(), threading.Event()

    def run() -> None:
        looked.wait()
        try:
            work()
        except BaseException as error:  # told to whoever watches
            failed.append(error)
        done.set()
        seen.wait()  # its clock must be there for the last look

    worker = threading.Thread(target=run)
    worker.start()
    assert worker.ident is not None
    clock = time.pthread_getcpuclockid(worker.ident)
    longest, last = 0.0, time.clock_gettime(clock)
    looked.set()
    over = False
    while not over:
        over = done.wait(0.0005)  # gives the lock up, and asks for it again
        now = time.clock_gettime(clock)
        longest, last = max(longest, now - last), now
    seen.set()
    worker.join()
    if failed:
        raise failed[0]
    return longest
