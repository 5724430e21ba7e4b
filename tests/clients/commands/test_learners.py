"""`galloon learners` against a real daemon: what it prints, for people and for programs, and how it ends."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from galloon.__main__ import main
from tests.daemon_process import Daemon, free_port


@pytest.fixture
def galloon(daemon: Daemon):
    """Runs `galloon learners` on the daemon."""

    def run(*arguments: str, **others) -> Result:
        environment = {"GALLOON_ADDRESS": daemon.address, "COLUMNS": "160"}
        return CliRunner().invoke(main, ["learners", *arguments], env=environment, **others)

    return run


def told(result: Result) -> dict:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


SMALL = ("--engines", "a,b", "--algorithm", "expanded_hedge", "--gain", "ngram:order=2", "--window", "3")


def test_a_learner_from_flags(galloon, name: str):
    made = told(galloon("create", name, *SMALL, "--seed", "7", "--json"))
    assert made["created"]
    assert made["spec"]["gain"] == {"kind": "ngram", "order": 2}
    assert (made["spec"]["seed"], made["spec"]["window"], made["experts"]) == (7, 3, ["a", "b"])
    assert "is there already" in galloon("create", name, *SMALL, "--seed", "7").stdout
    other = galloon("create", name, *SMALL, "--seed", "8")
    assert (other.exit_code, "another spec" in other.stderr) == (1, True)


def test_a_learner_from_a_file_that_flags_change(galloon, name: str, tmp_path: Path):
    spec = {
        "engines": ["a", "b"],
        "algorithm": "semi_bandit",
        "window": 4,
        "options": {"confidence": 0.5},
        "gain": {"kind": "patterns", "patterns": [{"tokens": ["the", "cat"], "weight": 2.0}]},
    }
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(spec))
    made = told(
        galloon("create", name, "--spec", str(file), "--window", "5", "--option", "confidence=0.1", "--json")
    )
    assert (made["spec"]["window"], made["spec"]["options"]) == (5, {"confidence": 0.1})
    assert made["spec"]["gain"] == spec["gain"]
    piped = galloon("create", f"{name}/piped", "--spec", "-", input=json.dumps(spec))
    assert piped.exit_code == 0


def test_list_and_show(galloon, name: str):
    galloon("create", name, *SMALL)
    assert [learner["name"] for learner in told(galloon("list", name, "--json"))["learners"]] == [name]
    table = galloon("list", name).stdout
    assert "expanded_hedge" in table
    assert "ngram(order=2)" in table
    shown = told(galloon("show", name, "--json"))
    assert (shown["statistics"]["rounds_started"], len(shown["digest"])) == (0, 32)
    text = galloon("show", name).stdout
    assert shown["digest"] in text
    assert "A'" in text
    assert "no learners whose names start with 'none/'" in galloon("list", "none/").stderr


def test_export_import_snapshot_delete(galloon, name: str, tmp_path: Path):
    galloon("create", name, *SMALL)
    file = tmp_path / "learner"
    assert told(galloon("export", name, "-o", str(file), "--json"))["bytes"] == file.stat().st_size
    assert galloon("export", name, "-o", "-").stdout_bytes == file.read_bytes()
    copy = told(galloon("import", f"{name}/copy", str(file), "--json"))
    assert copy["digest"] == told(galloon("show", name, "--json"))["digest"]
    assert told(galloon("snapshot", name, "--json"))["digest"] == copy["digest"]
    assert "written" in galloon("snapshot", name).stdout
    assert "imported" in galloon("import", f"{name}/copy2", str(file)).stdout
    assert told(galloon("delete", name, "--yes", "--json")) == {"name": name, "deleted": True}
    assert galloon("show", name).exit_code == 1


WRONG = {
    "no experts": (("create", "x"), "engines"),
    "two experts of a name": (("create", "x", "--engines", "a,a"), "different"),
    "unknown gain": (("create", "x", "--engines", "a", "--gain", "fame"), "gain.kind"),
    "half a gain": (("create", "x", "--engines", "a", "--gain", "ngram:2"), "ngram:order=2"),
    "an option without value": (("create", "x", "--engines", "a", "--option", "bias"), "NAME=VALUE"),
    "an address without port": (("list", "--server", "localhost"), "host:port"),
    "delete without a word": (("delete", "x"), "--yes"),
    "json twice": (("export", "x", "-o", "-", "--json"), "standard output"),
    "a certificate without key": (("list", "--cert", __file__), "mTLS"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage_ends_with_2_and_says_what_to_do(galloon, case: str):
    arguments, sentence = WRONG[case]
    result = galloon(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_a_daemon_that_is_not_there_ends_with_1():
    address = f"127.0.0.1:{free_port()}"
    result = CliRunner().invoke(main, ["learners", "list", "--server", address, "--timeout", "0.3"])
    assert result.exit_code == 1
    assert f"no daemon at {address}" in result.stderr


@pytest.mark.parametrize("command", ["", "list", "show", "create", "delete", "snapshot", "export", "import"])
def test_help_teaches(command: str):
    result = CliRunner().invoke(main, ["learners", *command.split(), "--help"])
    assert result.exit_code == 0
    assert "Usage: " in result.stdout


def test_options_of_an_algorithm_are_numbers_or_words(galloon, name: str):
    """What is no number is a word; the daemon knows which words there are."""
    cdsb = (name, "--engines", "a,b", "--algorithm", "semi_bandit", "--window", "3")
    refused = galloon("create", *cdsb, "--option", "bias=left")
    assert (refused.exit_code, "bias 'left' is not one of" in refused.stderr) == (1, True)
    made = told(galloon("create", *cdsb, "--option", "bias=none", "--option", "confidence=0.2", "--json"))
    assert made["spec"]["options"] == {"bias": "none", "confidence": 0.2}
    assert galloon("create", *cdsb, "--option", "bias").exit_code == 2
