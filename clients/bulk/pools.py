"""Who works: `processes` of this machine, or workers of a Ray cluster (`ray_tasks`), which may die at any time.

A pool takes a function and its arguments, and gives outcomes as they come, in any order. What a dead worker had in
hand is done again by another. Errors of the work travel as sentences: not every error survives being pickled.
"""

import logging
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol

from galloon.clients.api.errors import ClientError, WrongUsage
from galloon.learners.errors import LearnerError

IN_HAND = 4  # tasks that a worker has before it, so that none waits for the next
DEATHS = 5  # of workers in a row without anything done: it is the work that kills them


class BulkFailed(ClientError):
    """The work cannot go on; what is done stays done."""


class Pool(Protocol):
    def outcomes(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """What comes of each task, in any order."""
        ...


@contextmanager
def processes(workers: int) -> Iterator[Pool]:
    yield _Processes(workers)


class _Processes:
    def __init__(self, workers: int) -> None:
        self._workers = workers

    def outcomes(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        left = list(reversed(tasks))
        deaths = 0
        while left:
            done = 0
            try:
                for outcome in self._some(work, left):
                    done += 1
                    yield outcome
            except BrokenProcessPool as error:
                deaths = 0 if done else deaths + 1
                if deaths == DEATHS:
                    raise BulkFailed(
                        f"{DEATHS} times a worker process was killed before it had done anything: is there enough "
                        "memory? Use fewer --workers"
                    ) from error

    def _some(self, work: Callable[..., Any], left: list[tuple[Any, ...]]) -> Iterator[Any]:
        """Work until nothing is left, or until a worker dies; what it had in hand is then left again."""
        # New interpreters, not copies of this one: a copy may have a lock that nobody will ever open.
        context = multiprocessing.get_context("spawn")
        in_hand: dict[Future[Any], tuple[Any, ...]] = {}
        with ProcessPoolExecutor(self._workers, mp_context=context) as pool:
            try:
                while left or in_hand:
                    while left and len(in_hand) < self._workers * IN_HAND:
                        in_hand[pool.submit(guarded, work, *left[-1])] = left[-1]
                        left.pop()
                    for future in wait(in_hand, return_when=FIRST_COMPLETED).done:
                        outcome = future.result()
                        del in_hand[future]
                        yield _judged(outcome)
            except BaseException:
                left.extend(reversed(in_hand.values()))
                pool.shutdown(wait=False, cancel_futures=True)
                raise


@contextmanager
def ray_tasks(address: str) -> Iterator[Pool]:
    """`address` of a cluster; `auto` finds the one that runs on this machine, `local` starts one for this run."""
    try:
        import ray  # type: ignore[import-not-found,unused-ignore]  # an extra
    except ImportError as error:
        raise WrongUsage("--ray needs Ray, which is an extra: pip install 'galloon[ray]'") from error
    try:
        ray.init(address=address, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise WrongUsage(
            f"no Ray cluster answers at {address!r} ({str(error).splitlines()[0]}); start one with "
            "`ray start --head`, or use --ray local or --workers"
        ) from error
    try:
        yield _RayTasks(ray)
    finally:
        ray.shutdown()


class _RayTasks:
    def __init__(self, ray: Any) -> None:
        self._ray = ray

    def outcomes(self, work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=-1)(guarded)
        most = IN_HAND * max(1, int(ray.cluster_resources().get("CPU", 1)))
        left = list(reversed(tasks))
        in_hand: list[Any] = []
        while left or in_hand:
            while left and len(in_hand) < most:
                in_hand.append(task.remote(work, *left.pop()))
            done, in_hand = ray.wait(in_hand, num_returns=1)
            yield _judged(ray.get(done[0]))


def guarded(work: Callable[..., Any], *arguments: Any) -> tuple[Any, str | None]:
    """What comes of the work, or the sentence of its error."""
    try:
        return work(*arguments), None
    except (ClientError, LearnerError, OSError) as error:
        return None, str(error)


def _judged(outcome: tuple[Any, str | None]) -> Any:
    result, error = outcome
    if error is not None:
        raise BulkFailed(error)
    return result
