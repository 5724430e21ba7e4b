"""Which version of the code a campaign ran on: with its seed, what it takes to repeat it."""

import subprocess
from pathlib import Path


def commit() -> str:
    """The short name of the commit; "+" after it when files have changed since; "unknown" without git."""
    root = Path(__file__).parents[2]
    command = ["git", "describe", "--always", "--dirty=+", "--exclude", "*"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
