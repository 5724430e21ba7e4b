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
from galloon.daemon.learner.events import Amended, Taught, TaughtAtOnce, from_entry
from galloon.daemon.store.compression import PACKED
from galloon.daemon.store.protocol import StoredEntry

PING = 2**32 - 1  # the kind of an entry that is answered with a byte
ENTRY = struct.Struct("<QIqI")  # seq, kind, key, bytes of the body


class RebuildFailed(DaemonError):
    """The history could not be played again; the present state stays."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is played: the spec, and from which entry on."""

    name: str
    spec: str
    limits: dict[str, Any]
    base: int = 0
    memories_since: int = 0  # rounds of lower numbers were chosen by another spec
    erased: tuple[str, ...] = ()  # ids of rounds that are left out as if they had never been


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The state after all entries up to `seq`, and what it took."""

    seq: int
    state: bytes
    lessons: int
    rounds: int
    seconds: float  # of the processor
    lost: int = 0  # lessons that this spec cannot learn
    erased: int = 0  # rounds that were left out


def amendments(entries: Iterable[StoredEntry]) -> dict[int, bytes]:
    """What takes the place of feedback, by the seq of its entry; empty where it was withdrawn."""
    taught: dict[str, int] = {}
    amended: dict[int, bytes] = {}
    for entry in entries:
        if entry.kind & ~PACKED not in (Taught.kind, TaughtAtOnce.kind, Amended.kind):
            continue
        match from_entry(entry):
            case Taught(id_):
                taught[id_] = entry.seq
            case Amended(id_, _, feedback) if id_ in taught:
                amended[taught[id_]] = feedback
    return amended


class Player:
    """A process that plays a history: `feed` it entries, then `finish` for what came of them."""

    def __init__(self, plan: Plan, base: bytes, amended: dict[int, bytes]) -> None:
        command = [sys.executable, "-m", "galloon.daemon.learner.replaying"]
        self._process = subprocess.Popen(  # noqa: S603  # ourselves
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.seq = plan.base
        head = {
            **asdict(plan),
            "base_bytes": len(base),
            "amended": {seq: feedback.hex() for seq, feedback in amended.items()},
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

    def settle(self) -> None:
        """Until all that was fed has been played, so that `finish` takes no time."""
        self._write(ENTRY.pack(0, PING, 0, 0))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.flush()
        self._process.stdout.read(1)

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
