"""Rounds that are erased: nothing that they said is left in any file, and the learner goes on without them."""

import shutil

import psycopg
import pytest

from galloon.daemon.config import Store
from galloon.daemon.learner.events import Erased, from_entry
from galloon.daemon.learner.exchange import rebuild
from galloon.daemon.operate.retention import Retention
from galloon.daemon.store import journal
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import history_pb2, history_pb2_grpc, utterance_pb2
from tests.daemon.learner.test_challengers import caught_up, challenge, until
from tests.daemon.learner.test_update import refusal, said, spec, state, told
from tests.daemon.serving import serving
from tests.postgres import database_of, needs_postgres

ROUNDS = 12
SECRET = ("Mrzgelwitz", "Aberquondam", "Zweifelhaft")


def secret(number, label="ann-smith"):
    """An utterance that must be erasable, and what is true of it."""
    outputs = [
        utterance_pb2.EngineOutput(engine=engine, words=[*SECRET[: 2 + place], f"x{number}"])
        for place, engine in enumerate(("ann", "bob"))
    ]
    return utterance_pb2.Utterance(
        id=f"s{number}",
        outputs=utterance_pb2.EngineOutputs(engines=outputs),
        labels={"person": label},
    )


def secret_told(number):
    return wire.Feedback(id=f"s{number}", true_text=" ".join(SECRET))


async def play(stream, with_secrets=True):
    for number in range(ROUNDS):
        await stream.choice(said(number))
        if number % 4 == 1 and with_secrets:
            await stream.choice(secret(number))
            if number != 9:
                await stream.learned(secret_told(number))
        if number % 3:
            await stream.learned(told(number))


def erased(daemon, *ids, **more):
    history = history_pb2_grpc.HistoryServiceStub(daemon.channel)
    return history.EraseRounds(history_pb2.EraseRoundsRequest(name="test", ids=ids, **more))


def files_with(folder, words=SECRET):
    """The files in which one of these words stands, in UTF-8 or in UTF-16."""
    found = set()
    for path in folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        if any(word.encode(code) in data for word in words for code in ("utf-8", "utf-16-le")):
            found.add(path.name)
    return found


@pytest.fixture
def plainly(monkeypatch):
    """Entries are written as they are, so that a word can be found in a file."""
    monkeypatch.setattr(journal, "packed", lambda entry: entry)


async def test_a_client_never_sends_again_by_itself_what_was_erased(tmp_path):
    """The daemon says from which round on its history is whole, also when it has been started again."""
    asked = wire.Open(learner="test", unsure_ids=["s1"])
    async with serving(tmp_path) as daemon:
        await play(await daemon.open("test", spec()))
        await erased(daemon, "s1")
        assert (await daemon.stream().opened(asked)).whole_from == ROUNDS + 3
    for _ in range(2):
        async with serving(tmp_path) as daemon:
            opened = await daemon.stream().opened(asked)
            assert opened.rounds[0].state == wire.ROUND_STATE_UNKNOWN
            assert opened.whole_from == ROUNDS + 3
            stream = await daemon.open("test", spec())
            await stream.choice(said(ROUNDS))
            await stream.learned(told(ROUNDS))
            await daemon.app.registry.find("test").snapshot()


@pytest.mark.usefixtures("plainly")
async def test_nothing_that_was_said_is_left_in_any_file(tmp_path):
    ids = ("s1", "s5", "s9")
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec())
        await play(stream)
        learner = daemon.app.registry.find("test")
        await learner.snapshot()
        await learner.written()
        assert files_with(tmp_path)
        learner.books.count_some(learner.recorded(), 10.0)
        counted = learner.books.counted
        done = await erased(daemon, *ids, "nobody")
        assert (done.erased, list(done.unknown_ids)) == (3, ["nobody"])
        assert done.lessons == 8
        assert not files_with(tmp_path), "while it serves, in the write-ahead log too"
        assert learner.books.counted == counted - 2
        again = await erased(daemon, *ids)
        assert (again.erased, again.erased_before, list(again.unknown_ids)) == (0, 3, [])
        problem = await stream.problem(secret_told(9))
        assert problem.reason == wire.REASON_UNKNOWN_ROUND
        events = [from_entry(entry) for entry in learner.recorded().entries(0)]
        (event,) = [each for each in events if isinstance(each, Erased)]
        assert event.ids == ids
        straight = await daemon.open("straight", spec())
        await play(straight, with_secrets=False)
        assert learner.rounds.pending == daemon.app.registry.find("straight").rounds.pending
        await stream.choice(said(100))
        after = await state(daemon)
        await rebuild(learner, "a test")
        assert await state(daemon) == after, "the history makes the same of it"
    assert not files_with(tmp_path)
    async with serving(tmp_path) as daemon:
        assert await state(daemon) == after
        stream = await daemon.open("test", spec())
        await stream.choice(secret(1))  # the id is free again, for another round
        await daemon.app._erasing.look(daemon.app.registry.find("test"))
        assert (await stream.learned(secret_told(1))).lessons == 9


