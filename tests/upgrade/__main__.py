"""Does the working tree answer and learn as an old commit did, to the bit? `make upgrade FROM=commit`.

Both play the same games (`material`), each in a process and an environment of its own, and what they wrote down is
compared line by line: first the library alone (`player`), then through daemons (`stores`). Where the working tree
promises to open the old commit's stores, it also goes on with one: digests, answers to retries and the next 100
choices of each learner are equal to those of the old daemon.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.upgrade import sides
from tests.upgrade.difference import differences
from tests.upgrade.intended import NOTHING, Intended, intended_since
from tests.upgrade.material import Game, conversations, games
from tests.upgrade.sides import NEW, Side
from tests.upgrade.stores import daemon_differences

ROUNDS = 60
BEFORE, AFTER = 60, 100  # rounds of a conversation with the first daemon, and with the next


def main() -> int:
    options = _options()
    commit = options.commit or sides.default_commit()
    old = Side("old", options.python) if options.python else sides.old_side(commit)
    with tempfile.TemporaryDirectory(prefix="galloon-upgrade-") as folder:
        played, talks = games(options.rounds), conversations(BEFORE, AFTER)
        shared = {"auto": sides.shares_stores(commit), "yes": True, "no": False}[options.stores]
        intended = intended_since(commit)
        found = library_differences(old, NEW, played, Path(folder), intended)
        found += daemon_differences(old, NEW, talks, Path(folder), shared, intended)
    for reason in intended.reasons:
        print(f"not compared, changed on purpose: {reason}")
    if found:
        print(f"The working tree differs from {commit} in {len(found)} games:", *found, sep="\n")
        return 1
    compared, through = (sum(intended.compares(game["name"]) for game in each) for each in (played, talks))
    print(f"{compared} games of the library and {through} through daemons: equal to {commit}, to the bit.")
    print("Stores: opened and gone on with." if shared else "Stores: not opened, their formats differ.")
    return 0


def library_differences(
    old: Side, new: Side, played: list[Game], folder: Path, intended: Intended = NOTHING
) -> list[str]:
    """Where two sides first differ in playing each of these games."""
    material = folder / "material.json"
    material.write_text(json.dumps(played), encoding="utf-8")
    records = {side: folder / f"{side.name}.jsonl" for side in (old, new)}
    at_work = {side: side.start("player", material, record) for side, record in records.items()}
    unable = [side.name for side, process in at_work.items() if process.wait()]
    if unable:
        return [f"the {' and the '.join(unable)} side could not play: the error stands above"]
    with records[old].open(encoding="utf-8") as before, records[new].open(encoding="utf-8") as after:
        return differences(before, after, intended.fields, intended.games)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.upgrade", description=__doc__)
    parser.add_argument("--from", dest="commit", default="", help="the old commit; default: the last tag")
    parser.add_argument("--python", type=Path, help="an interpreter with the old commit installed")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="of each game; the default learner's have more"
    )
    parser.add_argument(
        "--stores",
        choices=["auto", "yes", "no"],
        default="auto",
        help="open the old side's; auto: if promised",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
