"""What can go wrong in the learners.

LearnerError
├── InvalidInput        the caller's data is wrong; the message says what, where, and what to do
│   └── BoundExceeded   a gain lies outside the range that the learner was told
├── BudgetExceeded      the input is well formed but too large; names the limit and its value
└── DamagedState        bytes that are not, or no longer, a state of this kind
"""


class LearnerError(Exception):
    """The root: catch this to catch everything that the learners raise on purpose."""


class InvalidInput(LearnerError):
    """The caller's data is wrong."""


class BoundExceeded(InvalidInput):
    """A gain lies outside the range that the learning rate was tuned for."""


class BudgetExceeded(LearnerError):
    """Too large: refused by arithmetic before memory or time is spent."""

    def __init__(self, limit: str, needed: float, allowed: float, advice: str) -> None:
        self.limit, self.needed, self.allowed = limit, needed, allowed
        shown = f"{needed:.6g}" if needed < 1e300 else "far more"  # counts of paths outgrow any float
        super().__init__(f"{limit}: {shown} needed, {allowed:.6g} allowed; {advice}")


class DamagedState(LearnerError):
    """The bytes do not hold a whole, unchanged state that this version can read."""
