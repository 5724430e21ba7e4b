"""Compile kernels into their cache, so that nobody waits for a compiler later: at set-up and in the image.

Modules are compiled side by side, as many as there are cores. Two of them may need the same kernel, and the index
of its cache keeps what was written last; so a last pass in order compiles whatever is missing after that.
`--first` compiles what the default learner needs, and nothing else; `--background` leaves the processor to others.
Each module that is done is a line of output.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from galloon.learners import kernels


def compile_module(name: str) -> str:
    kernels.warm_up([name])
    return name


def main() -> None:
    names = kernels.FIRST if "--first" in sys.argv[1:] else kernels.modules()
    if "--background" in sys.argv[1:]:
        os.nice(15)
    # Forked while nothing is loaded yet that minds.
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("fork")) as pool:
        done = as_completed([pool.submit(compile_module, name) for name in names])
        for count, future in enumerate(done, start=1):
            print(f"compiled {count} of {len(names)}: {future.result()}", flush=True)
    kernels.warm_up(names)


if __name__ == "__main__":
    main()
