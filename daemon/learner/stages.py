"""Work in stages: a generator that yields where work of the same kind may go first, and returns its result.

Many small pieces run in nearly half the time when all go through one stage before any goes through the next,
because the code and data of a stage stay in the processor's caches. `together` does that; `alone` runs one piece.
"""

from collections.abc import Generator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Stages = Generator[None, None, T]
Outcome = tuple[Any, Exception | None]


def alone(work: Stages[T]) -> T:
    """The result of one piece of work."""
    try:
        while True:
            next(work)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def together(pieces: Sequence[Stages[Any]]) -> list[Outcome]:
    """What comes of each, in order: within a stage, a piece follows the ones before it."""
    outcomes: list[Outcome] = [(None, None)] * len(pieces)
    going = list(range(len(pieces)))
    while going:
        left = []
        for number in going:
            try:
                next(pieces[number])
                left.append(number)
            except StopIteration as end:
                outcomes[number] = end.value, None
            except Exception as error:  # noqa: BLE001  # judged by who asked for it
                outcomes[number] = None, error
        going = left
    return outcomes
