"""The slow twin of `learners.combiners.probation`: all lines so far, looked at again each time."""

from collections.abc import Sequence
from math import sqrt

# taught, untaught and true token of each slot; how many lessons had been learned when the line was chosen
Line = tuple[Sequence[int], Sequence[int], Sequence[int], int]


def trials(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines of one trial were all chosen before the first of them was learned."""
    found: list[list[Line]] = []
    begins = 0
    for number, line in enumerate(lines):
        if not found or line[3] > begins:
            found.append([])
            begins = number
        found[-1].append(line)
    return found


def passed(lines: Sequence[Line], doubt: float, untried: float, alone: float, most: float) -> bool:
    total = 0.0
    for trial in trials(lines):
        wins = losses = 0
        for taught, untaught, truth, _ in trial:
            for a, b, true in zip(taught, untaught, truth, strict=True):
                wins += a == true and b != true
                losses += b == true and a != true
        if wins + losses:
            total += min((wins - losses) / sqrt(wins + losses), 1.0 if len(trial) == 1 else 0.5)
        total = min(max(total, -most), most)
    nothing_tried = sum(chosen == 0 for *_, chosen in lines)
    by_itself = sum(len(trial) == 1 for trial in trials(lines)[1:-1])
    return total >= doubt * max(0.0, 1.0 - nothing_tried / untried - by_itself / alone)
