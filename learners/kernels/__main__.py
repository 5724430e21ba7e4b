"""Compile every kernel into its cache: run at set-up and in the image, so that nobody waits for a compiler.

Modules are compiled side by side, as many as there are cores. Two of them may need the same kernel, and the index
of its cache keeps what was written last; so a last pass in order compiles whatever is missing after that.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pkgutil import iter_modules

from galloon.learners import kernels


def compile_module(name: str) -> None:
    import_module(name).warm_up()


def main() -> None:
    names = [f"{kernels.__name__}.{m.name}" for m in iter_modules(kernels.__path__) if m.name[0] != "_"]
    # Forked while nothing is loaded yet that minds.
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("fork")) as pool:
        list(pool.map(compile_module, names))
    kernels.warm_up()


if __name__ == "__main__":
    main()
