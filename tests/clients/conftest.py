"""One real daemon for all tests of the clients that leave it alive."""

from collections.abc import AsyncIterator, Iterator

import pytest

from galloon.clients.api.client import Client
from tests.daemon_process import Daemon, running_daemon


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with running_daemon(tmp_path_factory.mktemp("daemon")) as daemon:
        yield daemon


@pytest.fixture
async def client(daemon: Daemon) -> AsyncIterator[Client]:
    async with Client(daemon.address) as client:
        yield client


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A learner's name that no other test uses."""
    return f"{request.module.__name__.rpartition('.')[2]}/{request.node.name.partition('[')[0]}"
