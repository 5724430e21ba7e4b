"""The same conversation with an old daemon and with the working tree's: `daemon_differences`.

Each side begins with a store of its own. Where formats are shared, two copies of the old daemon's store are gone
on with: one by the old daemon, one by the working tree's. Daemons are killed, not stopped, so that the store holds
snapshots with a journal after them.
"""

import json
import shutil
from contextlib import ExitStack
from pathlib import Path

from tests.daemon_process import running_daemon
from tests.upgrade.difference import differences
from tests.upgrade.intended import NOTHING, Intended
from tests.upgrade.material import Game
from tests.upgrade.sides import Side


def daemon_differences(
    old: Side, new: Side, played: list[Game], folder: Path, shared: bool, intended: Intended = NOTHING
) -> list[str]:
    """Where two sides first differ in each of these conversations."""
    material = folder / "conversations.json"
    material.write_text(json.dumps(played), encoding="utf-8")
    begun = {side: folder / f"{side.name}-begins" for side in (old, new)}
    found = _compared("begin", begun, material, shared, intended)
    if found or not shared:
        return found
    resumed = {side: folder / f"{side.name}-goes-on" for side in (old, new)}
    for directory in resumed.values():
        shutil.copytree(begun[old] / "data", directory / "data")
    return _compared("go_on", resumed, material, shared, intended)


def _compared(
    phase: str, directories: dict[Side, Path], material: Path, shared: bool, intended: Intended
) -> list[str]:
    records = [directory / f"{phase}.jsonl" for directory in directories.values()]
    digests = "digests" if shared else "no digests"
    with ExitStack() as stack:
        talks = {}
        for (side, directory), record in zip(directories.items(), records, strict=True):
            daemon = stack.enter_context(running_daemon(directory, python=str(side.python)))
            talks[side] = side.start("conversation", phase, daemon.address, material, record, digests)
        unable = [side.name for side, talk in talks.items() if talk.wait()]
    if unable:
        return [f"the {' and the '.join(unable)} side could not {phase}: the error stands above"]
    with records[0].open(encoding="utf-8") as before, records[1].open(encoding="utf-8") as after:
        found = differences(before, after, intended.fields, intended.games)
    return [f"through a daemon, {phase}: {each}" for each in found]
