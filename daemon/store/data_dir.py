"""The data directory: made if missing, closed to strangers, and held by one daemon at a time.

Two locks: the file `lock` says who holds the directory, and the directory itself is locked too, because a file can
be removed, and whoever makes it again would hold another one.
"""

import fcntl
import os
from pathlib import Path

from galloon.daemon.errors import StoreFailed, StoreLocked


class DataDir:
    """`lock` takes it or says who has it; the system lets go when the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = self._folder = -1

    def lock(self) -> None:
        try:
            _make_lasting(self._path)
            _close_to_strangers(self._path)
            self._folder = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._descriptor = os.open(self._path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreFailed(f"{self._path}: cannot be used as data directory: {error.strerror}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _lock_folder(self._folder)
        except OSError as error:
            holder = os.pread(self._descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            self.unlock()
            raise StoreLocked(
                f"{self._path}: another daemon (process {holder}) holds this data directory; stop it first, "
                "or set store.data_dir to another one"
            ) from error
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def unlock(self) -> None:
        os.close(self._descriptor)
        os.close(self._folder)


def _lock_folder(descriptor: int) -> None:
    """Some file systems do not lock directories: there the file alone must do."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, BlockingIOError):
            raise


def _close_to_strangers(path: Path) -> None:
    """A group may look in, if the operator lets it; the world may not."""
    mode = path.stat().st_mode
    if mode & 0o007 and path.stat().st_uid == os.geteuid():
        path.chmod(mode & 0o770)


def _make_lasting(path: Path) -> None:
    """The directory and its parents. A new one exists after a power cut only if its parent was synced."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    for each in reversed(missing):
        parent = os.open(each.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(parent)
        finally:
            os.close(parent)
