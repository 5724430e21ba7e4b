"""`galloon serve`: configuration from file, environment and flags, then the daemon until a signal.

Exit status 0 after a signal, 1 when the store is damaged or fails or a port cannot be
opened, 2 when the configuration is wrong.
"""

import asyncio
import os
import sys
from pathlib import Path

import click

from galloon.daemon.config import load
from galloon.daemon.config_options import config_options
from galloon.daemon.errors import ConfigError, DaemonError
from galloon.daemon.operate import logs
from galloon.daemon.operate.memory import settle_allocator
from galloon.daemon.rpc.auth import new_token
from galloon.daemon.rpc.event_loop import EventLoop


@click.command()
@config_options
@click.option(
    "--ready-file", type=click.Path(path_type=Path), help="Write the ports here, as JSON, once they are open."
)
@click.option(
    "--new-token", metavar="NAME", help="Make a token for a principal, print it with its entry, and end."
)
@click.option("--prefix", default="", help="With --new-token: only learners whose names start with this.")
def serve(
    path: Path | None,
    flags: dict[str, str],
    ready_file: Path | None,
    new_token: str | None,
    prefix: str,
) -> None:
    """Serve learners over gRPC; keep what they learn.

    On a loopback address this needs no configuration at all: `galloon serve` listens on 127.0.0.1:7410, shows
    metrics on 127.0.0.1:7411 and keeps its store in ./galloon-data.
    """
    if new_token is not None:
        _print_token(new_token, prefix)
        return
    try:
        config = load(path, os.environ, flags)
        logs.configure(config.log)
        settle_allocator()
        # Imported late: compiled kernels and OpenFst take a while, and a wrong key should not wait for them.
        from galloon.daemon.app import run
        from galloon.learners.combiners.build import build

        with asyncio.Runner(loop_factory=EventLoop) as runner:
            runner.run(run(config, build, ready_file))
    except ConfigError as error:
        _fail(2, str(error))
    except DaemonError as error:
        _fail(1, str(error))


def _print_token(name: str, prefix: str) -> None:
    token, entry = new_token(name, prefix)
    click.echo(f"# Give this to {name}; it is shown only once: {token}", err=True)
    click.echo(entry)


def _fail(status: int, message: str) -> None:
    click.echo(f"galloon serve: {message}", err=True)
    sys.exit(status)
