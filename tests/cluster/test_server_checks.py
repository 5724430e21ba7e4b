"""A PostgreSQL that would lose what was acknowledged is refused, by the name of its setting."""

import subprocess
import sys
import time

import psycopg
import pytest
from structlog.testing import capture_logs

from galloon.daemon.errors import ConfigError, StoreFailed, StoreTooNew
from galloon.daemon.store.postgres_schema import SHARDS, prepare, shard_of, without_password
from tests.postgres import needs_postgres, shared

SHARDS_OF_NAMES = [47, 50, 37]


@needs_postgres
def test_a_server_that_does_not_sync_is_refused():
    url = shared().new_database()
    prepare(url)
    name = url.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
        with pytest.raises(ConfigError, match="synchronous_commit off"):
            prepare(url)
        database.execute(f"ALTER DATABASE {name} RESET synchronous_commit")
        database.execute("ALTER SYSTEM SET fsync = off")
        try:
            database.execute("SELECT pg_reload_conf()")
            while database.execute("SHOW fsync").fetchone() != ("off",):
                time.sleep(0.05)
            with pytest.raises(ConfigError, match="fsync off"):
                prepare(url)
        finally:
            database.execute("ALTER SYSTEM RESET fsync")
            database.execute("SELECT pg_reload_conf()")
            while database.execute("SHOW fsync").fetchone() != ("on",):
                time.sleep(0.05)
    prepare(url)


@needs_postgres
def test_a_server_that_waits_for_no_standby_is_warned_of_by_the_setting():
    url = shared().new_database()
    name = url.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as database, capture_logs() as said:
        prepare(url)
        database.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
        database.execute(f"ALTER DATABASE {name} SET synchronous_commit = local")
        try:
            database.execute("SELECT pg_reload_conf()")
            while database.execute("SHOW synchronous_standby_names").fetchone() != ("nobody",):
                time.sleep(0.05)
            prepare(url)
        finally:
            database.execute("SET synchronous_commit = local")
            database.execute("ALTER SYSTEM RESET synchronous_standby_names")
            database.execute("SELECT pg_reload_conf()")
    warned = [each["setting"] for each in said if each["log_level"] == "warning"]
    assert warned == ["synchronous_standby_names", "synchronous_commit"]


@needs_postgres
def test_a_newer_format_is_refused():
    url = shared().new_database()
    prepare(url)
    with psycopg.connect(url, autocommit=True) as database:
        database.execute("UPDATE galloon.format SET version = 99")
    with pytest.raises(StoreTooNew, match="format 99"):
        prepare(url)


def test_nobody_there():
    with pytest.raises(StoreFailed, match="is PostgreSQL running") as failed:
        prepare("postgresql://user:secret@127.0.0.1:1/galloon")
    assert "secret" not in str(failed.value)


def test_passwords_are_not_shown():
    shown = without_password("postgresql://user:secret@db:5432/galloon?password=other")
    assert shown == "postgresql://user@db:5432/galloon"


def test_the_shard_of_a_name_never_changes():
    """It is stored: daemons of different versions must agree."""
    assert [shard_of(name) for name in ("a", "ocr/lines", "invoices")] == SHARDS_OF_NAMES
    assert {shard_of(f"learner-{number}") for number in range(2000)} == set(range(SHARDS))


def test_where_psycopg_is_missing_the_extra_is_named():
    code = (
        "import sys; sys.modules['psycopg'] = None; from galloon.__main__ import main; "
        "main(['serve', '--store', 'postgresql://127.0.0.1:1/galloon', '--listen', '127.0.0.1:0'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert "galloon[postgresql]" in ran.stderr
    assert "Traceback" not in ran.stderr
