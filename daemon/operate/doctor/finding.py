"""What a check found: a verdict, a sentence with the figures, and what to do about it where something is wrong."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    GOOD = "good"
    DOUBTFUL = "doubtful"  # it will run, but worse than it could
    BAD = "bad"  # it will not run, or not keep what it promises


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. Whatever is not good has an advice."""

    area: str
    verdict: Verdict
    what: str
    advice: str = ""

    def __post_init__(self) -> None:
        assert (self.verdict is Verdict.GOOD) == (not self.advice), "advice belongs to what is not good"


def good(area: str, what: str) -> Finding:
    return Finding(area, Verdict.GOOD, what)


def doubtful(area: str, what: str, advice: str) -> Finding:
    return Finding(area, Verdict.DOUBTFUL, what, advice)


def bad(area: str, what: str, advice: str) -> Finding:
    return Finding(area, Verdict.BAD, what, advice)
