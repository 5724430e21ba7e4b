"""Where a profiled daemon spent its time: `breakdown` sums a cProfile file by part of the program."""

import pstats
from pathlib import Path

# The first part whose mark is in a function's file or name takes its time. Order matters.
PARTS = (
    ("waiting", ("select.epoll", "method 'poll'", "selectors.py")),
    ("gRPC", ("grpc", "cygrpc")),
    (
        "messages of the wire",
        ("google", "upb", "FromString", "SerializeToString", "_pb2", "daemon/codec", "blake2"),
    ),
    ("learner", ("galloon/learners", "/learners/", "numba", "numpy")),
    ("rounds and host", ("daemon/rounds", "daemon/learner_host", "daemon/lane", "daemon/events")),
    ("stream service", ("daemon/service", "daemon/limits", "daemon/auth")),
    ("store, on the loop", ("daemon/sqlite", "daemon/store", "sqlite3")),
    (
        "metrics and scores",
        ("daemon/metrics", "prometheus", "daemon/error_rates", "daemon/recent", "daemon/page"),
    ),
    ("event loop", ("asyncio", "_asyncio", "threading", "concurrent")),
)


def breakdown(profile: Path) -> dict[str, float]:
    """Share of the time at work (waiting and start-up excluded), by part, the largest first."""
    seconds: dict[str, float] = {}
    for (file, _, name), (_, _, own_s, _, _) in pstats.Stats(str(profile)).stats.items():  # type: ignore[attr-defined]  # documented, untyped
        part = _part(f"{file}:{name}")
        seconds[part] = seconds.get(part, 0.0) + own_s
    seconds.pop("waiting", None)
    total = sum(seconds.values())
    return {part: own_s / total for part, own_s in sorted(seconds.items(), key=lambda item: -item[1])}


def _part(name: str) -> str:
    return next((part for part, marks in PARTS if any(mark in name for mark in marks)), "other")
