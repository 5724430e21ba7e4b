"""What has changed on purpose, by the commit that changed it: `intended_since`.

A commit from before such a change is compared without the named field or game; from the change on, with it.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# (event, field): the commit, and why
FIELDS = {
    ("statistics", "bound"): ("b51cea8", "bounds became those of the play as it was"),
    ("statistics", "regret_limit"): ("b51cea8", "new"),
    ("statistics", "guarantee"): ("b51cea8", "new"),
    ("facts", "bound"): ("b51cea8", "as in the statistics"),
    ("error rates", "rates"): ("4a277ab", "every correction is counted, late or not"),
}
DISTRIBUTIONS = ("n-best", "lattices", "characters of lattices")
# how the names of games begin: the commit, and why
PATHS = ("component_hedge", "expanded_hedge", "perturbed_leader", "semi_bandit", "com_band", "exp3_paths")
GAMES: dict[str, tuple[str, str]] = {
    "default": ("1939e1c", "agreement, lattices by risk, what was taught on trial and shown sooner"),
    "default, characters, full": ("0f742c3", "who has changed is judged by true texts"),
    "default, labels, full": ("0f742c3", "who has changed is judged by true texts"),
    "default, lattices": ("4d32bd9", "agreement hears what lattices say beside the text"),
    "default, characters of lattices": ("4d32bd9", "and letters of lattices"),
    "default, n-best": ("4d32bd9", "and n-best lists"),
    **{f"default, {said}": ("4d32bd9", "agreement hears distributions") for said in DISTRIBUTIONS},
    **{f"{name}, derived": ("7507e61", "votes do not depend on the order of engines") for name in PATHS},
    **{f"{name}, characters": ("f12e749", "what was written stays as written") for name in PATHS},
}


@dataclass(frozen=True, slots=True)
class Intended:
    """What is not compared with an old commit."""

    fields: frozenset[tuple[str, str]] = frozenset()  # each with the event that has it
    games: tuple[str, ...] = ()  # how their names begin
    reasons: tuple[str, ...] = ()

    def compares(self, game: str) -> bool:
        return not game.startswith(self.games)


NOTHING = Intended()


def intended_since(old_commit: str) -> Intended:
    """What differs from this commit because it was meant to."""
    since = {
        where: f"{where if isinstance(where, str) else '.'.join(where)}: {why} ({commit})"
        for where, (commit, why) in {**FIELDS, **GAMES}.items()
        if not _contains(old_commit, commit)
    }
    return Intended(
        frozenset(where for where in since if isinstance(where, tuple)),
        tuple(where for where in since if isinstance(where, str)),
        tuple(since.values()),
    )


def _contains(newer: str, older: str) -> bool:
    asked = subprocess.run(
        ["git", "merge-base", "--is-ancestor", older, newer], cwd=ROOT, check=False, capture_output=True
    )
    if asked.returncode > 1:  # git knows one of them not: nothing may pass as intended for that
        raise LookupError(f"is {older} part of {newer}? {asked.stderr.decode().strip()}")
    return asked.returncode == 0
