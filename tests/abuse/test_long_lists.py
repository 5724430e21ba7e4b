"""Lists in pages of a bounded size, whatever is in them: no answer holds the memory or the loop for long."""

from pathlib import Path

from galloon import Client
from galloon.daemon.learner import past_rounds
from galloon.daemon.rpc import management
from galloon.v1 import history_pb2, history_pb2_grpc, learners_pb2
from tests.daemon.serving import serving, simple_spec, utterance


async def test_rounds_that_are_asked_for_by_their_ids_come_in_pages_too(tmp_path: Path, monkeypatch):
    """A thousand utterances of a megabyte would be a gigabyte in one answer."""
    monkeypatch.setattr(past_rounds, "PAGE_BYTES", 1500)
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        for number in range(8):
            await stream.choice(utterance(number))
        ids = ["never", *(f"u{number}" for number in range(8)), "nor this"]
        history = history_pb2_grpc.HistoryServiceStub(daemon.channel)
        first = await history.ListRounds(
            history_pb2.ListRoundsRequest(name="test", ids=ids, with_utterances=True)
        )
        assert 0 < len(first.rounds) < 8
        async with Client(daemon.app.address) as client:
            unknown: list[str] = []
            found = [round_.id async for round_ in client.past_rounds("test", ids=ids, unknown=unknown)]
    assert found == [f"u{number}" for number in range(8)]
    assert unknown == ["never", "nor this"]


async def test_learners_with_large_specs_come_in_pages_by_size(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(management, "PAGE_BYTES", 100)
    async with serving(tmp_path) as daemon:
        names = [f"learner-{number}" for number in range(7)]
        for name in names:
            await daemon.learners.CreateLearner(
                learners_pb2.CreateLearnerRequest(name=name, spec=simple_spec())
            )
        first = await daemon.learners.ListLearners(learners_pb2.ListLearnersRequest())
        assert 0 < len(first.learners) < 7
        async with Client(daemon.app.address) as client:
            assert [learner.name for learner in await client.list_learners()] == names
