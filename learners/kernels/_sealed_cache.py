"""Compiled kernels on a disk that nobody may write: numba's own cache refuses to read where it cannot write.

The image compiles the kernels once, into NUMBA_CACHE_DIR, and names `SealedCache` in NUMBA_CACHE_LOCATOR_CLASSES;
numba then asks it where the compiled code of a kernel lies. What is found there is loaded and nothing is ever
saved. A kernel that has to be compiled all the same stays in memory, and the log says so: its signature is missing
in the `warm_up` of its module, or the cache was made for another processor.
"""

import logging
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, UserProvidedCacheLocator

log = logging.getLogger(__name__)


class SealedCache(UserProvidedCacheLocator):  # type: ignore[misc]  # numba carries no types
    """Finds the compiled code below NUMBA_CACHE_DIR, writable or not."""

    def __init__(self, function: Any, file: str) -> None:
        super().__init__(function, file)
        # numba chooses who finds a cache by its setting, but not who writes it.
        FunctionCache.save_overload = _keep_in_memory

    def ensure_cache_path(self) -> None:
        path = Path(self.get_cache_path())
        if not path.is_dir():
            raise FileNotFoundError(f"{path}: no compiled kernels here; build the image again")


def _keep_in_memory(cache: FunctionCache, signature: Any, _: Any) -> None:
    log.warning("kernel compiled at run time: %r %s", cache, signature)
