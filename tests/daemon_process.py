"""A real daemon for tests: `galloon serve` in a process of its own, on free loopback ports, with its own store.

`Daemon.start` returns when the ports are open; `kill` is SIGKILL, `stop` is SIGTERM and a clean end. After either
it can be started again on the same ports and store.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# Generous: kernels are cached, but a machine may be busy with other tests.
START_S = 120.0
STOP_S = 60.0


class Daemon:
    """One data directory and the process that serves it, if any."""

    def __init__(
        self,
        directory: Path,
        *settings: str,
        environment: dict[str, str] | None = None,
        inside: Sequence[str] = (),
        python: str = sys.executable,
    ) -> None:
        """`settings` are SECTION.KEY=VALUE, as for --set; `inside` is a command that becomes the daemon, such as
        nsenter; `python` may be that of another version.
        """
        self._python = python
        self.directory, self.settings, self._inside = directory, settings, inside
        self.environment = environment or {}
        self.data_dir = directory / "data"
        self.log = directory / "daemon.log"
        self.address = f"127.0.0.1:{free_port()}"
        self.http_address = f"127.0.0.1:{free_port()}"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None, "the daemon is not running"
        return self.process.pid

    def start(self) -> "Daemon":
        assert self.process is None, "the daemon is running already"
        self.directory.mkdir(parents=True, exist_ok=True)
        ready = self.directory / "ready.json"
        ready.unlink(missing_ok=True)
        command = [*self._inside, self._python, "-m", "galloon", "serve", "--listen", self.address]
        command += ["--http", self.http_address, "--data-dir", str(self.data_dir), "--ready-file", str(ready)]
        for setting in self.settings:
            command += ["--set", setting]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
            )
        deadline = time.monotonic() + START_S
        while not ready.exists():
            status = self.process.poll()
            if status is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"the daemon did not start (status {status}):\n{self.log_tail()}")
            time.sleep(0.02)
        ports = json.loads(ready.read_text())
        assert (ports["grpc"], ports["http"]) == (self.address, self.http_address), ports
        return self

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self) -> int:
        """Ask it to end; its exit status."""
        assert self.process is not None, "the daemon is not running"
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_S)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"the daemon did not stop:\n{self.log_tail()}") from error
        finally:
            self.kill()

    def log_tail(self, lines: int = 40) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


@contextmanager
def running_daemon(
    directory: Path, *settings: str, environment: dict[str, str] | None = None, python: str = sys.executable
) -> Iterator[Daemon]:
    """A daemon that ends with the block, however the block ends."""
    daemon = Daemon(directory, *settings, environment=environment, python=python)
    try:
        yield daemon.start()
    finally:
        daemon.kill()


def free_port() -> int:
    """A port that was free a moment ago; nobody else on the machine should take it that soon."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
