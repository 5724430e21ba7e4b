"""`galloon learners update` and `update_learner` against a real daemon."""

import json

import pytest
from click.testing import CliRunner

from galloon import BlockingClient, Spec, TrueText, Utterance
from galloon.__main__ import main
from galloon.clients.api.errors import ClientError
from tests.daemon_process import Daemon


def said(number: int, *engines: str) -> Utterance:
    return Utterance.of_texts(f"u{number}", dict.fromkeys(engines, f"line number {number}"))


@pytest.fixture
def galloon(daemon: Daemon):
    def run(*arguments: str):
        return CliRunner().invoke(
            main, ["learners", "update", *arguments], env={"GALLOON_ADDRESS": daemon.address}
        )

    return run


def test_engines_come_and_go_under_an_open_stream(daemon, name, galloon):
    """What an open stream may send changes with the learner; the same from a program."""
    with BlockingClient(daemon.address) as client, client.stream(name, create=Spec(("a", "b"))) as stream:
        stream.choose(said(0, "a", "b"))
        stream.learn("u0", TrueText("line number 0"))
        added = galloon(name, "--add", "c", "--json")
        assert added.exit_code == 0, added.output
        told = json.loads(added.stdout)
        assert told["changed_fields"] == ["engines"]
        assert not told["rebuilt"]
        assert told["learner"]["spec"]["engines"] == ["a", "b", "c"]
        assert stream.choose(said(1, "a", "b", "c")).text == "line number 1"
        done = client.update_learner(name, remove_engines=["b"])
        assert done.learner.spec.engines == ("a", "c")
        assert done.learner.statistics.lessons == 1
        with pytest.raises(ClientError, match="'b' is not an engine of this learner"):
            stream.choose(said(2, "a", "b"))
        assert "has it so already" in galloon(name, "--engines", "a,c").stdout


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ((), 2, "nothing to change"),
        (("--remove", "zed"), 2, "'zed' is not an engine of this learner; known are a, b"),
        (("--add", "a"), 2, "is an engine of this learner already"),
        (("--normalizer", "nonsense"), 2, "is not one of"),
        (("--option", "nonsense=3"), 1, "spec.options"),
        (("--default", "engines"), 1, "default_fields"),
    ],
)
def test_a_wrong_change_is_refused(daemon, name, galloon, arguments, status, words):
    with BlockingClient(daemon.address) as client:
        client.create_learner(name, Spec(("a", "b")))
        refused = galloon(name, *arguments)
        assert refused.exit_code == status, refused.output
        assert words in refused.output
        assert client.get_learner(name).spec.engines == ("a", "b")
