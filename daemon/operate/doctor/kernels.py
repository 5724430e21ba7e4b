"""The compiled loops and OpenFst: there, working, and not in need of a compiler when the daemon starts."""

import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from galloon.daemon.operate.doctor.finding import Finding, bad, doubtful, good

LIBRARIES = ("numpy", "numba", "pynini", "grpcio", "protobuf", "aiohttp", "prometheus-client")


def check_kernels() -> Iterator[Finding]:
    """Load everything that the daemon loads, and see what had to be compiled for it."""
    missing = [name for name in LIBRARIES if _version(name) is None]
    if missing:
        fix = "install the server's libraries: pip install 'galloon[server]'"
        yield bad("libraries", f"not installed: {', '.join(missing)}", fix)
        return
    yield good("libraries", ", ".join(f"{name} {_version(name)}" for name in LIBRARIES))
    yield _check_compiled()


def _check_compiled() -> Finding:
    from galloon.learners.kernels import warm_up

    started = time.perf_counter()
    warm_up()
    seconds = time.perf_counter() - started
    loaded, compiled = _counts()
    if compiled:
        text = f"{compiled} of {loaded + compiled} kernels had to be compiled ({seconds:.1f} s)"
        fix = "run `python -m galloon.learners.kernels` as a user who can write its cache"
        return doubtful("kernels", text, fix)
    return good("kernels", f"all {loaded} kernels loaded from their cache in {seconds:.1f} s")


def _counts() -> tuple[int, int]:
    """Kernels loaded from the cache, and compiled, in this process."""
    from numba.core.dispatcher import Dispatcher

    kernels = {
        id(value): value
        for name, module in sys.modules.items()
        if name.startswith("galloon.learners.kernels.")
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    }
    hits = sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels.values())
    misses = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels.values())
    return hits, misses


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
