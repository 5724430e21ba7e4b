"""`galloon explain`: why a learner of a daemon chose each token of an utterance."""

import asyncio
import json

import click
from rich.console import Console

from galloon.clients.commands.explanation_view import explanation_to_json, show_explanation
from galloon.clients.commands.server_option import ServerOption, connection_options, failing_well
from galloon.codec.explanation import Explanation


@click.command()
@click.argument("learner")
@click.argument("utterance")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
@connection_options
def explain(learner: str, utterance: str, as_json: bool, server: ServerOption) -> None:
    """Say why LEARNER chose each token of UTTERANCE, by its id.

    For each slot: what was on offer and by whom, how probable each token was, what the learned scorer counts for
    and against it, and the contexts that the learner trusted in. Nothing changes by asking. Every round of the
    daemon's history is known in full.

    \b
    Examples:
      galloon explain ocr/lines line-17
      galloon explain ocr/lines line-17 --json | jq '.slots[2].offers'
    """  # noqa: D301  # the command line library wants the character itself

    async def work() -> Explanation:
        async with server.client() as client:
            return await client.explain(learner, utterance)

    with failing_well():
        found = asyncio.run(work())
    if as_json:
        click.echo(json.dumps(explanation_to_json(found), ensure_ascii=False, allow_nan=False))
    else:
        show_explanation(utterance, found, Console())
