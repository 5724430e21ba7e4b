"""What can go wrong in the learners.

LearnerError
├── InvalidInput        the caller's data is wrong: which field, what the problem is, and what to do
│   └── BoundExceeded   a gain lies outside the range that the learner was told
├── BudgetExceeded      the input is well formed but too large; names the limit and its value
└── DamagedState        bytes that are not, or no longer, a state of this kind
"""

from typing import Self


def sentence(problem: str, field: str = "", advice: str = "") -> str:
    """`field: problem; advice`, as far as they are there."""
    return (f"{field}: " if field else "") + problem + (f"; {advice}" if advice else "")


class LearnerError(Exception):
    """The root: catch this to catch everything that the learners raise on purpose."""


class InvalidInput(LearnerError):
    """The caller's data is wrong. It prints as `field: problem; advice`.

    `field` is the path of the wrong field, such as `gain.patterns[2].weight`, or empty.
    """

    def __init__(self, problem: str, field: str = "", advice: str = "") -> None:
        super().__init__(problem)
        self.problem, self.field, self.advice = problem, field, advice

    def __str__(self) -> str:
        return sentence(self.problem, self.field, self.advice)

    def under(self, parent: str) -> Self:
        """The same error, where its field is part of this one."""
        error = type(self)(self.problem, f"{parent}.{self.field}" if self.field else parent, self.advice)
        return error.with_traceback(self.__traceback__)


class BoundExceeded(InvalidInput):
    """A gain lies outside the range that the learning rate was tuned for."""


class BudgetExceeded(LearnerError):
    """Too large: refused by arithmetic before memory or time is spent."""

    def __init__(self, limit: str, needed: float, allowed: float, advice: str) -> None:
        self.limit, self.needed, self.allowed, self.advice = limit, needed, allowed, advice
        shown = f"{needed:.6g}" if needed < 1e300 else "far more"  # counts of paths outgrow any float
        super().__init__(f"{limit}: {shown} needed, {allowed:.6g} allowed; {advice}")


class DamagedState(LearnerError):
    """The bytes do not hold a whole, unchanged state that this version can read."""
