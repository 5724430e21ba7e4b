"""`galloon store copy`: every learner with its whole history from one store into another, empty one.

From SQLite to PostgreSQL, back, or from one to another of the same kind. No daemon may serve either meanwhile.
What was copied is read again and compared; the digest of a learner is one of its spec, snapshots and entries.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import click

from galloon.daemon.config import POSTGRES, Log
from galloon.daemon.errors import ConfigError, DaemonError, StoreFailed
from galloon.daemon.operate import logs
from galloon.daemon.store.protocol import (
    NO_KEY,
    Backend,
    Create,
    Entry,
    Forget,
    SaveSnapshot,
    StoredEntry,
    StoredLearner,
)
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.daemon.store.sqlite_schema import FILE_NAME

AT_ONCE = 500  # entries


@click.group()
def store() -> None:
    """Look after stores: see galloon store copy --help."""


@store.command()
@click.argument("source")
@click.argument("target")
def copy(source: str, target: str) -> None:
    """Copy every learner, with all of its history, from one store into another, empty one.

    A store is a data directory (SQLite) or a URL (postgresql://...). Stop the daemons of both first.

    \b
    Examples:
      galloon store copy galloon-data postgresql://galloon@db.example/galloon
      galloon store copy postgresql://galloon@db.example/galloon copied-back
    """  # noqa: D301  # the command line library wants the character itself
    logs.configure(Log(level="error"))
    try:
        for name, digest in copy_all(source, target):
            click.echo(f"{digest}  {name}")
    except ConfigError as error:
        click.echo(f"galloon store copy: {error}", err=True)
        sys.exit(2)
    except DaemonError as error:
        click.echo(f"galloon store copy: {error}", err=True)
        sys.exit(1)


def copy_all(source: str, target: str) -> Iterator[tuple[str, str]]:
    """Copy every learner; gives the name and digest of each as it is done."""
    if not _is_url(source) and not (Path(source) / FILE_NAME).is_file():
        raise ConfigError(f"{source}: there is no store in this directory")
    with _opened(source) as old, _opened(target) as new:
        if next(iter(new.learners()), None) is not None:
            raise ConfigError(f"{target}: there are learners in it already; copy into an empty store")
        for learner in old.learners():
            yield learner.name, copy_learner(old, new, learner)


def copy_learner(old: Backend, new: Backend, learner: StoredLearner) -> str:
    """Copy one, read both, and give the digest that they share."""
    known = old.snapshots(learner.key)
    first = old.snapshot(learner.key, 0) if known and known[0].seq == 0 else None
    key = new.transact(Create(learner.name, learner.spec, first))
    entries = _entries(old, learner)
    while part := list(islice(entries, AT_ONCE)):
        new.write([Entry(key, entry.seq, entry.kind, entry.body, None, entry.key) for entry in part])
    for snapshot in known:
        if snapshot.seq:
            body = old.snapshot(learner.key, snapshot.seq)
            new.transact(SaveSnapshot(key, snapshot.seq, body, snapshot.time))
    if learner.base:
        new.transact(Forget(key, learner.base))
    copied = next(each for each in new.learners() if each.key == key)
    found, wanted = digest_of(new, copied), digest_of(old, learner)
    if found != wanted:
        raise StoreFailed(f"learner {learner.name!r} is not the same after the copy: {found}, {wanted}")
    return wanted


def digest_of(backend: Backend, learner: StoredLearner) -> str:
    """Of everything that is stored of a learner, but for the key that its store gave it."""
    seen = blake2b(f"{learner.name}\n{learner.spec}\n{learner.base}\n".encode(), digest_size=16)
    for entry in _entries(backend, learner):
        seen.update(f"{entry.seq} {entry.kind} {entry.key} {len(entry.body)}\n".encode() + entry.body)
    for snapshot in backend.snapshots(learner.key):
        seen.update(f"{snapshot.seq} {snapshot.time!r} {snapshot.size}\n".encode())
        seen.update(backend.snapshot(learner.key, snapshot.seq))
    return seen.hexdigest()


def _entries(backend: Backend, learner: StoredLearner) -> Iterator[StoredEntry]:
    """All of them: before the base only those of rounds that go on after it."""
    if learner.base:
        keys = dict.fromkeys(entry.key for entry in backend.journal(learner.key, 0) if entry.key != NO_KEY)
        older = {
            entry.seq: entry
            for key in keys
            for entry in backend.find(learner.key, key)
            if entry.seq <= learner.base
        }
        yield from (older[seq] for seq in sorted(older))
    yield from backend.journal(learner.key, 0)


@contextmanager
def _opened(place: str) -> Iterator[Backend]:
    if not _is_url(place):
        backend: Backend = SqliteBackend(Path(place))
        try:
            yield backend
        finally:
            backend.close()
        return
    # Imported late: an extra brings what it needs.
    from galloon.daemon.store.membership import Membership
    from galloon.daemon.store.postgres import PostgresBackend

    membership = Membership(place, lease_s=60.0)
    member = membership.join()
    try:
        membership.claim_all()
        backend = PostgresBackend(place, member)
        try:
            yield backend
        finally:
            backend.close()
    finally:
        membership.leave()


def _is_url(place: str) -> bool:
    return place.startswith(POSTGRES)
