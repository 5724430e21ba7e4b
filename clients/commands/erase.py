"""`galloon learners erase`: rounds that must go for good."""

import asyncio
import json
import sys
from dataclasses import asdict
from typing import TextIO

import click

from galloon.clients.api.changes import CHANGE_S
from galloon.clients.commands.server_option import ServerOption, connection_options, failing_well
from galloon.codec.past_round import Erasure


@click.command()
@click.argument("name")
@click.option("--ids", type=click.File("r"), help="File of ids, one a line; - is standard input.")
@click.option("--label", metavar="KEY=VALUE", help="All rounds so far whose utterances have this label.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--accept-loss",
    is_flag=True,
    help="Give up what was learned before the history was cut, if one of the rounds began before.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
@connection_options
def erase(
    name: str,
    ids: TextIO | None,
    label: str | None,
    yes: bool,
    accept_loss: bool,
    as_json: bool,
    server: ServerOption,
) -> None:
    """Erase rounds of a learner, for good: what was said, answered and taught.

    They leave the history, the snapshots and the files of the store, and the learner is made again without them
    while it serves. Their ids stay in a list beside the store, with which a restored backup is erased again when
    the daemon starts. Copies that others made (clients, exports, backups, reports) are theirs to erase.

    The same again erases what is left, and nothing else. Status 1 if one of the ids is not known, or no
    round has the label.

    \b
    Examples:
      galloon learners erase ocr/lines --ids ids.txt
      galloon learners erase asr --label speaker=4711 --yes --json
    """  # noqa: D301  # the command line library wants the character itself
    if (ids is None) == (label is None):
        raise click.UsageError("give --ids FILE or --label KEY=VALUE")
    key, equals, value = (label or "").partition("=")
    if label is not None and not (key and equals):
        raise click.UsageError(f"--label {label}: write KEY=VALUE, e.g. speaker=4711")
    wanted = [] if ids is None else list(dict.fromkeys(filter(None, map(str.strip, ids))))
    if ids is not None and not wanted:
        raise click.UsageError(f"--ids {ids.name}: there is no id in it")
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("erasing needs --yes where nobody can be asked")
        what = f"{len(wanted):,} rounds" if wanted else f"all rounds with {label}"
        click.confirm(f"Erase {what} of {name}? There is no way back", abort=True)

    async def work() -> Erasure:
        async with server.client() as client:
            return await client.erase_rounds(
                name,
                wanted,
                label=(key, value),
                accept_loss=accept_loss,
                timeout_s=max(CHANGE_S, server.timeout_s),
            )

    with failing_well():
        done = asyncio.run(work())
    if as_json:
        click.echo(json.dumps({"name": name, **asdict(done)}, ensure_ascii=False))
    else:
        before = f", {done.erased_before:,} had been erased before" if done.erased_before else ""
        click.echo(
            f"{name}: {done.erased:,} rounds erased{before}, {done.lessons:,} lessons left, digest {done.digest}"
        )
        for id_ in done.unknown_ids:
            click.echo(f"galloon learners erase: {id_}: not in the history, and not erased before", err=True)
    if label is not None and not done.erased:
        # Whoever mistypes a label must not believe that somebody has been erased.
        click.echo(f"galloon learners erase: no round in the history has the label {label}", err=True)
    if done.unknown_ids or (label is not None and not done.erased):
        sys.exit(1)
