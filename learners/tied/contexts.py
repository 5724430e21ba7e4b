"""Contexts in words: `context_name` says what a row of the tied learner's table stands for."""

from collections.abc import Sequence

from galloon.learners.kernels.tied import AGREEMENT, AWAY, EVERYTHING, LABELS, NAME_BITS, NAMED, PREVIOUS


def context_name(key: int, level: int, pattern: int, engines: Sequence[str]) -> str:
    """For example `tess = ocrad | rapid` (who agrees), `... (rapid: nothing)`, and so on, finer and finer."""
    if level == EVERYTHING:
        return "everything"
    low = (1 << NAME_BITS) - 1
    named = engines[:NAMED]
    offers: dict[int, list[str]] = {}
    for j, engine in enumerate(named):
        offers.setdefault(pattern >> (NAME_BITS * j) & low, []).append(engine)
    absent = offers.pop(AWAY, [])
    silent = (pattern >> (NAME_BITS * NAMED) & low) - 1
    groups = []
    for number, members in offers.items():
        group = " = ".join(members)
        groups.append(f"({group}: nothing)" if level != AGREEMENT and number == silent else group)
    name = " | ".join(groups) + (" | ..." if len(engines) > NAMED else "")
    name += f", without {', '.join(absent)}" if absent else ""
    # A context of labels or of the slot before is one of many with the same agreement: told apart by number.
    if level == LABELS:
        return f"{name}, labels #{key:08x}"
    if level == PREVIOUS:
        return f"{name}, after a slot #{key:08x}"
    return name
