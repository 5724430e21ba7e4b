"""A real PostgreSQL on a free loopback port, in a folder of its own; tests are skipped by name where none is.

`running()` gives a `Server`: it can be stopped, killed, started again, and has a fresh database for everybody who
asks. initdb refuses root, so root becomes the user `postgres` for it.
"""

import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path

import psycopg
import pytest

from galloon.daemon.store.membership import Membership
from galloon.daemon.store.postgres import PostgresBackend

PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)
needs_postgres = pytest.mark.skipif(
    PROGRAMS is None and os.environ.get("GALLOON_NO_SKIP") != "1",
    reason="PostgreSQL is not installed (Debian: postgresql)",
)
_SETTINGS = {
    "listen_addresses": "'127.0.0.1'",
    "fsync": "on",
    "synchronous_commit": "on",
    "shared_buffers": "'32MB'",
    "max_connections": 100,
    "autovacuum_naptime": "'10s'",
    "dynamic_shared_memory_type": "mmap",  # in its folder, where a killed server leaves nothing behind
}

START_ATTEMPTS = 5
SYNCHRONOUS = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"


class Server:
    """One PostgreSQL. Its settings may be changed while it is stopped."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self._numbers = count()

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of a database that nobody has used."""
        name = f"galloon_{os.getpid()}_{next(self._numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def set(self, **settings: object) -> None:
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())

    def promote(self) -> None:
        """A standby becomes the server."""
        _run("pg_ctl", "-D", self._data, "-w", "-t", "60", "promote")

    def start(self) -> None:
        """Also where the port, or the memory of a server that was killed, is not free at once."""
        for attempt in range(START_ATTEMPTS):
            try:
                _run("pg_ctl", "-D", self._data, "-w", "-t", "60", "-l", str(self.folder / "log"), "start")
            except AssertionError as error:
                if attempt == START_ATTEMPTS - 1:
                    said = (self.folder / "log").read_text(errors="replace")[-2000:]
                    raise AssertionError(f"{error}\n{said}") from error
                time.sleep(1.0)
            else:
                return

    def stop(self, mode: str = "fast") -> None:
        _run("pg_ctl", "-D", self._data, "-w", "-t", "60", "-m", mode, "stop")

    def kill(self) -> None:
        """SIGKILL to the whole server, as a crash of its machine would look to clients."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGSTOP)  # or it would have more children by the time that these are gone
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        everyone = (pid, *map(int, children))
        for each in everyone:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        while any(map(_is_alive, everyone)):  # they would share memory with the next server
            time.sleep(0.02)
        # Where nobody has waited for its process, that still has its number, and would count as another server.
        (self.folder / "data" / "postmaster.pid").unlink()

    @property
    def _data(self) -> str:
        return str(self.folder / "data")


_OPEN = ExitStack()
atexit.register(_OPEN.close)


@cache
def shared() -> Server:
    """The server of this process's tests, until it ends."""
    return _OPEN.enter_context(running())


@cache
def database_of(folder: Path) -> str:
    """The database that stands for a folder."""
    return shared().new_database()


class SoleMember(PostgresBackend):
    """A store on PostgreSQL whose only member has everything, opened like one in a folder."""

    def __init__(self, folder: Path) -> None:
        self.membership = Membership(database_of(folder), lease_s=60.0)
        super().__init__(database_of(folder), self.membership.join())
        self.membership.claim_all()

    def close(self) -> None:
        super().close()
        self.membership.leave()


class Replicated:
    """A server and its synchronous standby, as one that a cluster is given."""

    def __init__(self, primary: Server, standby: Server) -> None:
        self.primary, self.standby = primary, standby

    def new_database(self) -> str:
        """The URL of a database that nobody has used, at whichever of the two takes writes."""
        before, _, name = self.primary.new_database().rpartition("/")
        return f"{before},127.0.0.1:{self.standby.port}/{name}?target_session_attrs=read-write"


@contextmanager
def running(*, public: bool = False) -> Iterator[Server]:
    """A server on loopback; `public` for network namespaces too."""
    with _ending() as server:
        _run("initdb", "-D", server._data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8")
        server.set(port=server.port, unix_socket_directories=f"'{server.folder}'", **_SETTINGS)
        if public:
            server.set(listen_addresses="'*'")
            with (server.folder / "data" / "pg_hba.conf").open("a") as file:
                file.write("host all all 198.18.0.0/15 trust\n")
        server.start()
        yield server


@contextmanager
def replicated() -> Iterator[Replicated]:
    """A server that acknowledges what is durable on its standby too."""
    with running() as primary, _ending() as standby:
        _run("pg_basebackup", "-d", primary.url(), "-D", standby._data, "-R", "-c", "fast")
        standby.set(port=standby.port, unix_socket_directories=f"'{standby.folder}'")
        standby.start()
        with psycopg.connect(primary.url(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
            while not connection.execute(SYNCHRONOUS).fetchone():
                time.sleep(0.05)
        yield Replicated(primary, standby)


@contextmanager
def _ending() -> Iterator[Server]:
    """A server without files so far, which ends with the block."""
    # In memory where there is such a place: what a test waits for is not the disk.
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="galloon-pg-", dir=place))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = Server(folder, free.getsockname()[1])
    if os.getuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    try:
        yield server
    finally:
        subprocess.run(
            _command("pg_ctl", "-D", server._data, "-m", "immediate", "stop"),
            capture_output=True,
            check=False,
        )
        shutil.rmtree(folder, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _run(program: str, *arguments: str) -> None:
    ran = subprocess.run(_command(program, *arguments), capture_output=True, text=True, cwd="/", check=False)
    assert ran.returncode == 0, f"{program} {' '.join(arguments)}: {ran.stdout} {ran.stderr}"


def _command(program: str, *arguments: str) -> list[str]:
    assert PROGRAMS is not None
    command = [str(PROGRAMS / program), *arguments]
    return ["runuser", "-u", "postgres", "--", *command] if os.getuid() == 0 else command
