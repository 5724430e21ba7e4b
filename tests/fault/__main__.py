"""`make fault`: at least 40 kills in the middle of 8 busy streams; exit status 1 when anything was lost."""

import argparse
import asyncio
import secrets
import sys
import tempfile
from pathlib import Path

from tests.fault.campaign import run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fault", description=__doc__)
    parser.add_argument("--kills", type=int, default=40, help="how often to kill the daemon (default 40)")
    parser.add_argument("--seed", type=int, default=None, help="repeats the moments of another campaign")
    parser.add_argument(
        "--directory", type=Path, default=None, help="keep the store and the daemon's log here"
    )
    arguments = parser.parse_args()
    seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="galloon-fault-") as scratch:
        directory = arguments.directory or Path(scratch) / "fault"
        outcome = asyncio.run(run(directory, arguments.kills, seed, progress=True))
    print(outcome.sentences())
    return 0


if __name__ == "__main__":
    sys.exit(main())
