"""`galloon learners challenge | compare | promote | go-live`: try a learner before it answers, then let it."""

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import asdict, replace
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

from galloon.clients.commands.learner_tables import learner_to_json
from galloon.clients.commands.server_option import ServerOption, connection_options, failing_well
from galloon.clients.commands.spec_options import change_options
from galloon.codec.comparison import Comparison, Contestant

T = TypeVar("T")
PROMOTION_S = 3600.0  # that a promotion may take: the history is played again
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")


@click.command()
@click.argument("name")
@click.argument("label")
@change_options
@json_option
@connection_options
def challenge(name: str, label: str, given: dict[str, Any], as_json: bool, server: ServerOption) -> None:
    """Let another spec, called LABEL, play the rounds of the learner NAME, and answer nobody.

    What is not given is as in the learner's own spec. The challenger begins with the learner's history, so that
    `compare` soon tells how it would have done, and goes on with every round that comes; engines that it does not
    have are left out of what it hears. It works in the background, with a fifth of a processor at most, and takes
    as much room on disk as the learner. `galloon learners delete NAME:LABEL` ends it.

    \b
    Examples:
      galloon learners challenge ocr/lines characters --unit char
      galloon learners challenge ocr/lines by-kind --labels domain
      galloon learners challenge ocr/lines without-cloud --engines tesseract,kraken
    """  # noqa: D301  # the command line library wants the character itself

    async def work() -> Any:
        async with server.client() as client:
            champion = (await client.get_learner(name)).spec
            return await client.add_challenger(name, label, replace(champion, **{"answer": "", **given}))

    added = _run(work())
    if as_json:
        _print_json({"created": added.created, **learner_to_json(added)})
    elif added.created:
        click.echo(
            f"{added.name}: plays the history of {name}; `galloon learners compare {name}` tells how it does"
        )
    else:
        click.echo(f"{added.name}: is there already, with the same spec")


@click.command()
@click.argument("name")
@json_option
@connection_options
def compare(name: str, as_json: bool, server: ServerOption) -> None:
    """Compare a learner with its challengers, the vote and every engine, and say what to do.

    Differences are in points of error rate, of two that were in the same corrections: below 0 is better than the
    learner. The interval holds the difference in 95 of 100 cases.

    \b
    Examples:
      galloon learners compare ocr/lines
      galloon learners compare ocr/lines --json
    """  # noqa: D301  # as above

    async def work() -> Comparison:
        async with server.client() as client:
            return await client.compare_learner(name)

    found = _run(work())
    if as_json:
        _print_json({"name": name, **asdict(found)})
        return
    Console().print(_table(found))
    uncounted = found.lessons - found.learner.corrections
    if uncounted:
        click.echo(f"{found.learner.corrections:,} of {found.lessons:,} lessons are counted.")
    for each in found.others:
        if each.behind:
            click.echo(f"{each.name} is still playing: {each.behind:,} entries of the history are left.")
    click.echo(found.sentence)


@click.command()
@click.argument("name")
@click.argument("label")
@json_option
@connection_options
def promote(name: str, label: str, as_json: bool, server: ServerOption) -> None:
    """Let the challenger LABEL answer as NAME, and the learner that answered so far be the challenger.

    The learner serves meanwhile: its history is played by the challenger's spec, then they are exchanged in one
    step. Rounds that wait for feedback can be taught as before. Promoting LABEL again goes back.

    \b
    Examples:
      galloon learners promote ocr/lines characters
    """  # noqa: D301  # as above

    async def work() -> Any:
        async with server.client() as client:
            return await client.promote_challenger(name, label, timeout_s=max(PROMOTION_S, server.timeout_s))

    learner = _run(work())
    if as_json:
        _print_json(learner_to_json(learner))
    else:
        click.echo(f"{name}: answers by the spec of {label} now; the one before is its challenger {label}")


@click.command("go-live")
@click.argument("name")
@json_option
@connection_options
def go_live(name: str, as_json: bool, server: ServerOption) -> None:
    """Let a learner answer itself that has run in the shadow of an engine or of the vote.

    A learner that was created with --answer ENGINE, or --answer vote, answers that and learns; `compare` says when
    it is time.

    \b
    Examples:
      galloon learners create invoices --engines tesseract,kraken,cloud --answer tesseract
      galloon learners compare invoices
      galloon learners go-live invoices
    """  # noqa: D301  # as above

    async def work() -> Any:
        async with server.client() as client:
            return await client.go_live(name)

    learner, before = _run(work())
    if as_json:
        _print_json({"answered_before": before, **learner_to_json(learner)})
    elif before:
        click.echo(f"{name}: answers itself now; until now {before} was answered")
    else:
        click.echo(f"{name}: answers itself already")


def _table(found: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", overflow="fold")
    for column in ("errors in %", "difference", "95 % interval", "corrections"):
        table.add_column(column, justify="right")
    rows = sorted(found.others, key=lambda each: (each.error_rate is None, each.error_rate or 0.0))
    for each in (found.learner, *rows):
        table.add_row(*_row(each, found))
    return table


def _row(each: Contestant, found: Comparison) -> tuple[str, ...]:
    kind = "" if each.kind in ("vote", "learner") else f" ({each.kind})"
    answered = found.answered or found.learner.name
    mark = ", answered" if each.name == answered and each.kind != "challenger" else ""
    counted = f"{each.corrections:,}"
    if each.corrections < found.learner.corrections:
        counted += f" of {found.learner.corrections:,}"
    interval = (
        "" if each.difference_low is None else f"{each.difference_low:+.2f} to {each.difference_high:+.2f}"
    )
    rate = "–" if each.error_rate is None else f"{each.error_rate:.2f}"
    difference = "" if each.difference is None else f"{each.difference:+.2f}"
    return f"{each.name}{kind}{mark}", rate, difference, interval, counted


def _run(work: Coroutine[Any, Any, T]) -> T:
    with failing_well():
        return asyncio.run(work)


def _print_json(value: dict[str, Any]) -> None:
    click.echo(json.dumps(value, ensure_ascii=False))
