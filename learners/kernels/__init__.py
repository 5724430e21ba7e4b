"""Compiled loops: plain functions, arrays in, arrays out, random numbers drawn outside and passed in.

Each kernel has a slow, obvious twin in `tests/reference/`. Every kernel module offers a `warm_up` of its own that
calls each of its kernels once on tiny arrays: from the cache they are loaded, else they are compiled into it.
`warm_up` does so for several modules, `warm_up_first` for what the default learner calls (`FIRST`). `uncompiled`
says which modules have nothing in the cache yet. `python -m galloon.learners.kernels` compiles in parallel.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

# What the default learner needs to combine words, and a table to score them; the longest to compile come first, so
# that two processors are done at about the same time. A module may offer a shorter `warm_up_first` for it.
FIRST = (
    *("offer_model", "word_slots", "agreement", "tied", "target", "votes"),
    *("bounded_table", "pairs", "exponential", "uniform", "answers"),
)


def modules() -> tuple[str, ...]:
    """The names of all kernel modules, those of the default learner first."""
    names = [module.name for module in iter_modules(__path__) if not module.name.startswith("_")]
    return (*FIRST, *(name for name in names if name not in FIRST))


def warm_up(names: Iterable[str] | None = None) -> None:
    """Call every kernel of these modules once (default: of all), so that later calls find it compiled."""
    for name in modules() if names is None else names:
        import_module(f"{__name__}.{name}").warm_up()


def warm_up_first(names: Iterable[str] = FIRST) -> None:
    """The same for what the default learner calls in a round on words."""
    for name in names:
        module = import_module(f"{__name__}.{name}")
        getattr(module, "warm_up_first", module.warm_up)()


def uncompiled(names: Iterable[str]) -> tuple[str, ...]:
    """Those modules of which the cache holds nothing that is newer than their source."""
    return tuple(name for name in names if not _is_compiled(name))


def _is_compiled(name: str) -> bool:
    from numba.core.dispatcher import Dispatcher

    module = import_module(f"{__name__}.{name}")
    source = Path(str(module.__file__))
    kernel = next((value for value in vars(module).values() if isinstance(value, Dispatcher)), None)
    if kernel is None or kernel.stats.cache_path is None:
        return True
    written = Path(kernel.stats.cache_path).glob(f"{name}.*.nbi")
    return any(index.stat().st_mtime >= source.stat().st_mtime for index in written)
