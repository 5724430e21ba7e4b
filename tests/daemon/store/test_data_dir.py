"""The data directory: who may read it, and who holds it."""

import os
import stat

import pytest

from galloon.daemon.errors import StoreLocked
from galloon.daemon.store.protocol import Create, Entry
from galloon.daemon.store.sqlite import SqliteBackend


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def generous():
    """The widest mask that there is: what is made must be narrow by itself."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("generous")
def test_a_new_store_is_its_owners_alone(tmp_path):
    """The directory and every file in it, while it is written to."""
    data = tmp_path / "data"
    backend = SqliteBackend(data)
    backend.write([Entry(backend.transact(Create("a", "{}")), 1, 1, b"what a client said")])
    assert mode(data) == 0o700
    files = {file.name: mode(file) for file in data.iterdir()}
    assert {"galloon.db", "galloon.db-wal", "galloon.db-shm", "acknowledged", "lock"} == set(files)
    assert set(files.values()) == {0o600}
    backend.close()


@pytest.mark.usefixtures("generous")
def test_a_store_that_the_world_could_read_is_closed_to_it(tmp_path):
    """As an older galloon left it; a group that the operator lets in may still look into the directory."""
    SqliteBackend(tmp_path).close()
    tmp_path.chmod(0o755)
    (tmp_path / "galloon.db").chmod(0o644)
    SqliteBackend(tmp_path).close()
    assert (mode(tmp_path), mode(tmp_path / "galloon.db")) == (0o750, 0o600)


def test_a_lock_file_that_was_removed_lets_no_second_daemon_in(tmp_path):
    """The directory itself is locked."""
    first = SqliteBackend(tmp_path)
    (tmp_path / "lock").unlink()
    with pytest.raises(StoreLocked, match="another daemon"):
        SqliteBackend(tmp_path)
    first.close()
    SqliteBackend(tmp_path).close()
