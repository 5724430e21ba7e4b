"""The store on PostgreSQL: its schema, the checks of a server before it is used, and how connections are made.

Tables of the schema `galloon`; learners, snapshots and journal as in `sqlite_schema`, checksums too, and

    members(id, address, started, lease, fenced)   a running daemon; its id is the token that fences its writes
    shards(shard, member)                          whose learners they are; null: nobody's at the moment

A learner belongs to the shard of its name for good. Every write is the owner's alone, see `postgres`.
"""

import time
from hashlib import blake2b
from typing import Any

import psycopg
import structlog

from galloon.daemon.errors import ConfigError, StoreFailed, StoreTooNew

log = structlog.get_logger()
FORMAT = 1
SHARDS = 64
LOCK_CLASS = int.from_bytes(b"GALL", "big") & 0x7FFFFFFF  # of advisory locks: one for each member
SCHEMA_LOCK = 0
SCHEMA = f"""
CREATE SCHEMA IF NOT EXISTS galloon;
CREATE TABLE IF NOT EXISTS galloon.format(version int NOT NULL);
CREATE TABLE IF NOT EXISTS galloon.members(
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, address text NOT NULL,
    started timestamptz NOT NULL DEFAULT clock_timestamp(), lease timestamptz NOT NULL,
    fenced boolean NOT NULL DEFAULT false);
CREATE TABLE IF NOT EXISTS galloon.shards(shard int PRIMARY KEY, member bigint REFERENCES galloon.members);
CREATE TABLE IF NOT EXISTS galloon.learners(
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, shard int NOT NULL,
    spec text NOT NULL, checksum bigint NOT NULL, base bigint NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS galloon.snapshots(
    learner bigint NOT NULL, seq bigint NOT NULL, piece int NOT NULL, pieces int NOT NULL,
    time double precision NOT NULL, body bytea NOT NULL, checksum bigint NOT NULL,
    PRIMARY KEY (learner, seq, piece));
CREATE TABLE IF NOT EXISTS galloon.journal(
    learner bigint NOT NULL, seq bigint NOT NULL, kind bigint NOT NULL, body bytea NOT NULL,
    checksum bigint NOT NULL, key bigint NOT NULL DEFAULT 0, PRIMARY KEY (learner, seq));
CREATE INDEX IF NOT EXISTS journal_round ON galloon.journal(learner, key) WHERE key != 0;
INSERT INTO galloon.format SELECT {FORMAT} WHERE NOT EXISTS (SELECT 1 FROM galloon.format);
INSERT INTO galloon.shards SELECT generate_series(0, {SHARDS - 1}) ON CONFLICT DO NOTHING;
"""  # noqa: S608  # numbers of our own
# A server that is cut off must be noticed in seconds, whatever the system's own patience.
CONNECTION = {
    "connect_timeout": 3,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 5000,
    "application_name": "galloon",
}

REFUSED_WITHIN_S = (
    1.0  # a server that is down says so; one that is cut off says nothing until the timeouts above
)
DOWN_S = 60.0  # that a server may take to start again, or another to take its place


def shard_of(name: str) -> int:
    """The shard that a learner of this name belongs to, on every machine and for good.

    A challenger, `NAME:LABEL`, belongs where its champion does.
    """
    champion = name.partition(":")[0]
    return int.from_bytes(blake2b(champion.encode(), digest_size=8).digest(), "big") % SHARDS


def connect(url: str, **settings: Any) -> "psycopg.Connection[Any]":
    """A connection in autocommit mode: every statement alone is a transaction."""
    # Values of the URL win: an operator may know better.
    chosen: dict[str, Any] = {name: value for name, value in CONNECTION.items() if name not in url}
    connection = psycopg.connect(url, autocommit=True, **chosen)
    for name, value in settings.items():
        connection.execute(f"SET {name} = {value}")
    return connection


class Patience:
    """With a server that does not answer: how long to try again before a daemon gives up.

    Where attempts run into their timeouts, this daemon is cut off, and others take over when its lease is over:
    so long it tries. Where they are refused at once, the server itself is down or starting, and nobody can take
    anything over: it may take its time.
    """

    def __init__(self, lease_s: float) -> None:
        self._lease_s = lease_s
        self.reached()

    def reached(self) -> None:
        self._since = time.monotonic()

    @property
    def silent_s(self) -> float:
        return time.monotonic() - self._since

    def is_over(self, attempt_s: float) -> bool:
        """After an attempt that failed in so many seconds."""
        refused = attempt_s < REFUSED_WITHIN_S
        return self.silent_s > (max(DOWN_S, self._lease_s) if refused else self._lease_s)


def prepare(url: str) -> None:
    """Make the tables if there are none, and refuse a server that would lose what it acknowledged."""
    try:
        with connect(url) as connection:
            _check_durable(connection)
            # Daemons that start together must not make the tables together.
            connection.execute("SELECT pg_advisory_lock(%s, %s)", (LOCK_CLASS, SCHEMA_LOCK))
            connection.execute(SCHEMA)
            (version,) = connection.execute("SELECT version FROM galloon.format").fetchone() or (0,)
            if version > FORMAT:
                raise StoreTooNew(
                    f"{without_password(url)}: written in format {version}, this galloon reads up to {FORMAT}: "
                    "upgrade galloon"
                )
    except psycopg.ProgrammingError as error:
        raise ConfigError(
            f"store.url: {without_password(url)}: {_sentence(error)}; write "
            "postgresql://user@host/database, and let the user create a schema there"
        ) from error
    except psycopg.OperationalError as error:
        raise StoreFailed(
            f"{without_password(url)}: cannot be reached: {_sentence(error)}; is PostgreSQL running?"
        ) from error


def _check_durable(connection: "psycopg.Connection[Any]") -> None:
    names = ("fsync", "synchronous_commit", "synchronous_standby_names")
    found = {name: (connection.execute(f"SHOW {name}").fetchone() or ("",))[0] for name in names}
    for name in names[:2]:
        if found[name] == "off":
            raise ConfigError(
                f"store.url: this PostgreSQL has {name} off, so it would lose what galloon acknowledged; set "
                f"{name} = on"
            )
    if not found["synchronous_standby_names"] or found["synchronous_commit"] == "local":
        missing = "synchronous_commit" if found["synchronous_standby_names"] else "synchronous_standby_names"
        log.warning(
            "PostgreSQL has no synchronous standby: what was acknowledged is lost with its disk",
            setting=missing,
        )


def without_password(url: str) -> str:
    """For messages and logs."""
    scheme, separator, rest = url.partition("://")
    user, at, place = rest.rpartition("@")
    return f"{scheme}{separator}{user.partition(':')[0]}{at}{place.partition('?')[0]}"


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())
