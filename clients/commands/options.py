"""What several commands share: files to write, many options at once (`with_options`), the help of a group."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def with_options(command: Callable[..., Any], options: Sequence[Decorator]) -> Callable[..., Any]:
    """The command with these options, in this order in its help."""
    for option in reversed(options):
        command = option(command)
    return command


class Commands(click.Group):
    """A group whose help says what each command does in a whole sentence."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        names = self.list_commands(ctx)
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=200)) for name in names])


class OutputFile(click.Path):
    """A file to write. Its folder is looked at before any work is done, not after it."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, path_type=Path)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:  # click's own type: str, bytes or Path
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(f"{path}: the folder {path.parent} does not exist; make it first", param, ctx)
        if not os.access(path.parent, os.W_OK):
            self.fail(f"{path}: nothing can be written to the folder {path.parent}", param, ctx)
        return path


class OutputPlace(OutputFile):
    """A file to write, or a folder that is there, or is made if its name ends with a slash."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = os.fsdecode(value)
        if Path(text).is_dir() or text.endswith(os.sep):
            return Path(text)
        return super().convert(value, param, ctx)
