"""A daemon of one's own for the length of a command: `local_daemon` starts `galloon serve` and stops it.

`reached` gives a client of the daemon that the user named, or else of one of our own. The own one listens on a
free loopback port and keeps its store in a folder that is thrown away, in memory where the machine has such a
place: nothing of it needs to survive. Entering returns at once, so that the caller can read its files while the
daemon warms up; the address is there when the port is open.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from galloon.clients.api.client import Client
from galloon.clients.api.errors import DaemonFailed, TimedOut, Unreachable
from galloon.clients.api.stream import StreamOptions
from galloon.clients.commands.server_option import ServerOption
from galloon.extras import require_server

START_S = 600.0  # kernels that are not cached yet are compiled first
STOP_S = 30.0
POLL_S = 0.01
LOOK_S = 0.5
COMPILING = '"event": "compiling kernels"'
LOG_LINES = 30
# Nobody else uses it: a heavy learner may take its time, but a daemon that has gone will not come back.
OPTIONS = StreamOptions(timeout_s=120.0, give_up_s=2.0)
IN_MEMORY = Path("/dev/shm")  # noqa: S108  # a folder of unguessable name is made in it, as in any other


class LocalDaemon:
    """One `galloon serve` as a child of this process."""

    def __init__(self, folder: Path, listen: str = "127.0.0.1:0", http: str = "") -> None:
        """Keeps everything in the folder, which may have served another one before."""
        require_server()
        self._look_again, self._told = time.monotonic() + LOOK_S, 0
        self._log, self._ready = folder / "daemon.log", folder / "ready.json"
        self._ready.unlink(missing_ok=True)
        command = [sys.executable, "-m", "galloon", "serve", "--listen", listen, "--http", http]
        command += ["--data-dir", str(folder / "data"), "--ready-file", str(self._ready)]
        # Somebody's configuration of another daemon (TLS, tokens, limits) is not meant for this one.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GALLOON_")}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603  # this interpreter, with arguments of our own
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )

    @property
    def address(self) -> str:
        """host:port, once the daemon serves."""
        return self._ports()["grpc"]

    @property
    def http_address(self) -> str:
        """The same of the page and the metrics; empty if they were not asked for."""
        return self._ports()["http"]

    def wait(self) -> int:
        """Until it ends by itself; its exit status."""
        return self._process.wait()

    def stop(self) -> None:
        """End it in order; a daemon that does not listen is killed, as nothing of it is needed any more."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def log_tail(self) -> str:
        """The end of its log, to be added to a sentence."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
        return "".join(["; its log ends:", *(f"\n  {line}" for line in lines)]) if lines else ""

    def _tell_progress(self) -> None:
        """The first start after an installation compiles kernels, which takes a minute: nobody should wonder."""
        if time.monotonic() < self._look_again:
            return
        self._look_again = time.monotonic() + LOOK_S
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        told = [line for line in lines if COMPILING in line]
        for line in told[self._told :]:
            entry = json.loads(line)
            text = f"compiling kernels, once after the installation: {entry['done']} of {entry['of']}"
            click.echo(text, err=True)
        self._told = len(told)

    def _ports(self) -> dict[str, str]:
        deadline = time.monotonic() + START_S
        while not self._ready.exists():
            status = self._process.poll()
            if status is not None:
                raise Unreachable(f"the daemon for this run ended at once, with status {status}")
            if time.monotonic() > deadline:
                raise Unreachable(f"the daemon for this run did not start in {START_S:g} s")
            self._tell_progress()
            time.sleep(POLL_S)
        ports: dict[str, str] = json.loads(self._ready.read_text(encoding="utf-8"))
        return ports


@contextmanager
def stopped_after(daemon: LocalDaemon) -> Iterator[LocalDaemon]:
    """Lives as long as the block. If it fails the block, the error carries the end of its log."""
    try:
        yield daemon
    except (Unreachable, DaemonFailed, TimedOut) as error:
        raise Unreachable(f"{error}{daemon.log_tail()}") from error
    finally:
        daemon.stop()


@contextmanager
def local_daemon() -> Iterator[LocalDaemon]:
    """A daemon that leaves nothing behind."""
    place = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(prefix="galloon-", dir=place) as folder,
        stopped_after(LocalDaemon(Path(folder))) as daemon,
    ):
        yield daemon


@contextmanager
def reached(server: ServerOption | None) -> Iterator[Callable[[], Client]]:
    """What makes a client, once it is needed: of the daemon that was named, or of one that ends with the block."""
    if server is not None:
        yield server.client
        return
    with local_daemon() as daemon:
        yield lambda: Client(daemon.address, options=OPTIONS)
