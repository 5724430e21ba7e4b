"""`galloon learners`: look at the learners of a daemon, make and delete them, and look after them."""

import asyncio
import json
import sys
from collections.abc import Coroutine
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

import click
from rich.console import Console

from galloon.clients.commands.challenge import challenge, compare, go_live, promote
from galloon.clients.commands.erase import erase
from galloon.clients.commands.history import history
from galloon.clients.commands.learner_tables import details, in_bytes, learner_to_json, listing
from galloon.clients.commands.options import Commands, OutputFile
from galloon.clients.commands.server_option import ServerOption, connection_options, failing_well
from galloon.clients.commands.spec_options import spec_options
from galloon.clients.commands.update import update
from galloon.learners.combiners.spec import CombinerSpec

T = TypeVar("T")
REBUILD_S = 3600.0  # that a rebuild may take; a million rounds take minutes
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")


@click.group(cls=Commands)
def learners() -> None:
    """Look after the learners of a daemon.

    \b
    Examples:
      galloon learners create asr --engines whisper,vosk,kaldi --derived vote
      galloon learners list
      galloon learners show asr --json
      galloon learners compare asr
      galloon learners update asr --add parakeet --remove vosk
      galloon learners export asr -o asr.learner
      galloon learners import asr-copy asr.learner --server 10.0.0.7:7410 --ca ca.pem
    """  # noqa: D301  # the command line library wants the character itself


for command in (challenge, compare, go_live, promote):
    learners.add_command(command)
learners.add_command(history)
learners.add_command(update)
learners.add_command(erase)


@learners.command("list")
@click.argument("prefix", default="")
@click.option(
    "--this-daemon", is_flag=True, help="Where several share a store: only what is live on the one asked."
)
@json_option
@connection_options
def list_(prefix: str, this_daemon: bool, as_json: bool, server: ServerOption) -> None:
    """List learners, or those whose names start with PREFIX."""

    async def work() -> Any:
        async with server.client() as client:
            found = await client.list_learners(prefix, this_daemon=this_daemon)
            return found, await client.out_of_service(prefix)

    found, stopped = _run(work())
    for why in stopped.values():
        click.echo(f"galloon learners: {why}", err=True)
    if as_json:
        shown = [learner_to_json(learner) for learner in found]
        _print_json({"learners": shown, "out_of_service": stopped})
    elif found:
        Console().print(listing(found))
    else:
        click.echo("no learners" + (f" whose names start with {prefix!r}" if prefix else ""), err=True)


@learners.command()
@click.argument("name")
@json_option
@connection_options
def show(name: str, as_json: bool, server: ServerOption) -> None:
    """Show one learner: its spec, where it stands, its digests."""

    async def work() -> Any:
        async with server.client() as client:
            return await client.get_learner(name)

    learner = _run(work())
    if as_json:
        _print_json(learner_to_json(learner))
    else:
        Console().print(details(learner))


@learners.command()
@click.argument("name")
@spec_options
@json_option
@connection_options
def create(name: str, spec: CombinerSpec, as_json: bool, server: ServerOption) -> None:
    """Create a learner from a spec. Creating it again with the same spec changes nothing.

    \b
    Examples:
      galloon learners create asr --engines whisper,vosk --derived vote
      galloon learners create lab --engines a,b,c --algorithm expanded_hedge --gain ngram:order=2 --window 8
      galloon learners create ocr --spec ocr.json --seed 7
    """  # noqa: D301  # as above

    async def work() -> Any:
        async with server.client() as client:
            return await client.create_learner(name, spec)

    learner = _run(work())
    if as_json:
        _print_json({"created": learner.created, **learner_to_json(learner)})
    else:
        click.echo(f"{name}: " + ("created" if learner.created else "is there already, with the same spec"))


@learners.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@connection_options
def delete(name: str, yes: bool, as_json: bool, server: ServerOption) -> None:
    """Delete a learner with all that it has learned. There is no way back: export it first."""
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("deleting needs --yes where nobody can be asked")
        click.confirm(f"Delete {name} and all that it has learned?", abort=True)

    async def work() -> None:
        async with server.client() as client:
            await client.delete_learner(name)

    _run(work())
    if as_json:
        _print_json({"name": name, "deleted": True})
    else:
        click.echo(f"{name}: deleted")


