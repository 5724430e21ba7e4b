"""The list of what was erased: a file of its own beside the store, so that a restored backup is erased again.

A line of JSON for each erasure, `{"learner", "time", "ids"}`, is durable before anything is erased; a second one,
`{"learner", "time", "done": true}`, says that nothing is left of it. It has ids, and nothing of what was said, and
is only added to. A last line that a crash cut short was never acted upon, and is passed over.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from galloon.daemon.errors import StoreDamaged, StoreFull
from galloon.daemon.store.high_water import NO_SPACE

FILE_NAME = "erased.jsonl"


@dataclass(frozen=True, slots=True)
class Erasure:
    """Rounds of one learner that began before this moment, in seconds of Unix."""

    learner: str
    time: float
    ids: tuple[str, ...]


class ErasureList:
    """`add` before, `finish` after; both are durable when they return."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unfinished: dict[tuple[str, float], None] = {}
        self._learners: set[str] = set()  # that are in the list
        for line in self._lines():
            self._learners.add(line["learner"])
            key = (line["learner"], line["time"])
            if "ids" in line:
                self._unfinished[key] = None
            else:
                self._unfinished.pop(key, None)

    def add(self, erasure: Erasure) -> None:
        self._write({"learner": erasure.learner, "time": erasure.time, "ids": erasure.ids})
        self._unfinished[(erasure.learner, erasure.time)] = None
        self._learners.add(erasure.learner)

    def finish(self, erasure: Erasure) -> None:
        if not self.is_finished(erasure):
            self._write({"learner": erasure.learner, "time": erasure.time, "done": True})
            del self._unfinished[(erasure.learner, erasure.time)]

    def of(self, learner: str) -> list[Erasure]:
        """All of a learner, the oldest first."""
        if learner not in self._learners:
            return []
        return [
            Erasure(learner, line["time"], tuple(line["ids"]))
            for line in self._lines()
            if line["learner"] == learner and "ids" in line
        ]

    def is_finished(self, erasure: Erasure) -> bool:
        """Whether nothing is left of it, not in the files either."""
        return (erasure.learner, erasure.time) not in self._unfinished

    def has_unfinished(self, learner: str) -> bool:
        return any(name == learner for name, _ in self._unfinished)

    def _lines(self) -> Iterator[dict[str, Any]]:
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        whole, _, _ = text.rpartition("\n")
        # Not splitlines, which also splits at U+2028 and others that an id may have.
        for number, line in enumerate(whole.split("\n") if whole else (), 1):
            try:
                yield _checked(json.loads(line))
            except (ValueError, TypeError, KeyError) as error:
                raise StoreDamaged(
                    f"{self._path}, line {number}: not an erasure ({error}); restore this file, or move it away "
                    "and erase again what has to stay erased"
                ) from error

    def _write(self, line: dict[str, Any]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                end = _end_of_lines(descriptor)
                data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
                if os.pwrite(descriptor, data, end) < len(data):
                    raise StoreFull(f"{self._path}: the disk is full")
                os.ftruncate(descriptor, end + len(data))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            if error.errno in NO_SPACE:
                raise StoreFull(f"{self._path}: the disk is full") from error
            raise


def _end_of_lines(descriptor: int) -> int:
    """After the last whole line: what a crash left of another one is written over."""
    size = os.fstat(descriptor).st_size
    data = os.pread(descriptor, size, 0)
    return data.rfind(b"\n") + 1


def _checked(line: dict[str, Any]) -> dict[str, Any]:
    ids = line.get("ids", [])
    if not isinstance(line["learner"], str) or not isinstance(line["time"], float):
        raise TypeError("a learner and a time")
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise TypeError("a list of ids")
    return line
