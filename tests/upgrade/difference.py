"""Compares what two sides wrote down and says where they differ: `differences`, `first_difference`."""

import json
from collections.abc import Collection, Iterable
from itertools import zip_longest
from typing import Any

Fields = Collection[tuple[str, str]]


def differences(
    old: Iterable[str], new: Iterable[str], without: Fields = (), changed: Collection[str] = ()
) -> list[str]:
    """In words, the first event of each game in which two records differ.

    `without` are fields that are not compared, each with the event that has it; `changed` begin the names of games
    that are not compared at all.
    """
    before, after = _by_game(old), _by_game(new)
    compared = [name for name in {**before, **after} if not name.startswith(tuple(changed))]
    found = (first_difference(before.get(name, ()), after.get(name, ()), without) for name in compared)
    return [each for each in found if each]


def _by_game(lines: Iterable[str]) -> dict[str, list[str]]:
    games: dict[str, list[str]] = {}
    for line in lines:
        games.setdefault(json.loads(line).get("game", ""), []).append(line)
    return games


def first_difference(old: Iterable[str], new: Iterable[str], without: Fields = ()) -> str:
    """In words, the first event in which two records differ; empty where none does."""
    for number, (left, right) in enumerate(zip_longest(old, new), 1):
        if left == right:
            continue
        if left is None or right is None:
            ended = "old" if left is None else "new"
            return (
                f"line {number}: the {ended} side ended here; the other goes on with {_short(left or right)}"
            )
        before, after = (_kept(json.loads(line), without) for line in (left, right))
        if before == after:
            continue
        where = ", ".join(f"{key} {before[key]}" for key in ("game", "round", "event") if key in before)
        return "\n".join([f"line {number}, {where}:", *_differences(before, after, "")])
    return ""


def _kept(event: dict[str, Any], without: Fields) -> dict[str, Any]:
    return {field: value for field, value in event.items() if (event["event"], field) not in without}


def _differences(old: Any, new: Any, path: str) -> list[str]:
    """Each place in which two JSON values differ, a dozen at most."""
    if old == new:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        parts = [(f"{path}.{key}", old.get(key), new.get(key)) for key in sorted({*old, *new})]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        parts = [(f"{path}[{i}]", *pair) for i, pair in enumerate(zip(old, new, strict=True))]
    else:
        return [
            f"  {path.lstrip('.')}: old {_told(old)}",
            f"  {' ' * len(path.lstrip('.'))}  new {_told(new)}",
        ]
    return [line for where, left, right in parts for line in _differences(left, right, where)][:24]


def _told(value: Any) -> str:
    """A value as it stands; a number in hexadecimal also as people read it."""
    if isinstance(value, str) and value.lstrip("-").startswith("0x"):
        return f"{value} ({float.fromhex(value)!r})"
    return _short(json.dumps(value))


def _short(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
