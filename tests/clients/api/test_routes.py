"""Several daemons: where a learner is asked for, and where our token never goes."""

import pytest

from galloon.clients.api.connection import Connection
from galloon.clients.api.errors import WrongUsage
from galloon.clients.api.routes import LEARNER, Routes

THREE = "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"


def test_a_daemon_that_is_gone_is_followed_by_the_next_address():
    routes = Routes(Connection(THREE))
    seen = []
    for _ in range(4):
        seen.append(routes.address("a"))
        routes.lost("a")
    assert seen == [*THREE.split(","), "127.0.0.1:1"]
    assert routes.address("b") == "127.0.0.1:1", "every learner has a way of its own"


def test_a_named_owner_is_asked_next_and_left_again_when_it_is_gone():
    routes = Routes(Connection(THREE))
    routes.lost("a", "127.0.0.1:9")
    assert routes.address("a") == "127.0.0.1:9"
    routes.lost("a")
    assert routes.address("a") == "127.0.0.1:1"


def test_a_token_is_not_sent_unencrypted_wherever_a_daemon_points():
    routes = Routes(Connection(THREE, token="secret"))
    routes.lost("a", "192.0.2.1:7410")
    assert routes.address("a") == "127.0.0.1:2"
    routes.lost("a", "no address")
    assert routes.address("a") == "127.0.0.1:3"
    with pytest.raises(WrongUsage, match="unencrypted"):
        Connection("127.0.0.1:1,192.0.2.1:7410", token="secret")


def test_every_address_must_be_one():
    with pytest.raises(WrongUsage, match="'nowhere' is not an address"):
        Connection("127.0.0.1:1,nowhere")


def test_the_learner_travels_as_metadata():
    metadata = Routes(Connection(token="secret")).metadata("ocr/lines")
    assert metadata.get(LEARNER) == "ocr/lines"
    assert metadata.get("authorization") == "Bearer secret"
    assert LEARNER not in Routes(Connection()).metadata("naïve")
