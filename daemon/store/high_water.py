"""The last entry that was acknowledged, in a file of its own: proof that the database has lost nothing.

SQLite drops, without a word, whatever follows a damaged or missing piece of its write-ahead log. The mark is
written after each sync and not synced itself, so it may be old or unreadable after a power cut, but what it says
is true: a database that ends before it has lost acknowledged entries. The file keeps its size, so that a full disk
does not keep the mark from being written; where it does so all the same, the old mark stays.

File: 8 bytes learner, 8 bytes sequence number, 4 bytes CRC-32 of both, little-endian.
"""

import errno
import os
import struct
from pathlib import Path
from zlib import crc32

FILE_NAME = "acknowledged"
_MARK = struct.Struct("<qq")
_NOTHING = bytes(_MARK.size + 4)  # no mark: the checksum of zeros is not zero
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class HighWater:
    """`note` what is durable; `read` what was, after a restart."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if os.fstat(self._descriptor).st_size < len(_NOTHING):
            self._write(_NOTHING)

    def note(self, learner: int, seq: int) -> None:
        mark = _MARK.pack(learner, seq)
        self._write(mark + crc32(mark).to_bytes(4, "little"))

    def read(self) -> tuple[int, int] | None:
        """Learner and sequence number; None where nothing readable is there."""
        data = os.pread(self._descriptor, _MARK.size + 4, 0)
        mark, found = data[: _MARK.size], data[_MARK.size :]
        if len(found) != 4 or crc32(mark) != int.from_bytes(found, "little"):
            return None
        learner, seq = _MARK.unpack(mark)
        return learner, seq

    def clear(self) -> None:
        """Nothing can be said any more: a learner is about to be deleted."""
        os.pwrite(self._descriptor, _NOTHING, 0)

    def close(self) -> None:
        os.close(self._descriptor)

    def _write(self, mark: bytes) -> None:
        try:
            os.pwrite(self._descriptor, mark, 0)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
