"""A real disk that is small: a tmpfs of a few megabytes, in a mount namespace of its own, without being root.

`small_disk` mounts it over a folder. Only processes started by `inside` see it there; everybody else finds its
files at `seen`. It goes when the block ends.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path

import pytest

NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


@dataclass(frozen=True, slots=True)
class SmallDisk:
    """`inside` is the command that a process must become to see it."""

    inside: Sequence[str]
    seen: Path

    def fill(self, leave: int) -> None:
        """Take all space but so many bytes; a daemon may be writing meanwhile, so it is tried again."""
        with (self.seen / "filler").open("wb", buffering=0) as file:
            for _ in range(100):
                free = os.statvfs(self.seen)
                wanted = free.f_bavail * free.f_frsize - leave
                if wanted <= 0:
                    return
                try:
                    os.posix_fallocate(file.fileno(), 0, wanted)
                except OSError as error:
                    if error.errno != ENOSPC:
                        raise
                else:
                    return

    def empty(self) -> None:
        (self.seen / "filler").unlink()


@contextmanager
def small_disk(folder: Path, size_bytes: int) -> Iterator[SmallDisk]:
    folder.mkdir(parents=True, exist_ok=True)
    script = 'mount -t tmpfs -o size="$1" none "$0" && echo mounted && exec sleep infinity'
    command = [*NAMESPACE, "sh", "-c", script, str(folder), str(size_bytes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"mounted\n", "a tmpfs could not be mounted"
            inside = ("nsenter", f"--target={holder.pid}", "--user", "--mount", "--preserve-credentials")
            yield SmallDisk(inside, Path(f"/proc/{holder.pid}/root{folder}"))
        finally:
            holder.kill()


def needs_small_disks() -> pytest.MarkDecorator:
    """Skip a test by name where the system lets nobody mount; with GALLOON_NO_SKIP=1 let it fail instead."""
    refused = os.environ.get("GALLOON_NO_SKIP") != "1" and not possible()
    return pytest.mark.skipif(refused, reason="this system allows no mounts in a user namespace")


def possible() -> bool:
    if not all(map(shutil.which, ("unshare", "nsenter"))):
        return False
    trial = [*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0
