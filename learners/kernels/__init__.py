"""Compiled loops: plain functions, arrays in, arrays out, random numbers drawn outside and passed in.

Each kernel has a slow, obvious twin in `tests/reference/`. `warm_up` compiles them all into the cache.
Every kernel module offers a `warm_up` of its own that calls each of its kernels once on tiny arrays.
"""

from importlib import import_module
from pkgutil import iter_modules


def warm_up() -> None:
    """Call every kernel once, so that later calls find it compiled."""
    for module in iter_modules(__path__):
        if not module.name.startswith("_"):
            import_module(f"{__name__}.{module.name}").warm_up()
