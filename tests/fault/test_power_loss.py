"""The short version of the power losses, and that they would see a missing sync."""

import sqlite3
from pathlib import Path

import pytest
import structlog

from galloon.daemon.store.sqlite import SqliteBackend
from galloon.daemon.store.sqlite_schema import FILE_NAME
from tests.fault.power_loss import run
from tests.system import needs


@pytest.fixture(autouse=True)
def _quiet():
    """Every recovery would write a line for each learner."""
    with structlog.testing.capture_logs():
        yield


@needs("gcc")
def test_a_disk_that_forgets_or_garbles_what_was_not_synced_loses_nothing_acknowledged(tmp_path: Path):
    """The state is that of an uninterrupted run over what survived, at every moment of a life."""
    lost = run(tmp_path, points=20, rounds=3, seed=6)
    assert lost.acknowledged > 0
    assert lost.recovered_entries > 0


def test_a_store_whose_making_was_interrupted_is_made_again(tmp_path: Path):
    """A crash may come after the first page of the file and before its tables."""
    database = sqlite3.connect(tmp_path / FILE_NAME)
    database.execute("PRAGMA journal_mode = WAL")
    database.close()
    backend = SqliteBackend(tmp_path)
    assert list(backend.learners()) == []
    backend.close()
