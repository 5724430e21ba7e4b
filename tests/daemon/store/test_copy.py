"""A store copied to PostgreSQL and back: the same learners, to the bit."""

import asyncio
import subprocess
import sys

import pytest

from galloon.daemon.errors import ConfigError, StoreLocked
from galloon.daemon.store.copy import copy_all, digest_of
from galloon.daemon.store.protocol import Create, Entry, Forget, SaveSnapshot
from galloon.daemon.store.sqlite import SqliteBackend
from tests.daemon.serving import feedback, serving, utterance
from tests.postgres import needs_postgres, shared


def copied(source, target):
    return dict(copy_all(str(source), str(target)))


def filled(folder):
    """A learner that retention has cut, with a round that goes on across it; an imported one; an empty one."""
    backend = SqliteBackend(folder)
    key = backend.transact(Create("cut", "{}"))
    backend.write([Entry(key, seq, 1, b"%d" % seq, key=seq % 3) for seq in range(1, 8)])
    for seq in (3, 6):
        backend.transact(SaveSnapshot(key, seq, b"at %d" % seq, float(seq)))
    backend.transact(Forget(key, 6))
    backend.transact(Create("imported", "{}", bytes(100_000)))
    backend.transact(Create("empty", "{}"))
    return backend


def test_from_one_directory_to_another(tmp_path):
    backend = filled(tmp_path / "old")
    wanted = {learner.name: digest_of(backend, learner) for learner in backend.learners()}
    backend.close()
    assert copied(tmp_path / "old", tmp_path / "new") == wanted
    again = SqliteBackend(tmp_path / "new")
    assert [entry.seq for entry in again.find(1, 1)] == [1, 4, 7]
    again.close()
    with pytest.raises(ConfigError, match="empty store"):
        copied(tmp_path / "old", tmp_path / "new")
    with pytest.raises(ConfigError, match="no store"):
        copied(tmp_path / "nothing", tmp_path / "new")


@needs_postgres
async def test_to_postgres_and_back_with_a_daemon_on_each(tmp_path):
    """The daemon's own digest of a learner is the same on all three, and it goes on learning."""
    url = shared().new_database()
    async with serving(tmp_path / "old") as daemon:
        stream = await daemon.open()
        for number in range(5):
            await stream.choice(utterance(number))
            await stream.learned(feedback(number))
        await stream.close()
        digest = await daemon.digest()
    told = copied(tmp_path / "old", url)
    async with serving(tmp_path / "unused", store__url=url) as daemon:
        while not daemon.app._membership.view.owners:  # noqa: ASYNC110  # a thread looks around
            await asyncio.sleep(0.05)
        assert await daemon.digest() == digest
        with pytest.raises(StoreLocked, match="stop them first"):
            copied(url, tmp_path / "early")
    assert copied(url, tmp_path / "back") == told
    async with serving(tmp_path / "back") as daemon:
        assert await daemon.digest() == digest


def test_a_postgres_that_is_not_there_is_a_sentence(tmp_path):
    pytest.importorskip("psycopg")
    backend = filled(tmp_path / "old")
    backend.close()
    command = [sys.executable, "-m", "galloon", "store", "copy", str(tmp_path / "old")]
    url = "postgresql://postgres:secret@127.0.0.1:1/x"
    ran = subprocess.run([*command, url], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "cannot be reached" in ran.stderr
    assert "secret" not in ran.stderr
