#!/usr/bin/env python3
"""Lives through a day of the image that build_image.sh made, with nothing but what the image says of itself.

Environment, user, entrypoint and health check are those of the image. The root is read-only, /data is the only
place to write, the daemon is process 1. It must load every kernel without compiling, become healthy, learn from
the bundled sample, end in order on SIGTERM, and know everything again after a restart. Needs root, buildah and
unshare. Prints one JSON object.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

IMAGE = os.environ.get("IMAGE", "localhost/galloon:latest")
BUILDAH = str(Path(__file__).with_name("buildah.sh"))
LINES = int(os.environ.get("LINES_PLAYED", "60"))
START_S, STOP_S = 180.0, 60.0
# As a container engine does it: mounts of its own, process 1 of its own, then the user, for good.
ENTER = """
root=$1 data=$2 user=$3; shift 3
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
mount --bind "$data" "$root/data"
exec chroot --userspec="$user" --groups= "$root" env -i --chdir=/data "$@"
"""


class Container:
    """The image's file system, read-only, with a data directory of ours."""

    def __init__(self, root: Path, config: dict[str, Any], data: Path, log: Path) -> None:
        self.root, self.config, self.data, self.log = root, config, data, log
        user, _, group = config["User"].partition(":")
        assert re.fullmatch("[1-9][0-9]*:[1-9][0-9]*", config["User"]), f"runs as {config['User']!r}"
        data.mkdir(mode=0o700)
        os.chown(data, int(user), int(group))
        self.grpc, self.http = _free_address(), _free_address()
        # The network is the host's, where somebody may have the ports of the image.
        own = [f"GALLOON_SERVER_LISTEN={self.grpc}", f"GALLOON_HTTP_LISTEN={self.http}"]
        self.environment = [*config["Env"], *own]

    def command(self, *arguments: str) -> list[str]:
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
        inside = [str(self.root), str(self.data), self.config["User"], *self.environment, *arguments]
        return [*unshare, "bash", "-ec", ENTER, "enter", *inside]

    def run(self, *arguments: str) -> str:
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    @contextlib.contextmanager
    def serving(self) -> Iterator[subprocess.Popen[bytes]]:
        """The daemon as the image starts it, healthy; afterwards it is gone, however the block ends."""
        with self.log.open("ab") as log:
            outer = subprocess.Popen(
                self.command(*self.config["Entrypoint"], *self.config["Cmd"]), stdout=log, stderr=log
            )
        try:
            self._wait_until_healthy(outer)
            yield outer
        finally:
            if outer.poll() is None:
                outer.kill()  # --kill-child takes the daemon along
                outer.wait()

    def _wait_until_healthy(self, outer: subprocess.Popen[bytes]) -> None:
        check = self.config["Healthcheck"]["Test"]
        assert check[0] == "CMD", check
        deadline = time.monotonic() + START_S
        while subprocess.run(self.command(*check[1:]), capture_output=True, check=False).returncode != 0:
            alive = outer.poll() is None and time.monotonic() < deadline
            assert alive, f"the daemon did not become healthy:\n{self.log.read_text()}"
            time.sleep(0.5)

    def stop(self, outer: subprocess.Popen[bytes]) -> None:
        """Send the image's stop signal to its process 1, which must end by itself and in order."""
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()
        assert len(children) == 1, children
        os.kill(int(children[0]), signal.Signals[self.config["StopSignal"]])
        status = outer.wait(STOP_S)
        assert status == 0, f"ended with status {status}:\n{self.log.read_text()}"

    def lessons(self) -> int:
        ask = f"import urllib.request as u; print(u.urlopen('http://{self.http}/metrics').read().decode())"
        text = self.run("python3", "-c", ask)
        found = re.search(r'^galloon_learner_lessons\{learner="trial"\} (\S+)$', text, re.MULTILINE)
        assert found, text
        return int(float(found[1]))


def main() -> None:
    name = _buildah("from", "--pull-never", IMAGE)
    try:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(_try(name, Path(folder)), indent=2))
    finally:
        _buildah("umount", name)
        _buildah("rm", name)


def _try(name: str, folder: Path) -> dict[str, Any]:
    config = json.loads(_buildah("inspect", "--type", "image", IMAGE))["Docker"]["config"]
    container = Container(Path(_buildah("mount", name)), config, folder / "data", folder / "daemon.log")
    figures: dict[str, Any] = {"user": config["User"]}
    _refuses_to_write(container)
    verdicts = {finding["area"]: finding for finding in _doctor(container)}
    assert verdicts["kernels"]["verdict"] == "good", verdicts["kernels"]
    figures["kernels"] = verdicts["kernels"]["what"]
    started = time.monotonic()
    with container.serving() as daemon:
        figures["healthy_after_s"] = round(time.monotonic() - started, 1)
        figures["played"] = _play(container)
        before = container.lessons()
        assert before == LINES, before
        started = time.monotonic()
        container.stop(daemon)
        figures["stopped_after_s"] = round(time.monotonic() - started, 1)
    with container.serving() as daemon:
        assert container.lessons() == before, "the restart forgot lessons"
        _play(container)
        assert container.lessons() == before + LINES
        figures["lessons"] = before + LINES
        container.stop(daemon)
    log = container.log.read_text()
    assert log.count('"event": "stopped"') == 2, log
    assert "compiled at run time" not in log, log
    left = {path.name for path in container.data.iterdir()}
    assert left <= {"galloon.db", "lock", "acknowledged"}, left
    return figures


def _refuses_to_write(container: Container) -> None:
    """The root really is read-only, or the rest proves nothing."""
    probe = (
        "import os, sys; sys.exit(any(os.access(p, os.W_OK) for p in ('/', '/tmp', '/opt/galloon', '/etc')))"
    )
    container.run("python3", "-c", probe)


def _doctor(container: Container) -> list[dict[str, str]]:
    findings: list[dict[str, str]] = json.loads(container.run("galloon", "doctor", "--json"))["findings"]
    wrong = [finding for finding in findings if finding["verdict"] == "bad"]
    assert not wrong, wrong
    return findings


def _play(container: Container) -> dict[str, Any]:
    sample = container.run(
        "python3", "-c", "from galloon.clients.samples import *; print(ocr_sample())"
    ).strip()
    played = container.run(
        *("galloon", "replay", sample, "--server", container.grpc, "--name", "trial"),
        *("--limit", str(LINES), "--json"),
    )
    summary = json.loads(played)
    return {
        "utterances": summary["utterances"],
        "galloon": summary["galloon"]["wer"],
        "vote": summary["vote"]["wer"],
    }


def _buildah(*arguments: str) -> str:
    done = subprocess.run([BUILDAH, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def _free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


if __name__ == "__main__":
    if os.getuid() != 0:
        sys.exit("try_image.py: must run as root: it changes into the image's root file system")
    main()
