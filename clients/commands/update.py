"""`galloon learners update`: a learner goes on with another spec."""

import asyncio
import json
from typing import Any

import click

from galloon.clients.api.changes import CHANGE_S
from galloon.clients.commands.learner_tables import learner_to_json
from galloon.clients.commands.server_option import ServerOption, connection_options, failing_well
from galloon.clients.commands.spec_options import change_options
from galloon.codec.learner import Update


@click.command()
@click.argument("name")
@click.option("--add", multiple=True, metavar="ENGINE", help="A further engine. Repeatable.")
@click.option("--remove", multiple=True, metavar="ENGINE", help="An engine that leaves. Repeatable.")
@click.option(
    "--default", multiple=True, metavar="FIELD", help="A field that goes back to its default. Repeatable."
)
@click.option("--rebuild", is_flag=True, help="Learn all again from the history, also for engines alone.")
@click.option(
    "--accept-loss", is_flag=True, help="Go on although something that was learned cannot be learned again."
)
@change_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
@connection_options
def update(
    name: str,
    add: tuple[str, ...],
    remove: tuple[str, ...],
    default: tuple[str, ...],
    rebuild: bool,
    accept_loss: bool,
    given: dict[str, Any],
    as_json: bool,
    server: ServerOption,
) -> None:
    """Let a learner go on with another spec, while it serves. What is not given stays as it is.

    Engines that are added begin with no record and learn it; one that is removed takes its record along. What was
    learned of the others is carried over at once. Any other change is made by learning everything again from the
    history, as if the learner had had the new spec from the start; the old one answers meanwhile. With --rebuild
    so are changes of engines. A change that would lose something is refused, and says what.

    Clients with open streams go on. An utterance with an engine that has left is refused by its name; a client
    that opens a stream with the old spec is told in which field it differs.

    \b
    Examples:
      galloon learners update ocr/lines --add tesseract-5
      galloon learners update ocr/lines --remove old-engine --rebuild
      galloon learners update ocr/lines --normalizer basic --labels scanner
      galloon learners update ocr/lines --default labels
    """  # noqa: D301  # the command line library wants the character itself
    if not (add or remove or default or given):
        raise click.UsageError("nothing to change: give --add, --remove, or a field with its new value")

    async def work() -> Update:
        async with server.client() as client:
            changes = dict(given)
            if "options" in changes:
                present = (await client.get_learner(name)).spec.options
                changes["options"] = {**present, **changes["options"]}
            return await client.update_learner(
                name,
                add_engines=add,
                remove_engines=remove,
                default_fields=default,
                rebuild=rebuild,
                accept_loss=accept_loss,
                timeout_s=max(CHANGE_S, server.timeout_s),
                **changes,
            )

    with failing_well():
        done = asyncio.run(work())
    if as_json:
        told = ("changed_fields", "rebuilt", "rounds", "lessons", "lessons_lost", "cpu_seconds")
        shown = {each: getattr(done, each) for each in told}
        click.echo(json.dumps({**shown, "learner": learner_to_json(done.learner)}, ensure_ascii=False))
    else:
        click.echo(_sentence(name, done))


def _sentence(name: str, done: Update) -> str:
    if not done.changed_fields:
        return f"{name}: has it so already"
    fields = ", ".join(done.changed_fields)
    if not done.rebuilt:
        return f"{name}: {fields} changed, what was learned was carried over, digest {done.learner.digest}"
    lost = f", {done.lessons_lost:,} lessons lost" if done.lessons_lost else ""
    return (
        f"{name}: {fields} changed, {done.rounds:,} rounds and {done.lessons:,} lessons played again in "
        f"{done.cpu_seconds:.1f} s{lost}, digest {done.learner.digest}"
    )
