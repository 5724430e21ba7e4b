"""A daemon that watches itself: `python -m tests.abuse.watched FILE python -m galloon serve ...`.

Into FILE it writes two numbers, in seconds of the processor, which whoever reads may set back to 0: the longest
turn of the event loop, during which no other client's message is looked at; and the most that the process worked
between two moments at which a thread that asks for the interpreter lock again and again got it. Processor time:
what a busy machine takes does not count. Where the machine lets the watching thread wait although the lock is free
the second figure is too large. A turn that is longer than `TOLD_S` is told on standard error.
"""

import mmap
import runpy
import struct
import sys
import threading
import time
from asyncio import events
from pathlib import Path

TURN, LOCK = 0, 8  # places of the numbers
NUMBER = struct.Struct("<d")
TOLD_S = 0.02


class Figures:
    """The two numbers, in a file that both processes see."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(16))
        with path.open("r+b") as file:
            self._bytes = mmap.mmap(file.fileno(), 16)

    def raise_to(self, place: int, seconds: float) -> bool:
        if seconds <= self.read(place):
            return False
        NUMBER.pack_into(self._bytes, place, seconds)
        return True

    def read(self, place: int) -> float:
        seconds: float = NUMBER.unpack_from(self._bytes, place)[0]
        return seconds

    def clear(self) -> None:
        self._bytes[:] = bytes(16)


def _watch_lock(figures: Figures) -> None:
    last = time.process_time()
    while True:
        time.sleep(0.0005)  # gives the lock up, and asks for it again
        now = time.process_time()
        figures.raise_to(LOCK, now - last)
        last = now


def _watch_turns(figures: Figures) -> None:
    plain = events.Handle._run

    def run(handle: events.Handle) -> None:
        started = time.thread_time()
        plain(handle)
        took = time.thread_time() - started
        if figures.raise_to(TURN, took) and took > TOLD_S:
            print(f"a turn of {took * 1000:.0f} ms: {handle!r}"[:300], file=sys.stderr, flush=True)

    events.Handle._run = run  # type: ignore[method-assign]  # in this process alone


def main() -> None:
    figures = Figures(Path(sys.argv[1]))
    threading.Thread(target=_watch_lock, args=(figures,), daemon=True).start()
    _watch_turns(figures)
    sys.argv = sys.argv[sys.argv.index("galloon") :]
    runpy.run_module("galloon", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
