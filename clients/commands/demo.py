"""`galloon demo`: the first five minutes. What `make run` runs.

Starts a daemon with a store that stays, plays the bundled sample of real engine outputs to it over a client's
stream, line by line, and shows engines, vote and galloon side by side. Then it keeps serving, with the page and
the metrics, until it is stopped; with --once it ends.
"""

import asyncio
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click
from rich.console import Console

from galloon.clients.api.client import Client
from galloon.clients.api.errors import NotFound, Unreachable
from galloon.clients.commands.local_daemon import OPTIONS, LocalDaemon, stopped_after
from galloon.clients.commands.replay import play_with_progress
from galloon.clients.commands.server_option import failing_well
from galloon.clients.replay.material import Material, read_material
from galloon.clients.replay.session import Order, Session
from galloon.clients.samples import asr_sample, ocr_sample

HOST, GRPC_PORT, HTTP_PORT = "127.0.0.1", 7410, 7411
OCR_LEARNER = "sample/ocr"
# The five engines that people would choose; the other two of the sample are there to be a nuisance.
OCR_ENGINES = ("tess_eng", "tess_deu", "tess_bin", "rapidocr", "tess_legacy")


@click.command()
@click.option("--once", is_flag=True, help="End after the sample, instead of serving on.")
@click.option("--speech", is_flag=True, help="Play the speech sample too.")
@click.option("--limit", type=click.IntRange(1), help="Play the first so many lines.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".galloon"),
    show_default=True,
    help="Where the daemon keeps its store and its log.",
)
def demo(once: bool, speech: bool, limit: int | None, folder: Path) -> None:
    """Start a daemon, play the bundled sample to it, show what learning was worth, and keep serving.

    The learners of the sample start anew each time; whatever else is in the store stays.
    """
    signal.signal(signal.SIGTERM, _end)  # so that the daemon is stopped in order with us
    console = Console()
    with failing_well():
        folder.mkdir(parents=True, exist_ok=True)
        daemon = LocalDaemon(folder, _address(GRPC_PORT), _address(HTTP_PORT))
        with stopped_after(daemon):
            _play(daemon, OCR_LEARNER, read_material(ocr_sample(), OCR_ENGINES, limit), ocr_sample(), console)
            if speech:
                _play(daemon, "sample/asr", read_material(asr_sample(), (), limit), asr_sample(), console)
            _tell_where(daemon, folder, console)
            if not once:
                _serve_on(daemon, console)


def _play(daemon: LocalDaemon, name: str, material: Material, file: Path, console: Console) -> None:
    session = asyncio.run(_play_anew(daemon, Order(material, {}, name=name, shared=True)))
    # Only now: scoring needs compiled code, and the daemon was warming up its own meanwhile.
    from galloon.clients.replay.results import score_runs
    from galloon.clients.replay.table import show

    show(score_runs(file.name, session.utterances, session.spec, session.runs), console)
    console.print()


async def _play_anew(daemon: LocalDaemon, order: Order) -> Session:
    assert order.name is not None, "the learner stays, so that the page can show it"
    async with Client(daemon.address, options=OPTIONS) as client:
        with suppress(NotFound):  # the first time
            await client.delete_learner(order.name)
        return await play_with_progress(client, order)


def _tell_where(daemon: LocalDaemon, folder: Path, console: Console) -> None:
    base = f"http://{daemon.http_address}"
    for what, where in (
        ("page", f"{base}/"),
        ("metrics", f"{base}/metrics"),
        ("gRPC", daemon.address),
        ("data", f"{folder}/data"),
    ):
        console.print(f"{what:>8}  {where}", highlight=False, soft_wrap=True)


def _serve_on(daemon: LocalDaemon, console: Console) -> None:
    console.print("\nServing until you stop it (Ctrl-C).", highlight=False)
    try:
        status = daemon.wait()
    except KeyboardInterrupt:
        return
    if status != 0:
        raise Unreachable(f"the daemon ended with status {status}")


def _address(port: int) -> str:
    """The usual port, or any free one where somebody else has it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return f"{HOST}:0"
    return f"{HOST}:{port}"


def _end(_: int, __: FrameType | None) -> NoReturn:
    sys.exit(0)
