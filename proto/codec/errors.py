"""What can be wrong with a message. Both errors name the field, the problem, and what to do.

InvalidInput (of the learners)
└── InvalidMessage      a field is malformed, missing, or contradicts another one
BudgetExceeded (of the learners)
└── MessageTooLarge     a field is well formed but passes a limit, which is named with its value
"""

from typing import Protocol, Self

from galloon.learners.errors import BudgetExceeded, InvalidInput


class SizeLimits(Protocol):
    """The limits of the receiver that sizes of messages are checked against."""

    @property
    def engines(self) -> int:
        """Engines of a learner."""
        ...

    @property
    def outputs(self) -> int:
        """Engines that ran, of one utterance."""
        ...

    @property
    def slots(self) -> int:
        """Slots of an utterance, words of an engine, and slots of a window."""
        ...


class InvalidMessage(InvalidInput):
    """A field is malformed, missing, or contradicts another one. `field` is its path in the request."""

    def __init__(self, field: str, problem: str, advice: str = "") -> None:
        super().__init__(problem, field, advice)

    def under(self, parent: str) -> Self:
        return type(self)(f"{parent}.{self.field}", self.problem, self.advice).with_traceback(
            self.__traceback__
        )


class MessageTooLarge(BudgetExceeded):
    """A field passes a limit."""

    def __init__(self, field: str, limit: str, needed: float, allowed: float, advice: str) -> None:
        super().__init__(limit, needed, allowed, advice)
        self.field = field


def check_size(limits: SizeLimits | None, name: str, needed: int, field: str) -> None:
    """Refuse what is over the limit of this name; without limits nothing is."""
    if limits is not None and needed > (allowed := getattr(limits, name)):
        raise MessageTooLarge(field, name, needed, allowed, f"use fewer {name}")
