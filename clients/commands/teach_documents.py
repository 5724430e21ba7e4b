"""Corrected documents for `galloon teach`: a folder with a file for each, in any format that galloon reads."""

import asyncio
import json
from pathlib import Path

import click

from galloon.clients.api.errors import Refused
from galloon.clients.commands.server_option import ServerOption, failing_well
from galloon.clients.documents.corrections import true_texts
from galloon.clients.documents.sources import document_stem, files_in

SHOWN = 20  # lines without their part of a true text that are printed one by one


def teach_folder(learner: str, folder: Path, as_json: bool, server: ServerOption) -> None:
    """Teach every document its true text, page by page; status 1 if a line or a document was not taught."""
    with failing_well():
        files = {document_stem(path): path for path in files_in(folder)}
        taught, untaught = asyncio.run(_teach(server, learner, files))
    if as_json:
        click.echo(json.dumps({"learned": taught, "refused": untaught}, ensure_ascii=False))
    else:
        for name, why in list(untaught.items())[:SHOWN]:
            click.echo(f"{name}: {why}", err=True)
        click.echo(f"{len(files):,} documents: {taught:,} lines learned, {len(untaught):,} refused")
    if untaught:
        raise SystemExit(1)


async def _teach(server: ServerOption, learner: str, files: dict[str, Path]) -> tuple[int, dict[str, str]]:
    taught, untaught = 0, dict[str, str]()
    async with server.client() as client:
        for stem, path in files.items():
            try:
                lesson = await client.correct_document(learner, stem, true_texts(path))
            except Refused as refused:
                untaught[stem] = str(refused)
                continue
            taught += len(lesson.taught)
            untaught |= lesson.untaught
    return taught, untaught
