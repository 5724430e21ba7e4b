"""What is promised of a learner's regret: in words always, in numbers where a theorem speaks of this very play.

A `Guarantee` of a learner is made by the learner itself (`promise`), from its theorem in `bounds` and from what
its `Pace` measured: the rates it played with, and how late feedback came. `as_played` adds what the learner
cannot know: whether paths were drawn at all.

`bound` is on expected regret unless the words say otherwise. Regret as it is counted is that of the drawn paths;
`limit` is what that stays below, in every round at once, but for one learner in a million: the bound and the
largest deviation of the draws from their mean (Azuma's inequality). Alerts compare regret with `limit` alone.
"""

import math
from dataclasses import dataclass, replace

UNKNOWN_PACE = "some rounds were chosen before galloon noted how late feedback comes"
ALARM = 1e-6  # the chance that a healthy learner ever passes its limit


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A promise: `words` name its kind or why there is none; numbers are None where nothing holds."""

    words: str
    bound: float | None = None
    limit: float | None = None


def as_played(promised: Guarantee, drawn: bool) -> Guarantee:
    """What holds of a learner with this promise, whose paths were drawn, or else the most probable one shown."""
    if drawn:
        return promised
    if promised.bound is None:
        return none("the most probable path is shown, and draws would have no bound either")
    return none(
        f"the most probable path is shown; draws would have expected regret of at most {promised.bound:,.1f}"
    )


def none(reason: str) -> Guarantee:
    """No promise, and why."""
    return Guarantee(f"none: {reason}")


def expected(bound: float, note: str = "") -> Guarantee:
    """A bound on expected regret, nothing more: estimates of gains may go wrong by more than draws do."""
    return Guarantee(f"expected regret, paths drawn{note}", bound)


def surely(bound: float, rounds: int, path_bound: float, note: str = "") -> Guarantee:
    """A bound on the sum of the rounds' expected regrets for every sequence of gains; draws deviate by Azuma."""
    found = expected(bound, note)
    if not rounds:
        return replace(found, limit=bound)
    # All rounds at once: round t fails with probability ALARM / (t (t + 1)), which sums to ALARM.
    deviation = path_bound * math.sqrt(rounds / 2 * math.log(rounds * (rounds + 1) / ALARM))
    return replace(found, limit=bound + deviation)
