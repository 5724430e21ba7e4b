"""Which daemon to ask for a learner, where several share a store: `Routes` has a channel to each that was asked.

A daemon that does not have the learner names the one that has; one that is gone is followed by the next address.
One that is merely silent may be busy, paused or cut off: the others know (`elsewhere`).
"""

import asyncio
from contextlib import suppress
from dataclasses import replace

from grpc import aio

from galloon.clients.api.connection import Connection, credentials_of, open_channel
from galloon.clients.api.errors import WrongUsage
from galloon.codec.request import open_request
from galloon.v1 import combine_pb2 as wire
from galloon.v1.combine_pb2_grpc import CombineServiceStub

OWNER = "galloon-owner"  # in the trailing metadata of a refusal
LEARNER = "galloon-learner"  # in the metadata of every call, so that a proxy can route
REMEMBERED = 10_000  # learners whose daemon is known
ASK_S = 1.0  # that one of the others has to say who has a learner


class Routes:
    """All addresses of a connection, and those that daemons have named."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._channels: dict[str, aio.Channel] = {}
        self._at: dict[str, str] = {}  # the address of a learner, where it is not the first
        if connection.ca is not None:
            credentials_of(connection)  # says at once which file cannot be read

    def channel(self, learner: str) -> aio.Channel:
        return self._channel_to(self.address(learner))

    def _channel_to(self, address: str) -> aio.Channel:
        if address not in self._channels:
            self._channels[address] = open_channel(replace(self._connection, address=address))
        return self._channels[address]

    def address(self, learner: str) -> str:
        return self._at.get(learner, self._connection.addresses[0])

    def metadata(self, learner: str) -> aio.Metadata:
        metadata = self._connection.metadata
        if learner.isascii() and learner.isprintable():  # other names are refused anyway, with a sentence
            metadata.add(LEARNER, learner)
        return metadata

    def lost(self, learner: str, owner: str = "") -> None:
        """The daemon of this learner is gone, or says that another one has it."""
        addresses = self._connection.addresses
        if owner and self._may_go_to(owner):
            self._at[learner] = owner
        else:
            here = self.address(learner)
            place = addresses.index(here) + 1 if here in addresses else 0
            self._at[learner] = addresses[place % len(addresses)]
        while len(self._at) > REMEMBERED:
            del self._at[next(iter(self._at))]

    async def elsewhere(self, learner: str) -> str:
        """Who has a learner by the word of the others, if not the daemon that we ask; empty where nobody else."""
        here = self.address(learner)
        for address in self._connection.addresses:
            if address != here:
                with suppress(aio.AioRpcError, TimeoutError):
                    async with asyncio.timeout(ASK_S):
                        owner = await self._ask(address, learner)
                        return "" if owner == here else owner
        return ""

    async def _ask(self, address: str, learner: str) -> str:
        """Who has a learner, by the word of this daemon: itself, if a stream to it can be opened there."""
        call = CombineServiceStub(self._channel_to(address)).Combine(metadata=self.metadata(learner))
        try:
            await call.write(open_request(learner, None, False, []))
            response = await call.read()
        finally:
            call.cancel()
        if not isinstance(response, wire.CombineResponse):
            return ""
        return address if response.HasField("opened") else response.problem.owner

    async def close(self) -> None:
        for channel in self._channels.values():
            await channel.close()

    def _may_go_to(self, owner: str) -> bool:
        """Not where our token would travel unencrypted, whatever a daemon says."""
        try:
            replace(self._connection, address=owner)
        except WrongUsage:
            return False
        return True


def owner_in(error: aio.AioRpcError) -> str:
    """The address that a refused call was sent on to; empty where none was named."""
    for key, value in error.trailing_metadata() or ():
        if key == OWNER:
            return str(value)
    return ""
