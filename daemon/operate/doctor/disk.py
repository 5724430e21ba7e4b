"""The disk of the data directory: what it is, how much is free, and how long a sync takes there.

Every acknowledged feedback waits for a sync, so this time is what clients feel. Nothing is left behind.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from galloon.daemon.operate.doctor.finding import Finding, bad, doubtful, good

SYNCS = 24
PAGE = bytes(8192)  # the page of the database
SLOW_SYNC_S = 0.02
# No disk keeps anything in less; only memory is that quick.
INSTANT_SYNC_S = 0.00005
NETWORK = set("nfs nfs4 cifs smb3 9p ceph glusterfs afs fuse.sshfs fuse.s3fs fuse.gcsfuse".split())
MEMORY = {"tmpfs", "ramfs"}
LEAST_FREE = 100 * 2**20
ENOUGH_FREE = 2**30


@dataclass(frozen=True, slots=True)
class Sync:
    """Seconds of some syncs."""

    median_s: float
    worst_s: float


def check_disk(data_dir: Path) -> Iterator[Finding]:
    """The disk that holds this directory, or will."""
    home = _nearest(data_dir)
    if not os.access(home, os.W_OK | os.X_OK):
        yield bad(
            "disk", f"{home}: not writable", f"let user {os.getuid()} write there, or set store.data_dir"
        )
        return
    yield check_type(home, file_system(home))
    yield check_space(home, shutil.disk_usage(home).free)
    yield check_sync(home, measure_sync(home))


def check_type(home: Path, kind: str) -> Finding:
    text = f"{home} is on {kind}"
    if kind in NETWORK:
        return bad(
            "disk", text, "put store.data_dir on a disk of this machine: SQLite's log cannot be shared"
        )
    if kind in MEMORY:
        return doubtful(
            "disk", text, "this is memory: everything learned is gone after a restart of the machine"
        )
    if kind == "overlay":
        return doubtful("disk", text, "mount a volume there: everything learned is gone with the container")
    return good("disk", text)


def check_space(home: Path, free: int) -> Finding:
    text = f"{free / 2**30:.1f} GiB free at {home}"
    if free < LEAST_FREE:
        return bad("space", text, "make room: without it nothing can be acknowledged")
    if free < ENOUGH_FREE:
        return doubtful("space", text, "a gigabyte leaves time to act; the journal grows between snapshots")
    return good("space", text)


def check_sync(home: Path, sync: Sync) -> Finding:
    text = f"a sync at {home} takes {sync.median_s * 1000:.2f} ms, at worst {sync.worst_s * 1000:.1f} ms"
    if sync.median_s < INSTANT_SYNC_S:
        return doubtful(
            "sync", text, "no disk is that quick: a power cut may take back what was acknowledged"
        )
    if sync.median_s > SLOW_SYNC_S:
        return doubtful("sync", text, "every acknowledgement waits this long; use a quicker disk")
    return good("sync", text)


def measure_sync(home: Path) -> Sync:
    """Write a page and sync, some times over, in a file without a name."""
    seconds = []
    with tempfile.TemporaryFile(dir=home) as file:
        for _ in range(SYNCS):
            started = time.perf_counter()
            file.write(PAGE)
            file.flush()
            os.fdatasync(file.fileno())
            seconds.append(time.perf_counter() - started)
    return Sync(median(seconds), max(seconds))


def file_system(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """The type of the file system that holds this path."""
    device = path.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    best, kind = "", "an unknown file system"
    for line in mounts.read_text().splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        point = fields[4].encode().decode("unicode_escape")  # blanks are written as \040
        inside = path.is_relative_to(point)
        # Of two mounts on one point the later one is seen. Btrfs numbers its devices by itself, so that the point
        # decides and the number only breaks ties.
        if inside and (len(point) > len(best) or (len(point) == len(best) and fields[2] == wanted)):
            best, kind = point, after.split()[0]
    return kind


def _nearest(path: Path) -> Path:
    """The directory itself, or where it would be made."""
    path = path.absolute()
    while not path.is_dir():
        path = path.parent
    return path.resolve()
