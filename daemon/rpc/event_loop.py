"""The event loop of the daemon: asyncio's, but gRPC's wake-up calls are taken together.

For every finished read or write gRPC puts a byte into a socket pair; its handler takes one byte and then handles
everything that has finished. So bytes are left over, one for each further event, the loop turns once for each of
them, and when a few hundred lie there the pair is full: gRPC's own thread then waits in its write, and with it
every client of the daemon. Here the handler finds one byte, and one turn of the loop is enough.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVarTuple

if TYPE_CHECKING:
    from _typeshed import FileDescriptorLike

Arguments = TypeVarTuple("Arguments")
BYTES = 4096  # more than a socket pair holds of single bytes


class EventLoop(asyncio.SelectorEventLoop):
    """asyncio's own transports do not come through `add_reader`: only gRPC does."""

    def add_reader(
        self, fd: "FileDescriptorLike", callback: Callable[[*Arguments], Any], *args: *Arguments
    ) -> None:
        def called() -> None:
            if isinstance(fd, socket.socket):
                _leave_one(fd)
            callback(*args)

        super().add_reader(fd, called)


def _leave_one(calls: socket.socket) -> None:
    """Take all calls but one, which gRPC's handler takes. What finishes from now on calls again."""
    waiting = len(calls.recv(BYTES, socket.MSG_PEEK))
    if waiting > 1:
        calls.recv(waiting - 1)
