"""Stores of every format that was ever released open in this version, with everything in them."""

import gzip
import json

import pytest

from galloon.codec.request import feedback_request
from galloon.daemon.store.sqlite_schema import FILE_NAME, FORMAT
from galloon.learners.combiners.spec import ALGORITHMS
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2
from tests.daemon.serving import serving
from tests.daemon.store import golden_store
from tests.engines import FORMS

FORMATS = sorted(path.name.removesuffix(".db.gz") for path in golden_store.FOLDER.glob("format*.db.gz"))


def test_there_is_a_golden_store_of_this_format():
    """`python -m tests.daemon.store.golden_store` writes it; those of older formats are never written again."""
    assert f"format{FORMAT}" in FORMATS


@pytest.mark.parametrize("name", FORMATS)
async def test_it_opens_with_everything_in_it(tmp_path, name):
    """Counts, gains, pending and expired rounds, and every answer to the bit; and it goes on learning.

    Digests are those of this format alone: a state of an older one is given what it has not learned yet.
    """
    (tmp_path / FILE_NAME).write_bytes(gzip.decompress((golden_store.FOLDER / f"{name}.db.gz").read_bytes()))
    facts = json.loads((golden_store.FOLDER / f"{name}.json").read_text())
    async with serving(tmp_path) as daemon:
        listed = await daemon.learners.ListLearners(learners_pb2.ListLearnersRequest(page_size=1000))
        assert {learner.name for learner in listed.learners} == set(facts)
        for learner, known in facts.items():
            found = await golden_store.counts(daemon, learner)
            if name != f"format{FORMAT}" and "digest" in known:
                known["digest"] = found["digest"]
            known["gain"] = pytest.approx(known["gain"], rel=1e-9)
            assert found == {key: known[key] for key in known if key != "answers"}, learner
            stream = daemon.stream()
            await stream.opened(wire.Open(learner=learner))
            assert await golden_store.answers(stream, learner) == known["answers"], learner
            last = feedback_request("u5", golden_store.truth(learner, 5))
            assert (await stream.ask(last)).learned.lessons == known["lessons"] + 1


async def test_every_form_that_engines_speak_in_is_in_it():
    """By the default learner, and every algorithm beside it."""
    forms = {form for spec, form in golden_store.PLAYED.values() if spec.algorithm == "tied"}
    assert forms == {*FORMS}
    assert {spec.algorithm for spec, _ in golden_store.PLAYED.values()} == {*ALGORITHMS}
