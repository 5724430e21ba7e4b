"""Compiled kernels when the daemon starts: `load_kernels` before it serves, `load_others` beside that.

Usually every kernel is in its cache, and all are loaded. Where some are missing, as after the first installation,
those of the default learner are compiled first and with progress in the log; the daemon then serves, and a child
process compiles the others. Until that is done, a learner of another kind waits for the compiler at its first use.
"""

import asyncio
import os
import signal
import subprocess
import sys

import structlog

from galloon.learners.kernels import FIRST, modules, uncompiled, warm_up, warm_up_first

log = structlog.get_logger()
POLL_S = 0.5
DELAY_S = 60.0  # a daemon for the length of one command ends before that, and nothing slows its start
COMPILE = (sys.executable, "-m", "galloon.learners.kernels")


def load_kernels() -> tuple[str, ...]:
    """Load everything, or only what the default learner needs; gives the modules that are still to be compiled."""
    if uncompiled(FIRST):
        _compile_first()
    rest = uncompiled(modules())
    log.info("loading kernels", later=len(rest))
    if rest:
        warm_up_first()
    else:
        warm_up()
    return rest


def _compile_first() -> None:
    log.info("compiling kernels", done=0, of=len(FIRST), why="they are not in their cache; this happens once")
    with subprocess.Popen([*COMPILE, "--first"], stdout=subprocess.PIPE) as child:  # noqa: S603  # ourselves
        assert child.stdout is not None, "it is a pipe"
        for done, _ in enumerate(child.stdout, start=1):
            log.info("compiling kernels", done=done, of=len(FIRST))
    # A child that failed, for example because it could not write the cache, costs time alone: what it has not
    # compiled is compiled in this process.


async def load_others() -> None:
    """The kernels that nobody needs yet: compiled by a child process of low priority, then loaded."""
    await asyncio.sleep(DELAY_S)
    # A session of its own, so that it ends with all its workers.
    child = await asyncio.to_thread(
        subprocess.Popen, [*COMPILE, "--background"], stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        while child.poll() is None:  # noqa: ASYNC110  # a process tells no event
            await asyncio.sleep(POLL_S)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    await asyncio.to_thread(warm_up)
    log.info("all kernels loaded")
