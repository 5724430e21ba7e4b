"""The options by which `galloon serve` and `galloon doctor` are told their configuration: `config_options`."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click


def config_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --config, --listen, --http, --data-dir, --store and --set; they arrive as `path` and `flags`."""

    @wraps(command)
    def with_flags(
        *arguments: Any,
        listen: str | None,
        http: str | None,
        data_dir: str | None,
        store: str | None,
        settings: tuple[str, ...],
        **others: Any,
    ) -> Any:
        named = {"server.listen": listen, "http.listen": http, "store.data_dir": data_dir, "store.url": store}
        flags = {name: value for name, value in named.items() if value is not None}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals:
                raise click.UsageError(f"--set {setting}: must be SECTION.KEY=VALUE")
            flags[name] = value
        return command(*arguments, flags=flags, **others)

    decorated: Callable[..., Any] = with_flags
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


_OPTIONS = [
    click.option(
        "--config", "-c", "path", type=click.Path(path_type=Path), help="A TOML file; see galloon.toml."
    ),
    click.option("--listen", help="Address of the gRPC port, host:port; port 0 picks a free one."),
    click.option("--http", help='Address of the HTTP port; "" turns it off.'),
    click.option("--data-dir", help="Directory of the store."),
    click.option(
        "--store",
        metavar="URL",
        help="A PostgreSQL that several daemons share, postgresql://...; else SQLite.",
    ),
    click.option("--set", "settings", multiple=True, metavar="SECTION.KEY=VALUE", help="Any other option."),
]
