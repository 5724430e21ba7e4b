"""A learner for the length of a command: `temporary_learner` gives it a name and takes it away again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from secrets import token_hex

from galloon.clients.api.client import Client
from galloon.clients.api.errors import ClientError, Unreachable


@asynccontextmanager
async def temporary_learner(
    client: Client, purpose: str, *, name: str | None = None, shared: bool = True
) -> AsyncIterator[str]:
    """The name of a learner that the block may create; deleted after it.

    With a name of its own it is not temporary and stays. On a daemon that is not shared it stays too: that daemon
    ends soon.
    """
    if name is not None:
        yield name
        return
    temporary = f"{purpose}/{token_hex(8)}"
    reachable = True
    try:
        yield temporary
    except Unreachable:
        reachable = False  # to ask once more would only double the time until the caller hears of it
        raise
    finally:
        if shared and reachable:
            with suppress(
                ClientError
            ):  # never made, or the daemon is gone: then the first error is the one to hear
                await client.delete_learner(temporary)