@learners.command()
@click.argument("name")
@json_option
@connection_options
def snapshot(name: str, as_json: bool, server: ServerOption) -> None:
    """Write a snapshot now, so that the next start is quick."""

    async def work() -> Any:
        async with server.client() as client:
            return await client.snapshot_learner(name)

    taken = _run(work())
    if as_json:
        _print_json(
            {
                "name": name,
                "snapshot_bytes": taken.snapshot_bytes,
                "digest": taken.digest,
            }
        )
    else:
        click.echo(f"{name}: {in_bytes(taken.snapshot_bytes)} written, digest {taken.digest}")


@learners.command()
@click.argument("name")
@click.option("--without", type=click.File("r"), help="File of ids, one a line: their feedback is withdrawn.")
@click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]),
    help="Feedback that came later is withdrawn.",
)
@json_option
@connection_options
def rebuild(
    name: str, without: TextIO | None, as_of: datetime | None, as_json: bool, server: ServerOption
) -> None:
    """Make a learner's state again from its history, while it serves.

    Rounds stay in the history, and what is withdrawn can be taught again.

    \b
    Examples:
      galloon learners rebuild ocr/lines --without wrong-ids.txt --timeout 600
      galloon learners rebuild ocr/lines --as-of 2026-11-01
    """  # noqa: D301  # as above
    ids = [line.strip() for line in without if line.strip()] if without is not None else []
    moment = 0.0 if as_of is None else as_of.timestamp()

    async def work() -> Any:
        async with server.client() as client:
            return await client.rebuild_learner(
                name, without_ids=ids, as_of=moment, timeout_s=max(REBUILD_S, server.timeout_s)
            )

    done = _run(work())
    if as_json:
        told = ("rounds", "lessons", "withdrawn", "cpu_seconds", "digest")
        _print_json({"name": name, **{each: getattr(done, each) for each in told}})
    else:
        click.echo(
            f"{name}: {done.rounds:,} rounds and {done.lessons:,} lessons played again in "
            f"{done.cpu_seconds:.1f} s, {done.withdrawn:,} withdrawn, digest {done.digest}"
        )


@learners.command()
@click.argument("name")
@click.option("-o", "--output", required=True, type=OutputFile(), help="File to write; - is stdout.")
@json_option
@connection_options
def export(name: str, output: Path, as_json: bool, server: ServerOption) -> None:
    """Write a learner to a file: spec and state, versioned and checksummed; its history stays."""
    to_stdout = str(output) == "-"
    if to_stdout and as_json:
        raise click.UsageError("--json and -o - would both write to standard output: give a file")

    async def work() -> bytes:
        async with server.client() as client:
            return await client.export_learner(name)

    data = _run(work())
    if to_stdout:
        sys.stdout.buffer.write(data)
        return
    with failing_well():
        output.write_bytes(data)
    if as_json:
        _print_json({"name": name, "output": str(output), "bytes": len(data)})
    else:
        click.echo(f"{output}: {in_bytes(len(data))}")


@learners.command("import")
@click.argument("name")
@click.argument("file", type=click.File("rb"))
@json_option
@connection_options
def import_(name: str, file: BinaryIO, as_json: bool, server: ServerOption) -> None:
    """Make the learner NAME from an exported FILE (- is standard input)."""
    data = file.read()

    async def work() -> Any:
        async with server.client() as client:
            return await client.import_learner(name, data)

    learner = _run(work())
    if as_json:
        _print_json(learner_to_json(learner))
    else:
        click.echo(f"{name}: imported, digest {learner.digest}")


def _run(work: Coroutine[Any, Any, T]) -> T:
    with failing_well():
        return asyncio.run(work)


def _print_json(value: dict[str, Any]) -> None:
    click.echo(json.dumps(value, ensure_ascii=False))
