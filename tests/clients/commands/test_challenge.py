"""`galloon learners challenge | compare | promote | go-live` against a real daemon."""

import asyncio
import json
import time

import pytest
from click.testing import CliRunner

from galloon import Client, Spec, TrueText, Utterance
from galloon.__main__ import main
from tests.daemon_process import Daemon

LINES = 60


def said(number: int) -> dict[str, str]:
    """One is always right, the other always wrong."""
    return {"a": f"line number {number}", "b": f"lime numb {number}"}


@pytest.fixture
def galloon(daemon: Daemon):
    """Runs `galloon learners`."""

    def run(*arguments: str, fails: bool = False):
        environment = {"GALLOON_ADDRESS": daemon.address, "COLUMNS": "200"}
        done = CliRunner().invoke(main, ["learners", *arguments], env=environment)
        assert (done.exit_code != 0) == fails, done.output
        return done

    return run


def taught(daemon: Daemon, name: str, **fields: str) -> None:
    async def play() -> None:
        async with Client(daemon.address) as client:
            async with client.stream(name, create=Spec(("a", "b"), **fields)) as stream:
                for number in range(LINES):
                    await stream.choose(Utterance.of_texts(f"u{number}", said(number)))
                    await stream.learn(f"u{number}", TrueText(f"line number {number}"))

    asyncio.run(play())


def compared(galloon, name: str, corrections: int = LINES):
    """Once everything is counted."""
    while True:
        found = json.loads(galloon("compare", name, "--json").stdout)
        rows = (found["learner"], *found["others"])
        if min(row["corrections"] for row in rows) >= corrections and not any(row["behind"] for row in rows):
            return found
        time.sleep(0.1)


def test_a_challenger_is_added_compared_and_promoted(galloon, daemon: Daemon, name: str):
    taught(daemon, name)
    added = galloon("challenge", name, "b-alone", "--engines", "b")
    assert added.stdout.startswith(f"{name}:b-alone: plays the history of {name}")
    assert "is there already" in galloon("challenge", name, "b-alone", "--engines", "b").stdout
    found = compared(galloon, name)
    assert [(row["name"], row["kind"]) for row in found["others"]] == [
        ("b-alone", "challenger"),
        ("vote", "vote"),
        ("a", "engine"),
        ("b", "engine"),
    ]
    assert found["verdict"] == "stay"
    table = galloon("compare", name).stdout
    assert "b-alone (challenger)" in table
    assert "galloon, answered" in table
    assert table.splitlines()[-1].startswith(
        "Keep the learner that answers: no challenger is better beyond doubt"
    )
    assert "answers by the spec of b-alone now" in galloon("promote", name, "b-alone").stdout
    shown = json.loads(galloon("show", name, "--json").stdout)
    assert shown["spec"]["engines"] == ["b"]
    assert json.loads(galloon("show", f"{name}:b-alone", "--json").stdout)["spec"]["engines"] == ["a", "b"]
    assert "learners promote" not in galloon("promote", name, "nobody", fails=True).output
    galloon("delete", f"{name}:b-alone", "--yes")


def test_a_shadow_is_told_when_to_go_live(galloon, daemon: Daemon, name: str):
    galloon("create", name, "--engines", "a,b", "--answer", "b")
    taught(daemon, name, answer="b")
    found = compared(galloon, name)
    assert (found["answered"], found["verdict"]) == ("b", "go_live")
    assert f"`galloon learners go-live {name}`" in found["sentence"]
    assert "b (engine), answered" in galloon("compare", name).stdout
    assert "until now b was answered" in galloon("go-live", name).stdout
    assert "answers itself already" in galloon("go-live", name).stdout
    assert json.loads(galloon("go-live", name, "--json").stdout)["answered_before"] == ""


def test_it_is_too_early_where_little_is_known(galloon, daemon: Daemon, name: str):
    galloon("create", name, "--engines", "a,b")
    assert "Too early: 0 corrections are counted" in galloon("compare", name).stdout
    assert "no learner is called" in galloon("compare", f"{name}-not", fails=True).output
