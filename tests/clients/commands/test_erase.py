"""`galloon learners erase` and `erase_rounds` against a real daemon."""

import json

import pytest
from click.testing import CliRunner

from galloon import BlockingClient, Spec, TrueText, Utterance
from galloon.__main__ import main
from tests.daemon_process import Daemon


@pytest.fixture
def galloon(daemon: Daemon, name: str):
    """Runs the command on a learner with four rounds, the last two of somebody else."""
    with BlockingClient(daemon.address) as client, client.stream(name, create=Spec(("a", "b"))) as stream:
        for number, who in enumerate(("ann", "ann", "bob", "bob")):
            texts = dict.fromkeys(("a", "b"), f"line {number}")
            stream.choose(Utterance.of_texts(f"u{number}", texts, labels={"who": who}))
            stream.learn(f"u{number}", TrueText(f"line {number}"))

    def run(*arguments: str, said: str | None = None):
        command = ["learners", "erase", name, *arguments]
        return CliRunner().invoke(main, command, input=said, env={"GALLOON_ADDRESS": daemon.address})

    return run


def test_by_ids_and_by_label(daemon, name, galloon):
    done = galloon("--ids", "-", "--yes", "--json", said="u1\nnobody\n\nu1\n")
    assert done.exit_code == 1, "one of them is not known"
    told = json.loads(done.stdout)
    assert (told["erased"], told["unknown_ids"], told["lessons"]) == (1, ["nobody"], 3)
    again = galloon("--ids", "-", "--yes", said="u1\n")
    assert again.exit_code == 0
    assert "0 rounds erased, 1 had been erased before" in again.stdout
    with BlockingClient(daemon.address) as client:
        erased = client.erase_rounds(name, label=("who", "bob"))
        assert (erased.erased, erased.lessons) == (2, 1)
        assert [round_.id for round_ in client.past_rounds(name)] == ["u0"]
    nobody = galloon("--label", "who=bbo", "--yes")
    assert nobody.exit_code == 1
    assert "no round in the history has the label who=bbo" in nobody.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give --ids FILE or --label KEY=VALUE"),
        (("--ids", "-", "--label", "who=ann"), "give --ids FILE or --label KEY=VALUE"),
        (("--label", "ann"), "write KEY=VALUE"),
        (("--ids", "-"), "there is no id in it"),
        (("--label", "who=ann"), "needs --yes"),
    ],
)
def test_wrong_usage_erases_nothing(galloon, daemon, name, arguments, words):
    refused = galloon(*arguments, said="")
    assert refused.exit_code == 2, refused.output
    assert words in refused.output
    with BlockingClient(daemon.address) as client:
        assert len(list(client.past_rounds(name))) == 4
