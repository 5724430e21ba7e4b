"""Servers to measure, each in a process of its own: the daemon, the echo. And what a process has used."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_S = 180.0
STOP_S = 60.0
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    address: str
    http_address: str
    pid: int

    def cpu_s(self) -> float:
        """Seconds of processor time used so far, by all its threads."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS

    def memory_bytes(self) -> int:
        """Resident memory."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("Linux says how much memory a process has")


@contextmanager
def echo_server(directory: Path) -> Iterator[Server]:
    with _running([sys.executable, "-m", "bench.echo_server"], directory / "echo.json") as server:
        yield server


@contextmanager
def daemon(directory: Path, *settings: str, profile: Path | None = None) -> Iterator[Server]:
    """`galloon serve` with a store of its own; with `profile` under cProfile, written when it ends."""
    watched = [] if profile is None else ["-m", "cProfile", "-o", str(profile)]
    command = [sys.executable, *watched, "-m", "galloon", "serve", "--listen", "127.0.0.1:0"]
    command += ["--http", "127.0.0.1:0", "--data-dir", str(directory / "data")]
    for setting in settings:
        command += ["--set", setting]
    with _running([*command, "--ready-file"], directory / "daemon.json") as server:
        yield server


@contextmanager
def _running(command: list[str], ready: Path) -> Iterator[Server]:
    log = ready.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen([*command, str(ready)], stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + START_S
        while not ready.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{' '.join(command[:5])} did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.02)
        ports = json.loads(ready.read_text())
        yield Server(ports["grpc"], ports.get("http", ""), process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(STOP_S)
    finally:
        process.kill()
        process.wait()
        ready.unlink(missing_ok=True)
