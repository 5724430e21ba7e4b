"""Loaded by every Python process that has this folder on its path: tells how much of its memory is in use.

A thread writes "BYTES BLOCKS" to the file that GALLOON_IN_USE names, every second: bytes in use of the C library's
allocator, and blocks that Python's own allocator for small objects has given out. Nobody outside can see them.
"""

import ctypes
import os
import sys
import threading
import time
from pathlib import Path


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def _tell(path: Path) -> None:
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Mallinfo2
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    while True:
        info = mallinfo2()
        partial.write_text(f"{info.uordblks + info.hblkhd} {sys.getallocatedblocks()}")
        partial.rename(path)
        time.sleep(1.0)


if "GALLOON_IN_USE" in os.environ:
    threading.Thread(target=_tell, args=[Path(os.environ["GALLOON_IN_USE"])], daemon=True).start()
