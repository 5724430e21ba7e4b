"""A learner's state made again from its history: as if some feedback had been other, or had never been.

`Plan` says what is played. It is played in a process of its own (`replaying`), so that the daemon goes on serving;
`Player` is this side of it. On its standard input: the plan as a line of JSON, the base state, then entries; on
its output a line of JSON and the state.
"""

import json
import struct
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from galloon.daemon.errors import DaemonError
from galloon.daemon.learner.events import Amended, Event
from galloon.daemon.store.compression import PACKED
from galloon.daemon.store.protocol import StoredEntry

ENTRY = struct.Struct("<QIqI")  # seq, kind, key, bytes of the body


class RebuildFailed(DaemonError):
    """The history could not be played again; the present state stays."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is played: the spec, from which entry on, without which rounds' feedback, up to when."""

    name: str
    spec: str
    limits: dict[str, Any]
    base: int = 0
    without: tuple[str, ...] = ()  # ids whose feedback is left out
    erased: tuple[str, ...] = ()  # ids whose rounds are left out altogether
    until: float | None = None  # seconds of Unix; later feedback is left out


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The state after all entries up to `seq`, and what it took."""

    seq: int
    state: bytes
    lessons: int
    rounds: int
    seconds: float  # of the processor


def is_amendment(entry: StoredEntry) -> bool:
    return entry.kind & ~PACKED == Amended.kind


def amendments(events: Iterable[Event | None]) -> dict[str, bytes]:
    """What takes the place of the first feedback of each amended round; empty where it was withdrawn."""
    return {event.id: event.feedback for event in events if isinstance(event, Amended)}


class Player:
    """A process that plays a history: `feed` it entries, then `finish` for what came of them."""

    def __init__(self, plan: Plan, base: bytes, amended: dict[str, bytes]) -> None:
        command = [sys.executable, "-m", "galloon.daemon.learner.replaying"]
        self._process = subprocess.Popen(  # noqa: S603  # ourselves
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.seq = plan.base
        head = {
            **asdict(plan),
            "base_bytes": len(base),
            "amended": {id_: text.hex() for id_, text in amended.items()},
        }
        self._write(json.dumps(head).encode() + b"\n" + base)

    def feed(self, entries: Iterable[StoredEntry]) -> int:
        """Send entries; returns how many."""
        count = 0
        for entry in entries:
            head = ENTRY.pack(entry.seq, entry.kind, entry.key, len(entry.body))
            self._write(head + entry.body)
            self.seq, count = max(self.seq, entry.seq), count + 1
        return count

    def finish(self) -> Rebuilt:
        """No more entries come: the state."""
        output, words = self._process.communicate()
        line, _, state = output.partition(b"\n")
        if self._process.returncode or not line:
            raise RebuildFailed(_why(words))
        return Rebuilt(state=state, **json.loads(line))

    def stop(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.communicate()

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
        except OSError as error:
            words = self._process.communicate()[1]
            raise RebuildFailed(_why(words)) from error


def _why(words: bytes) -> str:
    last = words.decode(errors="replace").strip().splitlines()[-1:] or ["its process ended without a word"]
    return f"the history could not be played again: {last[0]}"
