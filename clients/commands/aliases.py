"""Options with a second name that help does not show: `click.option(..., cls=Aliased, aliases=["--old"])`."""

from typing import Any

import click


class Aliased(click.Option):
    """An option that is also accepted under other names."""

    def __init__(self, *declarations: Any, aliases: list[str], **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self._aliases = aliases

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        shown = self.opts
        self.opts = [*shown, *self._aliases]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown
