"""A wire between a client and a daemon that a test can cut, mend, or make deaf: bytes forwarded on loopback."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Wire:
    """Forwards connections to the daemon's address while it is whole."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._whole, self._deaf = True, False
        self._ends: set[asyncio.StreamWriter] = set()
        self.address = ""

    def cut(self) -> None:
        """Break every connection, and every new one until it is mended."""
        self._whole = False
        for end in list(self._ends):
            end.transport.abort()

    def mend(self) -> None:
        self._whole, self._deaf = True, False

    def deafen(self) -> None:
        """From now on the client hears nothing, while the daemon still does."""
        self._deaf = True

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._whole:
            writer.transport.abort()
            return
        onward_reader, onward_writer = await asyncio.open_connection(*self._target)
        self._ends |= {writer, onward_writer}
        await asyncio.gather(
            self._forward(reader, onward_writer, heard=False),
            self._forward(onward_reader, writer, heard=True),
        )

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, heard: bool
    ) -> None:
        try:
            while data := await reader.read(65536):
                if not (heard and self._deaf):
                    writer.write(data)
                    await writer.drain()
        except ConnectionError:
            pass  # cut: the other direction ends below
        finally:
            self._ends.discard(writer)
            writer.close()


@asynccontextmanager
async def wire_to(address: str) -> AsyncIterator[Wire]:
    wire = Wire(address)
    server = await asyncio.start_server(wire.connected, "127.0.0.1", 0)
    wire.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
        wire.cut()
