"""Where a profiled daemon spent its time at work: `breakdown` compares a profile under load with an idle one.

Compiled code of gRPC runs inside of coroutines, where the profiler cannot see it: its time is that of the event
loop and of the stream service, so these are one part.
"""

import pstats
from pathlib import Path

# The first part whose mark is in a function's file or name takes its time. Order matters.
PARTS = (
    ("waiting", ("select.epoll", "method 'poll'", "selectors.py")),
    ("messages of the wire", ("google", "upb", "FromString", "SerializeToString", "proto/codec", "blake2")),
    ("learner", ("galloon/learners", "/learners/", "numba", "numpy", "json")),
    ("rounds and their journal", ("daemon/learner",)),
    ("store, on the loop", ("daemon/store", "sqlite3")),
    (
        "metrics and scores",
        ("daemon/http", "prometheus", "daemon/learner/books"),
    ),
    ("gRPC, streams and event loop", ("grpc", "daemon/rpc", "daemon/limits", "asyncio", "_contextvars")),
)


def breakdown(loaded: Path, idle: Path) -> dict[str, float]:
    """Share of the time that the load took on the main thread, by part, the largest first."""
    before = _seconds(idle)
    spent = {part: max(0.0, own_s - before.get(part, 0.0)) for part, own_s in _seconds(loaded).items()}
    spent.pop("waiting", None)
    total = sum(spent.values())
    return {part: own_s / total for part, own_s in sorted(spent.items(), key=lambda item: -item[1])}


def _seconds(profile: Path) -> dict[str, float]:
    seconds: dict[str, float] = {}
    stats = pstats.Stats(str(profile)).stats  # type: ignore[attr-defined]  # documented, but not typed
    for (file, _, name), (_, _, own_s, _, _) in stats.items():
        part = _part(f"{file}:{name}")
        seconds[part] = seconds.get(part, 0.0) + own_s
    return seconds


def _part(name: str) -> str:
    return next((part for part, marks in PARTS if any(mark in name for mark in marks)), "other")
