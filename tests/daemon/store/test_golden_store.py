"""Stores of every format that was ever released open in this version, with everything in them."""

import gzip
import json

import pytest

from galloon.daemon.store.sqlite_schema import FILE_NAME, FORMAT
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2
from tests.daemon.serving import serving
from tests.daemon.store import golden_store

FORMATS = sorted(path.name.removesuffix(".db.gz") for path in golden_store.FOLDER.glob("format*.db.gz"))


def test_there_is_a_golden_store_of_this_format():
    """`python -m tests.daemon.store.golden_store` writes it; those of older formats are never written again."""
    assert f"format{FORMAT}" in FORMATS


@pytest.mark.parametrize("name", FORMATS)
async def test_it_opens_with_everything_in_it(tmp_path, name):
    """Counts, gains, pending and expired rounds, remembered answers; and it goes on learning."""
    (tmp_path / FILE_NAME).write_bytes(gzip.decompress((golden_store.FOLDER / f"{name}.db.gz").read_bytes()))
    facts = json.loads((golden_store.FOLDER / f"{name}.json").read_text())
    async with serving(tmp_path, limits__pending_rounds=2) as daemon:
        assert {host.name for host in daemon.app.registry.learners()} == set(facts)
        for learner, known in facts.items():
            shown = (await daemon.learners.GetLearner(learners_pb2.GetLearnerRequest(name=learner))).learner
            statistics = shown.statistics
            found = {
                "rounds": statistics.rounds_started,
                "lessons": statistics.lessons,
                "gain": statistics.gain,
                "pending": statistics.rounds_pending,
                "expired": statistics.rounds_expired,
            }
            assert found == {key: known[key] for key in found}, learner
            stream = daemon.stream()
            await stream.opened(wire.Open(learner=learner))
            again = await stream.choice(golden_store._said(learner, 5))
            assert again.repeated_answer
            assert again.text == known["text_of_u5"]
            assert (await stream.learned(golden_store._truth(learner, 5))).lessons == known["lessons"] + 1
