"""Which daemon to ask for a learner, where several share a store: `Routes` has a channel to each that was asked.

A daemon that does not have the learner names the one that has; one that is gone is followed by the next address.
"""

from dataclasses import replace

from grpc import aio

from galloon.clients.api.connection import Connection, credentials_of, open_channel
from galloon.clients.api.errors import WrongUsage

OWNER = "galloon-owner"  # in the trailing metadata of a refusal
LEARNER = "galloon-learner"  # in the metadata of every call, so that a proxy can route
REMEMBERED = 10_000  # learners whose daemon is known


class Routes:
    """All addresses of a connection, and those that daemons have named."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._channels: dict[str, aio.Channel] = {}
        self._at: dict[str, str] = {}  # the address of a learner, where it is not the first
        if connection.ca is not None:
            credentials_of(connection)  # says at once which file cannot be read

    def channel(self, learner: str) -> aio.Channel:
        address = self.address(learner)
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