@pytest.mark.usefixtures("plainly")
async def test_a_restored_backup_is_erased_again(tmp_path):
    data, backup = tmp_path / "data", tmp_path / "backup"
    async with serving(data) as daemon:
        await play(await daemon.open("test", spec()))
    shutil.copytree(data, backup)
    async with serving(data) as daemon:
        assert (await erased(daemon, label="person", label_value="ann-smith")).erased == 3
        after = await state(daemon)
    shutil.copy(data / "erased.jsonl", backup)  # all else is of before
    assert "Mrzgelwitz" not in (backup / "erased.jsonl").read_text()
    assert files_with(backup)
    async with serving(backup) as daemon:
        await daemon.app._housekeeping._erase_what_is_left(daemon.app.registry.learners())
        assert await state(daemon) == after
        assert not files_with(backup)


async def test_what_may_not_be_erased_is_said(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec())
        await play(stream)
        for request in (erased(daemon), erased(daemon, "s1", label="person")):
            assert (await refusal(request))[0] == "INVALID_ARGUMENT"
        assert (await refusal(erased(daemon, *map(str, range(10_001)))))[0] == "RESOURCE_EXHAUSTED"
        learner = daemon.app.registry.find("test")
        await learner.snapshot()
        await stream.learned(told(0))
        await Retention(daemon.app._journal, Store(history_bytes=1), lambda: 0.0).look([learner])
        assert (await erased(daemon, "s1")).unknown_ids == ["s1"], "retention has taken it"
        code, words = await refusal(erased(daemon, "u0"))
        assert code == "INVALID_ARGUMENT"
        assert "began before the history was cut" in words
        assert not (tmp_path / "erased.jsonl").exists()
        done = await erased(daemon, "u0", accept_loss=True)
        assert (done.erased, done.lessons) == (1, 0)
        after = await state(daemon)
    async with serving(tmp_path) as daemon:
        assert await state(daemon) == after


@needs_postgres
@pytest.mark.usefixtures("plainly")
async def test_no_table_of_postgresql_has_it_either(tmp_path):
    url = database_of(tmp_path)

    def tables_with() -> set[str]:
        with psycopg.connect(url) as connection:
            return {
                table
                for table in ("journal", "snapshots", "learners")
                for (row,) in connection.execute(f"SELECT {table}::text FROM galloon.{table}")
                if any(word in row or word.encode().hex() in row for word in SECRET)
            }

    async with serving(tmp_path, store__url=url) as daemon:
        await until(lambda: daemon.app._membership.view.owners)
        await play(await daemon.open("test", spec()))
        await daemon.app.registry.find("test").written()
        assert tables_with() == {"journal"}
        assert (await erased(daemon, label="person", label_value="ann-smith")).erased == 3
        assert not tables_with()
        assert not files_with(tmp_path)


async def test_challengers_forget_it_too(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open("test", spec())
        await play(stream)
        await challenge(daemon)
        await caught_up(daemon)
        (challenger,) = daemon.app.registry.challengers("test")
        learner = daemon.app.registry.find("test")
        await until(lambda: challenger.books.counted == learner.books.counted > 0)
        assert challenger.rounds.find("s1")
        await erased(daemon, "s1", "s5", "s9")
        assert not any(challenger.recorded().has(id_) for id_ in ("s1", "s5", "s9"))
        assert challenger.recorded().has("u1")
        await until(lambda: challenger.books.counted == learner.books.counted > 0)
        assert {rates.corrections for rates in challenger.books.rates.values()} == {learner.books.counted}
