"""Writes the golden store of this format: `python -m tests.daemon.store.golden_store`, once a format, never again.

The default learner on plain texts, n-best lists, lattices, characters and labels, every algorithm on slots, and an
explicit automaton. Each has a snapshot, a journal after it, and pending rounds; those named
`whole-...` have nothing after their snapshot. Beside the database lies what a daemon that opens it must say:

- answers to retries, to the bit: they are stored, not computed again;
- digests of the whole ones, to the bit: their state is read as it was written;
- no digests of the others: their journal is learned again on opening, and the last bits of that may differ between
  processors. Their counts are equal, and their gains nearly.
"""

import asyncio
import gzip
import json
import tempfile
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from random import Random

from galloon.codec.request import feedback_request, utterance_request
from galloon.codec.spec import spec_to_wire
from galloon.daemon.store.sqlite_schema import FILE_NAME, FORMAT
from galloon.learners.combiners.contract import Feedback, TrueText, TrueTokens
from galloon.learners.combiners.spec import ALGORITHMS, CombinerSpec
from galloon.learners.observation import Utterance
from galloon.v1 import learners_pb2
from tests.daemon.serving import Conversation, Daemon, serving
from tests.engines import ENGINES, FORMS, WORDS

FOLDER = Path(__file__).parents[2] / "data" / "store"
AUTOMATON = "0 1 a\n0 2 b\n1 3 c\n2 3 d\n3\n"
DEFAULT = CombinerSpec(ENGINES, decide="best")
WHOLE = "whole-"
ROUNDS, TAUGHT, SNAPSHOT_AFTER = 6, (0, 1, 4), 3
# By name: the spec, and what engines say.
PLAYED: dict[str, tuple[CombinerSpec, str]] = {
    "texts": (DEFAULT, "texts"),
    "nbest": (DEFAULT, "nbest"),
    "lattices": (DEFAULT, "lattices"),
    "characters": (replace(DEFAULT, unit="char"), "texts"),
    "labels": (replace(DEFAULT, labels=("page",)), "labelled"),
    **{name: (CombinerSpec(ENGINES, name, window=4, decide="sample"), "slots") for name in ALGORITHMS},
    "automaton": (CombinerSpec(algorithm="expanded_hedge", automaton=AUTOMATON, decide="sample"), "named"),
}
PLAYED |= {f"{WHOLE}{name}": PLAYED[name] for name in ("texts", "lattices", "component_hedge", "com_band")}


def write(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as data:
        facts = asyncio.run(_fill(Path(data)))
        packed = gzip.compress((Path(data) / FILE_NAME).read_bytes(), mtime=0)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"format{FORMAT}.db.gz").write_bytes(packed)
    (folder / f"format{FORMAT}.json").write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")


async def _fill(data: Path) -> dict[str, dict[str, object]]:
    async with serving(data) as daemon:
        daemon.app._housekeeping.snapshot_all = _nothing  # keep the journal
        return {name: await _play(daemon, name) for name in PLAYED}


async def _play(daemon: Daemon, name: str) -> dict[str, object]:
    stream = await daemon.open(name, spec_to_wire(PLAYED[name][0]))
    for number in range(ROUNDS):
        await stream.ask(utterance_request(said(name, number)))
        if number in TAUGHT:
            await stream.ask(feedback_request(f"u{number}", truth(name, number)))
        if number == SNAPSHOT_AFTER:
            await daemon.learners.SnapshotLearner(learners_pb2.SnapshotLearnerRequest(name=name))
    if name.startswith(WHOLE):
        await daemon.learners.SnapshotLearner(learners_pb2.SnapshotLearnerRequest(name=name))
    return {**await counts(daemon, name), "answers": await answers(stream, name)}


async def counts(daemon: Daemon, name: str) -> dict[str, object]:
    """What the daemon says of a learner that has just been opened."""
    shown = (await daemon.learners.GetLearner(learners_pb2.GetLearnerRequest(name=name))).learner
    return {
        "rounds": shown.statistics.rounds_started,
        "lessons": shown.statistics.lessons,
        "gain": shown.statistics.gain,
        "pending": shown.statistics.rounds_pending,
        "expired": shown.statistics.rounds_expired,
        **({"digest": shown.digest} if name.startswith(WHOLE) else {}),
    }


async def answers(stream: Conversation, name: str) -> list[str]:
    """What every request gets when it is sent again: bytes of the wire."""
    requests = [utterance_request(said(name, number)) for number in range(ROUNDS)]
    requests += [feedback_request(f"u{number}", truth(name, number)) for number in TAUGHT]
    found = [await stream.ask(request) for request in requests]
    return [b64encode(answer.SerializeToString(deterministic=True)).decode() for answer in found]


def said(name: str, number: int) -> Utterance:
    form = PLAYED[name][1]
    if form != "named":
        return FORMS[form](f"u{number}", _tokens(number))
    return Utterance.of_named_tokens(
        f"u{number}", dict(zip("abcd", ("so", "to", "far", f"go{number}"), strict=True))
    )


def truth(name: str, number: int) -> Feedback:
    match PLAYED[name][1]:
        case "named":
            return TrueTokens(("so", "far"))
        case "slots":
            return TrueTokens(_tokens(number))
    return TrueText(" ".join(filter(None, _tokens(number))))


def _tokens(number: int) -> tuple[str, ...]:
    return tuple(Random(f"truth {number}").choices(WORDS, k=4))


async def _nothing() -> None:
    pass


if __name__ == "__main__":
    write(FOLDER)
