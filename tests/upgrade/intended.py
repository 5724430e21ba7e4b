"""What has changed on purpose, by the commit that changed it: `not_compared`.

A commit from before such a change is compared without the named field; from the change on, with it.
"""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
# (event, field): the commit, and why
CHANGED = {
    ("statistics", "bound"): ("b51cea8", "bounds became those of the play as it was"),
    ("statistics", "regret_limit"): ("b51cea8", "new"),
    ("statistics", "guarantee"): ("b51cea8", "new"),
    ("facts", "bound"): ("b51cea8", "as in the statistics"),
}


def not_compared(old_commit: str) -> set[tuple[str, str]]:
    """Events and fields that differ from this commit because they were meant to."""
    return {place for place, (commit, _) in CHANGED.items() if not _contains(old_commit, commit)}


def _contains(newer: str, older: str) -> bool:
    asked = subprocess.run(
        ["git", "merge-base", "--is-ancestor", older, newer], cwd=ROOT, check=False, capture_output=True
    )
    return asked.returncode == 0
