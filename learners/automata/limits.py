"""Limits on automata that users send, checked before any work that grows with their size."""

from dataclasses import dataclass

from galloon.learners.errors import BudgetExceeded


@dataclass(frozen=True, slots=True)
class AutomatonLimits:
    """Limits on an untrusted automaton; seconds and memory bind the child process."""

    bytes: int = 1 << 20
    states: int = 10_000
    arcs: int = 100_000
    seconds: float = 10.0
    memory_bytes: int = 2 << 30

    def check_bytes(self, found: int) -> None:
        _check("bytes of the automaton", found, self.bytes)

    def check_states(self, found: int) -> None:
        _check("states of the automaton", found, self.states)

    def check_arcs(self, found: int) -> None:
        _check("transitions of the automaton", found, self.arcs)


def _check(name: str, found: int, allowed: int) -> None:
    if found > allowed:
        raise BudgetExceeded(name, found, allowed, "send a smaller one or raise the limit")
