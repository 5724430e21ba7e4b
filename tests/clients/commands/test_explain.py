"""`galloon explain` against a real daemon: for people, for programs, and when there is nothing to explain."""

import json

import pytest
from click.testing import CliRunner, Result

from galloon.__main__ import main
from galloon.clients.api.blocking import BlockingClient
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from tests.daemon_process import Daemon


@pytest.fixture
def galloon(daemon: Daemon):
    def run(*arguments: str) -> Result:
        environment = {"GALLOON_ADDRESS": daemon.address, "COLUMNS": "200"}
        return CliRunner().invoke(main, ["explain", *arguments], env=environment)

    return run


def test_for_people_and_programs(daemon: Daemon, galloon, name: str):
    spec = CombinerSpec(engines=("a", "b", "c"), decide="best")
    said = {"a": "the cat sat", "b": "the hat sat", "c": "the cat"}
    with BlockingClient(daemon.address) as client, client.stream(name, create=spec) as stream:
        for number in range(10):
            stream.choose(Utterance.of_texts(f"u{number}", said))
            if number < 9:
                stream.learn(f"u{number}", TrueText("the cat sat"))
        assert client.explain(name, "u9").text == "the cat sat"
        for number in range(10, 80):  # so many that the first ones are no longer held as they were made
            stream.choose(Utterance.of_texts(f"u{number}", said))
    shown = galloon(name, "u9")
    assert shown.exit_code == 0, shown.output
    assert "u9, after 9 lessons: the cat sat" in shown.stdout
    assert "all agree" in shown.stdout
    assert "∅" in shown.stdout  # c says nothing last
    assert "a = c | b" in shown.stdout  # who agrees with whom
    told = json.loads(galloon(name, "u9", "--json").stdout)
    assert (told["state"], told["lessons"], told["lessons_since"]) == ("pending", 9, 0)
    cat = told["slots"][1]
    assert (cat["token"], [offer["token"] for offer in cat["offers"]]) == ("cat", ["cat", "hat"])
    assert all(offer["reasons"] for offer in cat["offers"])
    old = galloon(name, "u0")
    assert "explained 9 later" in old.stdout
    assert "a = c | b" in old.stdout  # the history has what was said


def test_what_is_not_there(galloon, name: str):
    missing = galloon(name, "u1")
    assert (missing.exit_code, "no learner is called" in missing.stderr) == (1, True)
