"""`galloon top`: the learners of a daemon, live: rounds, gain, regret against the bound, rates, latencies."""

import asyncio
import json
import sys
from contextlib import suppress

import click
from rich.console import Console
from rich.live import Live

from galloon.clients.commands.server_option import ServerOption, connection_options, failing_well
from galloon.clients.top.latency import check_url
from galloon.clients.top.status import Watcher
from galloon.clients.top.view import to_json, view


@click.command()
@click.option("--prefix", default="", help="Only learners whose names start so.")
@click.option(
    "--most", type=click.IntRange(1, 1000), default=40, show_default=True, help="Learners to watch."
)
@click.option(
    "--interval",
    type=click.FloatRange(0.1, 3600),
    default=1.0,
    show_default=True,
    help="Seconds between two looks.",
)
@click.option(
    "--metrics",
    metavar="URL",
    help="The daemon's metrics page, for latencies. Default: the port after --server's, without TLS.",
)
@click.option("--once", is_flag=True, help="Look twice, print the second look and leave.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a look, one a line.")
@connection_options
def top(
    prefix: str,
    most: int,
    interval: float,
    metrics: str | None,
    once: bool,
    as_json: bool,
    server: ServerOption,
) -> None:
    """Watch the learners of a daemon, or of all that share its store. Leave with Ctrl-C.

    Regret with a ~ is estimated, because the truth is not known in that setting. Away from a terminal it prints
    one look, as with --once; with --json it goes on.

    \b
    Examples:
      galloon top
      galloon top --prefix asr/ --interval 5
      galloon top --once --json | jq '.learners[0].statistics.regret'
    """  # noqa: D301  # the command line library wants the character itself
    with failing_well(), suppress(KeyboardInterrupt):
        if metrics is not None:
            check_url(metrics)
        asyncio.run(_top(server, prefix, most, interval, metrics or _metrics_url(server), once, as_json))


async def _top(
    server: ServerOption,
    prefix: str,
    most: int,
    interval_s: float,
    metrics_url: str | None,
    once: bool,
    as_json: bool,
) -> None:
    console = Console()
    async with (
        server.client() as client,
        Watcher(client, prefix=prefix, most=most, interval_s=interval_s, metrics_url=metrics_url) as watcher,
    ):
        if as_json:
            await _print_lines(watcher, interval_s, once)
        elif once or not sys.stdout.isatty():
            await asyncio.sleep(1.5 * interval_s)  # the first look and the next one: a rate needs both
            console.print(view(watcher.status(), console))
        else:
            with Live(console=console, screen=True, auto_refresh=False) as screen:
                while True:
                    screen.update(view(watcher.status(), console), refresh=True)
                    await asyncio.sleep(min(interval_s, 1.0))


async def _print_lines(watcher: Watcher, interval_s: float, once: bool) -> None:
    await asyncio.sleep(1.5 * interval_s)
    while True:
        click.echo(json.dumps(to_json(watcher.status()), ensure_ascii=False))
        if once:
            return
        await asyncio.sleep(interval_s)


def _metrics_url(server: ServerOption) -> str | None:
    """Where the page is by default: the port after the daemon's. None has the latencies of several daemons."""
    if len(server.connection.addresses) > 1:
        return None
    host, _, port = server.connection.address.rpartition(":")
    return f"http://{host}:{int(port) + 1}/metrics" if int(port) < 65535 else None
