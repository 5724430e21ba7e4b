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


def main(arguments: list[str]) -> None:
    first = "--first" in arguments
    names, warm_up = (kernels.FIRST, kernels.warm_up_first) if first else (kernels.modules(), kernels.warm_up)
    if "--background" in arguments:
        os.nice(15)
    # Forked while nothing is loaded yet that minds.
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("fork")) as pool:
        at_work = {pool.submit(warm_up, [name]): name for name in names}
        for count, future in enumerate(as_completed(at_work), start=1):
            future.result()  # raises what went wrong there
            print(f"compiled {count} of {len(names)}: {at_work[future]}", flush=True)
    warm_up(names)


if __name__ == "__main__":
    main(sys.argv[1:])
