"""Does the working tree answer and learn as an old commit did, to the bit? `make upgrade FROM=commit`.

Both play the same games (`material`), each in a process and an environment of its own, and what they wrote down is
compared line by line.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.upgrade import sides
from tests.upgrade.difference import first_difference
from tests.upgrade.material import Game, games
from tests.upgrade.sides import NEW, Side

ROUNDS = 60


def main() -> int:
    options = _options()
    commit = options.commit or sides.default_commit()
    old = Side("old", options.python) if options.python else sides.old_side(commit)
    with tempfile.TemporaryDirectory(prefix="galloon-upgrade-") as folder:
        played = games(options.rounds)
        found = library_difference(old, NEW, played, Path(folder))
    if found:
        print(f"The working tree differs from {commit}:\n{found}")
        return 1
    print(f"{len(played)} games: the working tree answers as {commit} does, to the bit.")
    return 0


def library_difference(old: Side, new: Side, played: list[Game], folder: Path) -> str:
    """Where two sides first differ in playing these games; empty where they do not."""
    material = folder / "material.json"
    material.write_text(json.dumps(played), encoding="utf-8")
    records = {side: folder / f"{side.name}.jsonl" for side in (old, new)}
    at_work = {side: side.start("player", material, record) for side, record in records.items()}
    unable = [side.name for side, process in at_work.items() if process.wait()]
    if unable:
        return f"the {' and the '.join(unable)} side could not play: the error stands above"
    with records[old].open(encoding="utf-8") as before, records[new].open(encoding="utf-8") as after:
        return first_difference(before, after)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.upgrade", description=__doc__)
    parser.add_argument("--from", dest="commit", default="", help="the old commit; default: the last tag")
    parser.add_argument("--python", type=Path, help="an interpreter with the old commit installed")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="of each game; the default learner's have more"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
