"""Writes the golden store of this format: `python -m tests.daemon.store.golden_store`, once a format, never again.

Every algorithm and an explicit automaton, each with a snapshot, a journal after it, a pending round and one that
expired. Beside the database lies what a daemon that opens it must say: no digests, because the journal is learned
again on opening, and the last bits of that may differ between processors.
"""

import asyncio
import gzip
import json
import tempfile
from pathlib import Path

from galloon.daemon.store.sqlite_schema import FILE_NAME, FORMAT
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2, spec_pb2, utterance_pb2
from tests.daemon.serving import Daemon, feedback, serving, simple_spec, utterance

FOLDER = Path(__file__).parents[2] / "data" / "store"
AUTOMATON = "0 1 a\n0 2 b\n1 3 c\n2 3 d\n3\n"
SPECS = {
    name.lower().removeprefix("algorithm_"): simple_spec(algorithm=number)
    for name, number in spec_pb2.Algorithm.items()
    if number
} | {"automaton": spec_pb2.LearnerSpec(automaton=AUTOMATON, algorithm=spec_pb2.ALGORITHM_EXPANDED_HEDGE)}


def write(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as data:
        facts = asyncio.run(_fill(Path(data)))
        packed = gzip.compress((Path(data) / FILE_NAME).read_bytes(), mtime=0)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"format{FORMAT}.db.gz").write_bytes(packed)
    (folder / f"format{FORMAT}.json").write_text(json.dumps(facts, indent=2, sort_keys=True) + "\n")


async def _fill(data: Path) -> dict[str, dict[str, object]]:
    async with serving(data, limits__pending_rounds=2) as daemon:
        daemon.app._housekeeping.snapshot_all = _nothing  # keep the journal
        return {name: await _play(daemon, name, spec) for name, spec in SPECS.items()}


async def _play(daemon: Daemon, name: str, spec: spec_pb2.LearnerSpec) -> dict[str, object]:
    stream = await daemon.open(name, spec)
    for number in range(6):
        await stream.choice(_said(name, number))
        if number in {0, 1, 4}:
            await stream.learned(_truth(name, number))
        if number == 3:
            await daemon.learners.SnapshotLearner(learners_pb2.SnapshotLearnerRequest(name=name))
    await daemon.app.registry.find(name).expire()
    shown = (await daemon.learners.GetLearner(learners_pb2.GetLearnerRequest(name=name))).learner
    repeated = await stream.choice(_said(name, 5))
    return {
        "rounds": shown.statistics.rounds_started,
        "lessons": shown.statistics.lessons,
        "gain": shown.statistics.gain,
        "pending": shown.statistics.rounds_pending,
        "expired": shown.statistics.rounds_expired,
        "text_of_u5": repeated.text,
    }


def _said(name: str, number: int) -> utterance_pb2.Utterance:
    if name != "automaton":
        return utterance(number, slots=4)
    named = utterance_pb2.NamedTokens(names=["a", "b", "c", "d"], tokens=["so", "to", "far", f"go{number}"])
    return utterance_pb2.Utterance(id=f"u{number}", named_tokens=named)


def _truth(name: str, number: int) -> wire.Feedback:
    if name != "automaton":
        return feedback(number, slots=4)
    return wire.Feedback(id=f"u{number}", true_tokens=wire.TrueTokens(tokens=["so", "far"]))


async def _nothing() -> None:
    pass


if __name__ == "__main__":
    write(FOLDER)
