"""`galloon combine`: engines' files in, text out, without a truth; better text with a learner that knows them."""

import json
from pathlib import Path

import pytest

from tests.clients.replays import galloon, record, told, write
from tests.daemon_process import Daemon


@pytest.fixture
def engines(tmp_path: Path) -> list[Path]:
    texts = {"a": "The cat sat\nhere\n", "b": "The Hat sat\nhere\n", "c": "The cat sat\nthere now\n"}
    files = [tmp_path / f"{name}.txt" for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_text(text)
    return files


def test_new_learners_vote_and_leave_the_text_as_it_was_written(daemon: Daemon, engines: list[Path]):
    result = galloon("combine", *engines, "--server", daemon.address)
    assert (result.exit_code, result.stdout) == (0, "The cat sat\nhere\n")


def test_tokens_with_their_reasons_for_programs_and_people(
    daemon: Daemon, engines: list[Path], tmp_path: Path
):
    out = tmp_path / "out.jsonl"
    result = galloon("combine", *engines, "--server", daemon.address, "--json", "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    first = json.loads(out.read_text().splitlines()[0])
    assert (first["id"], first["text"]) == ("1", "The cat sat")
    offers = first["slots"][1]["offers"]
    assert [offer["token"] for offer in offers] == ["cat", "Hat"]
    assert {"a", "c"} <= set(offers[0]["experts"])
    assert sum(offer["probability"] for offer in offers) == pytest.approx(1, abs=1e-5)
    why = galloon("combine", *engines, "--server", daemon.address, "--explain", "--json")
    assert json.loads(why.stdout.splitlines()[0])["slots"][1]["contexts"]
    people = galloon("combine", *engines, "--server", daemon.address, "--explain")
    assert "▸" in people.stdout
    assert "Hat" in people.stdout


def test_a_learner_that_has_learned_is_used(daemon: Daemon, tmp_path: Path):
    """Two engines share an error that the vote believes; a state that knows them does not."""
    lines = [record(n, a="the cat sat", b="the hat sat", c="the hat sat") for n in range(60)]
    file, state = write(tmp_path / "u.jsonl", *lines), tmp_path / "learner.galloon"
    told("replay", file, "--server", daemon.address, "--state", state)
    fresh = write(tmp_path / "new.jsonl", record(0, None, a="the cat sat", b="the hat sat", c="the hat sat"))
    assert galloon("combine", fresh, "--server", daemon.address).stdout == "the hat sat\n"
    assert galloon("combine", fresh, "--server", daemon.address, "--state", state).stdout == "the cat sat\n"


def test_lines_that_an_engine_lacks(daemon: Daemon, tmp_path: Path):
    file = write(tmp_path / "u.jsonl", record(0, None, a="x y", b="x y"), record(1, None, b="z"))
    assert galloon("combine", file, "--server", daemon.address).stdout.splitlines()[0] == "x y"


def test_wrong_usage_and_files_that_cannot_be_read(engines: list[Path], tmp_path: Path):
    assert galloon("combine").exit_code == 2
    assert galloon("combine", *engines, "--name", "x").exit_code == 2
    missing = galloon("combine", tmp_path / "none.txt", "--server", "127.0.0.1:1")
    assert (missing.exit_code, "none.txt" in missing.stderr) == (1, True)


def _long(words: int, engine: int) -> str:
    """A text in which each engine misreads other words."""
    return " ".join(f"w{n}" if (n + engine) % 11 else f"x{n}" for n in range(words))


def test_lines_longer_than_a_message_may_have_slots_are_cut_and_joined(daemon: Daemon, tmp_path: Path):
    said = {name: _long(6000, k) for k, name in enumerate("abc")}
    file = write(tmp_path / "u.jsonl", record(0, None, **said))
    result = galloon("combine", file, "--server", daemon.address)
    assert result.exit_code == 0
    assert result.stdout.split() == [f"w{n}" for n in range(6000)]
    told = json.loads(galloon("combine", file, "--server", daemon.address, "--json").stdout)
    assert len(told["slots"]) == 6000
    assert told["slots"][5999]["token"] == "w5999"


def test_whole_texts_of_one_line_are_cut_and_joined(daemon: Daemon, tmp_path: Path):
    for k, name in enumerate("abc"):
        (tmp_path / f"{name}.txt").write_text(_long(5000, k))
    result = galloon("combine", *(tmp_path / f"{name}.txt" for name in "abc"), "--server", daemon.address)
    assert result.exit_code == 0
    assert result.stdout == " ".join(f"w{n}" for n in range(5000)) + "\n"


def test_a_learned_state_leaves_capitals_and_marks_as_they_were_written(daemon: Daemon, tmp_path: Path):
    said = {"a": "«The ﬁrst» of Mr. X", "b": '"The first" of Mr. X', "c": "«the ﬁrst» of mr. X"}
    lines = [record(n, "«The ﬁrst» of Mr. X", **said) for n in range(20)]
    state = tmp_path / "learner.galloon"
    told("replay", write(tmp_path / "u.jsonl", *lines), "--server", daemon.address, "--state", state)
    fresh = write(tmp_path / "new.jsonl", record(0, None, **said))
    for more in ([], ["--state", state], ["--normalizer", "english"]):
        result = galloon("combine", fresh, "--server", daemon.address, *more)
        assert (result.exit_code, result.stdout) == (0, "«The ﬁrst» of Mr. X\n")
