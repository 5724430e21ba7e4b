"""`galloon learners history` against a real daemon: lists, filters, and a file that `galloon replay` plays."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from galloon import Client, Score, Spec, TrueText, TrueTokens, Utterance
from galloon.__main__ import main
from galloon.clients.formats.utterances import read_utterances
from tests.daemon_process import Daemon

LINES = 6


def said(number: int) -> dict[str, str]:
    return {"a": f"line number {number}", "b": f"lime number {number}"}


@pytest.fixture
def galloon(daemon: Daemon, name: str):
    """Runs `galloon learners history` on a learner that was taught every other line."""

    async def play() -> None:
        async with Client(daemon.address) as client, client.stream(name, create=Spec(("a", "b"))) as stream:
            for number in range(LINES):
                await stream.choose(Utterance.of_texts(f"u{number}", said(number), labels={"page": "7"}))
            for number in range(0, LINES, 2):
                await stream.learn(f"u{number}", TrueText(f"line number {number}"))

    asyncio.run(play())

    def run(*arguments: str, learner: str = name):
        command = ["learners", "history", learner, *arguments]
        return CliRunner().invoke(main, command, env={"GALLOON_ADDRESS": daemon.address, "COLUMNS": "200"})

    return run


def test_rounds_are_listed(galloon):
    """The newest first; filters by state, time and ids."""
    listed = galloon()
    assert listed.exit_code == 0, listed.output
    rows = listed.stdout.splitlines()
    assert len(rows) == LINES + 1
    assert "u5" in rows[1]
    assert "pending" in rows[1]
    assert rows[2].split()[-3:] == ["line", "number", "4"]

    def ids(*arguments: str) -> list[str]:
        done = galloon("--json", *arguments)
        assert done.exit_code == 0, done.output
        return [round_["id"] for round_ in json.loads(done.stdout)["rounds"]]

    assert ids("--untaught") == ["u5", "u3", "u1"]
    assert ids("--state", "learned", "--oldest-first") == ["u0", "u2", "u4"]
    assert ids("--limit", "2") == ["u5", "u4"]
    assert ids("--since", "2020-01-01", "--until", "2021-01-01") == []
    assert galloon("--untaught", "--state", "learned").exit_code == 2
    assert galloon(learner="nobody").exit_code == 1


def test_ids_that_are_not_there_are_named(galloon, tmp_path):
    file = tmp_path / "ids"
    file.write_text("u3\nnever\nu0\n")
    done = galloon("--ids", str(file), "--json")
    assert done.exit_code == 1
    assert "never: not in the history" in done.stderr
    first, second = json.loads(done.stdout)["rounds"]
    assert (first["id"], "true_text" in first) == ("u3", False)
    assert (second["id"], second["true_text"]) == ("u0", "line number 0")
    file.write_text("\n")
    assert galloon("--ids", str(file)).exit_code == 2


def test_a_file_holds_what_came_and_plays(galloon, daemon: Daemon, tmp_path):
    """Every word, label and true text, in the order in which it came."""
    file = tmp_path / "past.jsonl.gz"
    done = galloon("-o", str(file))
    assert done.stdout == f"{file}: {LINES} rounds, {LINES // 2} with a true text\n"
    found = list(read_utterances(file))
    assert [utterance.id for utterance in found] == [f"u{number}" for number in range(LINES)]
    for number, utterance in enumerate(found):
        assert {output.name: output.text for output in utterance.outputs} == said(number)
        assert utterance.target == (None if number % 2 else f"line number {number}")
        assert utterance.labels == {"page": "7"}
    again = galloon("-o", "-", "--untaught", "--limit", "1")
    assert json.loads(again.stdout)["id"] == "u1"
    replayed = CliRunner().invoke(main, ["replay", str(file), "--server", daemon.address, "--json"])
    assert replayed.exit_code == 0, replayed.output


def test_slots_become_texts_and_a_score_is_no_truth(daemon: Daemon, name: str, tmp_path):
    """What can be written is; feedback that is no text gives no target."""

    async def play() -> None:
        spec = Spec(("a", "b"), setting="bandit")
        async with Client(daemon.address) as client, client.stream(name, create=spec) as stream:
            for number in range(2):
                slots = {"a": ["the", "", "cat"], "b": ["a", "", "hat"]}
                await stream.choose(Utterance.of_slots(f"u{number}", slots))
            await stream.learn("u0", TrueTokens(("the", "", "cat")))
            await stream.learn("u1", Score(1.0))

    asyncio.run(play())
    environment = {"GALLOON_ADDRESS": daemon.address}
    file = tmp_path / "past.jsonl"
    done = CliRunner().invoke(main, ["learners", "history", name, "-o", str(file), "--json"], env=environment)
    assert json.loads(done.stdout) == {"output": str(file), "rounds": 2, "targets": 1, "left_out": 0}
    first, second = read_utterances(file)
    assert (first.outputs[0].text, first.target, second.target) == ("the cat", "the cat", None)
    listed = CliRunner().invoke(main, ["learners", "history", name, "--json"], env=environment)
    assert [round_.get("score") for round_ in json.loads(listed.stdout)["rounds"]] == [1.0, None]
