"""The store: a good one is described, every kind of damage is found, and looking changes nothing."""

import re
import sqlite3
from contextlib import closing

import pytest

from galloon.daemon.operate.doctor.finding import Verdict
from galloon.daemon.operate.doctor.storage import check_store, holder
from galloon.daemon.store.sqlite_schema import FILE_NAME
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import ExpertOutput, Utterance, Word
from tests.daemon_process import Daemon, running_daemon

OUTPUTS = (
    ExpertOutput("ann", (Word("a"), Word("b"))),
    ExpertOutput("bob", (Word("a"), Word("c"))),
)


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """The directory of a daemon that learned, made a snapshot, learned on and was killed."""
    from galloon.clients.api.blocking import BlockingClient

    directory = tmp_path_factory.mktemp("used")
    with running_daemon(directory) as daemon, BlockingClient(daemon.address) as client:
        spec = CombinerSpec(engines=("ann", "bob"), algorithm="expanded_hedge", window=2)
        with client.stream("one", spec) as stream:
            for number in range(6):
                choice = stream.choose(Utterance(f"u{number}", OUTPUTS))
                stream.learn(choice.id, TrueText("a c"))
                if number == 2:
                    client.snapshot_learner("one")
        yield daemon


@pytest.fixture
def copy(used: Daemon, tmp_path):
    """A copy of its store, as SQLite itself makes one."""
    with (
        closing(sqlite3.connect(used.data_dir / FILE_NAME)) as source,
        closing(sqlite3.connect(tmp_path / FILE_NAME)) as target,
    ):
        source.backup(target)
    return tmp_path


def verdicts(directory) -> dict[str, str]:
    return {finding.area: finding.verdict for finding in check_store(directory)}


def damage(directory, *statements: str) -> None:
    with closing(sqlite3.connect(directory / FILE_NAME)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def test_no_store_is_no_fault(tmp_path):
    assert verdicts(tmp_path) == {"store": "good"}
    assert list(tmp_path.iterdir()) == []


def test_a_good_store_is_described(copy):
    found = {finding.area: finding for finding in check_store(copy)}
    assert {finding.verdict for finding in found.values()} == {Verdict.GOOD}
    assert "1 learners" in found["store"].what
    assert found["snapshots"].what.startswith("1, ")
    entries, to_replay = map(int, re.findall(r"\d+", found["journal"].what))
    # Six choices, six lessons, and where each was applied; nobody waits for the last of those to be written.
    assert entries in {17, 18}
    assert to_replay == entries - 9


def test_a_store_in_use_can_be_looked_at_and_its_holder_is_known(used):
    assert {*verdicts(used.data_dir).values()} == {"good"}
    assert holder(used.data_dir) == used.pid


def test_a_store_that_nobody_serves_has_no_holder(copy):
    assert holder(copy) is None
    (copy / "lock").write_text("4711\n")
    assert holder(copy) is None


@pytest.mark.parametrize(
    ("statement", "area"),
    [
        ("UPDATE journal SET body = zeroblob(length(body))", "journal"),
        ("UPDATE journal SET body = 'a text'", "journal"),
        ("UPDATE journal SET checksum = checksum + 1 WHERE seq = (SELECT max(seq) FROM journal)", "journal"),
        ("DELETE FROM journal WHERE seq = (SELECT max(seq) - 1 FROM journal)", "journal"),
        ("DELETE FROM journal WHERE seq = (SELECT min(seq) FROM journal)", "journal"),
        ("UPDATE snapshots SET body = substr(body, 1, length(body) - 1)", "snapshots"),
        ("UPDATE snapshots SET body = x'00'", "snapshots"),
        ("UPDATE snapshots SET seq = seq - 1", "snapshots"),
        ("UPDATE learners SET name = 'two'", "learners"),
        ("DELETE FROM learners", "learners"),
        ("PRAGMA application_id = 1", "store"),
        ("PRAGMA user_version = 99", "store"),
    ],
)
def test_damage_is_found(copy, statement, area):
    damage(copy, statement)
    assert verdicts(copy)[area] == "bad"


def test_entries_that_were_acknowledged_and_are_gone_are_missed(used, copy):
    (copy / "acknowledged").write_bytes((used.data_dir / "acknowledged").read_bytes())
    assert verdicts(copy)["acknowledged"] == "good"
    damage(copy, "DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal)")
    assert verdicts(copy)["acknowledged"] == "bad"


def test_bytes_that_are_no_database_are_bad(tmp_path):
    (tmp_path / FILE_NAME).write_bytes(b"not a database at all" * 100)
    assert verdicts(tmp_path) == {"store": "bad"}


def test_a_damaged_page_is_found(copy):
    data = bytearray((copy / FILE_NAME).read_bytes())
    data[8192 : 2 * 8192] = bytes(8192)
    (copy / FILE_NAME).write_bytes(data)
    assert "bad" in verdicts(copy).values()
