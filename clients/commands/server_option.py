"""The options by which every command reaches a daemon, and how its errors become exit statuses.

`connection_options` adds them to a command, which gets a `ServerOption`; `own_daemon_options` to one that starts a
daemon of its own when no --server is given. `failing_well` turns errors of the client into a sentence: exit status
2 for wrong usage, 1 for everything else.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from galloon.clients.api.blocking import BlockingClient
from galloon.clients.api.client import Client
from galloon.clients.api.connection import DEFAULT_ADDRESS, Connection
from galloon.clients.api.errors import ClientError, WrongUsage
from galloon.clients.api.stream import StreamOptions
from galloon.learners.errors import InvalidInput, LearnerError

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class ServerOption:
    """A daemon, as the options describe it."""

    connection: Connection
    timeout_s: float

    def client(self) -> Client:
        return Client(self.connection, options=self._options())

    def blocking_client(self) -> BlockingClient:
        return BlockingClient(self.connection, options=self._options())

    def _options(self) -> StreamOptions:
        return StreamOptions(timeout_s=self.timeout_s, open_timeout_s=self.timeout_s)


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --server, --ca, --cert, --key, --token-file and --timeout; they arrive as `server`."""
    server = click.option(
        "--server",
        metavar="HOST:PORT",
        default=DEFAULT_ADDRESS,
        envvar="GALLOON_ADDRESS",
        show_default=True,
        show_envvar=True,
        help="Where the daemon listens.",
    )
    return _with_options(command, server)


def own_daemon_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but `server` is None where no --server is given."""
    server = click.option(
        "--server", metavar="HOST:PORT", help="Where a daemon listens. Else: one is started for this run."
    )
    return _with_options(command, server)


def _with_options(command: Callable[..., Any], server_option: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(command)
    def with_server(
        *arguments: Any,
        server: str | None,
        ca: Path | None,
        cert: Path | None,
        key: Path | None,
        token_file: Path | None,
        token: str | None,
        timeout: float,
        **others: Any,
    ) -> Any:
        with failing_well():
            if token_file is not None:
                token = token_file.read_text(encoding="utf-8").strip()
            chosen = (
                server
                if server is None
                else ServerOption(Connection(server, ca, cert, key, token or None), timeout)
            )
        return command(*arguments, server=chosen, **others)

    options = [
        server_option,
        click.option(
            "--ca",
            type=_FILE,
            envvar="GALLOON_CA",
            show_envvar=True,
            help="Authority of the daemon: use TLS.",
        ),
        click.option("--cert", type=_FILE, help="Our certificate, for a daemon that asks for one (mTLS)."),
        click.option("--key", type=_FILE, help="Key of the certificate."),
        click.option("--token-file", type=_FILE, help="File with the bearer token. Else: GALLOON_TOKEN."),
        # Not a flag: command lines are visible to everybody on the machine.
        click.option("--token", envvar="GALLOON_TOKEN", hidden=True),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=10.0,
            show_default=True,
            help="Seconds to wait for the daemon.",
        ),
    ]
    decorated: Callable[..., Any] = with_server
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


@contextmanager
def failing_well() -> Iterator[None]:
    """Errors of the client and of specs as sentences with an exit status."""
    try:
        yield
    except (WrongUsage, InvalidInput) as error:
        raise click.UsageError(str(error)) from error
    except (ClientError, LearnerError) as error:
        raise click.ClickException(str(error)) from error
    except BrokenPipeError:
        raise  # whoever read our output, such as `head`, has enough: the command line library ends without a word
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        raise click.ClickException(f"{name}{error.strerror or error}") from error
