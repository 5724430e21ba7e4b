"""Learners for the length of a command."""

import pytest

from galloon.clients.api.errors import Unreachable, WrongUsage
from galloon.clients.commands.temporary_learner import temporary_learner


class Recorded:
    """A client that notes what it deletes."""

    def __init__(self):
        self.deleted = []

    async def delete_learner(self, name):
        self.deleted.append(name)


async def test_it_is_deleted_at_the_end_and_after_an_error():
    client = Recorded()
    async with temporary_learner(client, "combine") as first:
        pass
    with pytest.raises(WrongUsage):
        async with temporary_learner(client, "combine") as second:
            raise WrongUsage("no")
    assert client.deleted == [first, second]


async def test_a_daemon_that_is_not_there_is_not_asked_twice():
    """That would double the time until the command says so."""
    client = Recorded()
    with pytest.raises(Unreachable):
        async with temporary_learner(client, "combine"):
            raise Unreachable("no daemon")
    assert client.deleted == []
