"""A number on everything that a client can make grow, and the checks that name the limit that was passed.

`Limits` are the defaults; `check` refuses what is over one.
"""

from dataclasses import dataclass

from galloon.daemon.errors import ADVICE, LimitPassed


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits, see galloon.toml for what each promises and costs."""

    message_bytes: int = 1_048_576
    engines: int = 4096
    outputs: int = 64
    slots: int = 4096
    transitions: int = 2_000_000
    learners: int = 1000
    learners_per_principal: int = 1000
    warm_rounds: int = 256
    streams: int = 2000
    streams_per_principal: int = 2000
    other_calls: int = 2000
    in_flight: int = 64
    page_requests: int = 64
    bytes_per_principal: int = 67_108_864
    import_bytes: int = 268_435_456


def check(limits: Limits, name: str, needed: float, field: str = "") -> None:
    """Refuse what is over the limit of this name."""
    allowed = getattr(limits, name)
    if needed > allowed:
        raise LimitPassed(name, needed, allowed, ADVICE[name], field)
