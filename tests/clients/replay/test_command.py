"""`galloon replay` through real daemons: the contract of its JSON, determinism, states, and how it fails."""

import json
from pathlib import Path

import pytest

from tests.clients.replays import CHEAP, SAMPLE, cats, galloon, record, told, write
from tests.daemon_process import Daemon, free_port

CONTRACT = (
    *("utterances", "unit", "normalizer", "engines", "vote", "galloon", "oracle_slot"),
    *("gain", "regret", "bound", "seconds"),
)
TIMES = ("seconds", "utterances_per_s")


def without_times(report: dict) -> dict:
    return {name: value for name, value in report.items() if name not in TIMES}


@pytest.mark.parametrize("unit", ["word", "char"])
def test_one_object_with_all_that_the_contract_names(daemon: Daemon, unit: str):
    report = told("replay", SAMPLE, "--server", daemon.address, "--limit", "25", "--unit", unit)
    assert not [name for name in CONTRACT if name not in report]
    assert (report["utterances"], report["unit"], report["normalizer"]) == (25, unit, "basic")
    assert list(report["engines"])[:2] == ["tess_eng", "tess_deu"]
    for system in (*report["engines"].values(), report["vote"], report["galloon"], report["oracle_slot"]):
        assert system["wer"] >= 0
        assert system["cer"] >= 0
    shown = report["galloon"]
    metric = {"word": "wer", "char": "cer"}[unit]
    assert report["interval"]["metric"] == metric
    assert report["interval"]["low"] <= shown[metric] <= report["interval"]["high"]
    for other in ("vs_vote", "vs_best_engine"):
        assert report[other]["low"] <= report[other]["difference"] <= report[other]["high"]
    assert report["vs_best_engine"]["engine"] in report["engines"]
    assert report["oracle_slot"][metric] <= shown[metric]


def test_a_daemon_of_its_own_gives_the_numbers_of_a_shared_one(daemon: Daemon, tmp_path: Path):
    """The same seed, the same output exactly, wherever the learner lives; another seed, other draws."""
    options = ("replay", SAMPLE, "--limit", "30", "--seed", "5", *CHEAP)
    own = told(*options)
    shared = told(*options, "--server", daemon.address)
    assert without_times(own) == without_times(shared)
    other = told(*options[: -len(CHEAP) - 1], "6", *CHEAP, "--server", daemon.address)
    assert other["gain"] != own["gain"]


def test_the_default_learner_learns(daemon: Daemon, tmp_path: Path):
    """An engine that is right against two that share an error wins in the end, though the vote never sees it."""
    lines = [record(n, a="the cat sat", b="the hat sat", c="the hat sat") for n in range(60)]
    report = told("replay", write(tmp_path / "u.jsonl", *lines), "--server", daemon.address)
    assert report["vote"]["wer"] == pytest.approx(100 / 3, abs=0.01)
    assert report["galloon"]["wer"] < 5
    assert report["vs_vote"]["excludes_zero"]
    assert report["fifths"]["galloon"]["last"] == 0


def test_two_halves_with_a_state_are_the_whole(daemon: Daemon, tmp_path: Path):
    """A learner that was saved goes on as if it had never stopped, ids of the first half repeated or not."""
    records = [json.loads(line) for line in cats(tmp_path / "all.jsonl", 20).read_text().splitlines()]
    halves = [write(tmp_path / f"{n}.jsonl", *records[10 * n : 10 * n + 10]) for n in range(2)]
    options = ("--server", daemon.address, *CHEAP, "--seed", "2")
    whole = told("replay", tmp_path / "all.jsonl", *options)
    state = tmp_path / "learner.galloon"
    first = told("replay", halves[0], *options, "--state", state)
    assert state.stat().st_size > 0
    second = told("replay", halves[1], "--server", daemon.address, "--state", state)
    assert second["learner"]["lessons_before"] == 10
    assert first["gain"] + second["gain"] == whole["gain"]
    assert (second["regret"], second["learner"]["gain"]) == (whole["regret"], whole["learner"]["gain"])
    again = told("replay", halves[1], "--server", daemon.address, "--state", state)
    assert again["learner"]["lessons_before"] == 20


def test_a_state_refuses_options_that_contradict_it(daemon: Daemon, tmp_path: Path):
    file, state = cats(tmp_path / "u.jsonl", 4), tmp_path / "learner.galloon"
    told("replay", file, "--server", daemon.address, "--state", state, *CHEAP)
    result = galloon("replay", file, "--server", daemon.address, "--state", state, "--unit", "char")
    assert result.exit_code == 2
    assert "unit word, not char" in result.stderr


def test_a_named_learner_stays_and_others_go(daemon: Daemon, tmp_path: Path, name: str):
    file = cats(tmp_path / "u.jsonl", 4)
    told("replay", file, "--server", daemon.address, *CHEAP)
    told("replay", file, "--server", daemon.address, "--name", name, *CHEAP)
    there = galloon("learners", "--help")
    assert there.exit_code == 0
    second = told("replay", file, "--server", daemon.address, "--name", name)
    assert second["learner"]["lessons_before"] == 4
    listed = told("learners", "list", "--server", daemon.address)
    names = [learner["name"] for learner in listed["learners"]]
    assert name in names
    assert not [other for other in names if other.startswith("replay/")]


def test_context_experts_limit_and_settings(daemon: Daemon, tmp_path: Path):
    file = cats(tmp_path / "u.jsonl", 8)
    options = ("--server", daemon.address, "--engines", "c,a", "--limit", "5", "--context", "domain")
    report = told("replay", file, *options, "--also", "semi", "--also", "bandit")
    assert list(report["engines"]) == ["c", "a"]
    assert report["utterances"] == 5
    assert report["learner"]["spec"]["labels"] == ["domain"]
    assert set(report["domains"]) == {"even", "odd"}
    assert list(report["also"]) == ["galloon, semi", "galloon, bandit"]


def test_an_utterance_without_a_true_text_is_played_and_not_scored(daemon: Daemon, tmp_path: Path):
    records = [
        record(0, a="x y", b="x z", target="x y"),
        record(1, None, a="x y"),
        record(2, a="", target="x"),
    ]
    report = told("replay", write(tmp_path / "u.jsonl", *records), "--server", daemon.address)
    assert (report["utterances"], report["scored"]) == (3, 2)


def test_why_each_token_was_chosen(daemon: Daemon, tmp_path: Path):
    file = cats(tmp_path / "u.jsonl", 3)
    report = told("replay", file, "--server", daemon.address, "--explain", "u2")
    slots = report["explanation"]["slots"]
    assert [slot["offers"][0]["token"] for slot in slots] == report["explanation"]["text"].split()
    assert slots[0]["offers"][0]["experts"][:3] == ["a", "b", "c"]
    assert {offer["token"] for offer in slots[1]["offers"]} == {"cat", "hat"}
    people = galloon("replay", file, "--server", daemon.address, "--explain", "u2")
    assert "after 2 lessons" in people.stdout
    assert "looking at" in people.stdout
    assert slots[1]["offers"][0]["reasons"]
    assert set(slots[1]["trust"]) >= {"a", "b", "c", "scorer"}
    assert "all agree" in people.stdout


def test_the_table_for_people(daemon: Daemon, tmp_path: Path):
    shown = galloon("replay", cats(tmp_path / "u.jsonl"), "--server", daemon.address, *CHEAP)
    assert shown.exit_code == 0, shown.output
    for part in ("majority vote", "best token per slot", "against the vote", "regret", "utterances a second"):
        assert part in shown.stdout


@pytest.mark.parametrize("unit", ["word", "char"])
def test_files_at_the_edge_have_curves_and_a_report(daemon: Daemon, tmp_path: Path, unit: str):
    """One line without an error; and a line of which no engine said anything."""
    edges = {"right": [record(0, a="the cat sat", b="the cat sat")], "silent": [record(0, a="", b="")]}
    for name, lines in edges.items():
        file, out = write(tmp_path / f"{name}.jsonl", *lines), (tmp_path / "c.svg", tmp_path / "r.html")
        options = ("--server", daemon.address, "--unit", unit, "--plot", out[0], "--report", out[1])
        report = told("replay", file, *options)
        assert report["galloon"]["wer"] == {"right": 0, "silent": 100}[name]
        assert report["galloon"]["wer"] == report["vote"]["wer"] == report["oracle_slot"]["wer"]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_curves_are_a_picture_and_the_same_again(daemon: Daemon, tmp_path: Path, ending: str):
    file = cats(tmp_path / "u.jsonl", 30)
    pictures = []
    for n in range(2):
        picture = tmp_path / f"{n}.{ending}"
        told("replay", file, "--server", daemon.address, *CHEAP, "--plot", picture)
        pictures.append(picture.read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(b"\x89PNG" if ending == "png" else b"<?xml")


WRONG_USAGE = {
    "expert": (("--engines", "a,d"), "no engine is called 'd'; the file has a, b, c"),
    "twice": (("--engines", "a,a"), "named twice"),
    "context": (("--context", "speaker"), "no utterance of the file has this field; it has domain"),
    "plot": (("--plot", "curve.gif"), "must end in .png or .svg"),
    "name": (("--name", "x"), "name one with --server"),
    "explain": (("--explain", "u99"), "no utterance of"),
    "window": (("--window", "0", *CHEAP), "window: 0 slots"),
    "gain": (("--gain", "ngram", "--order", "0"), "--order"),
    "algorithm": (("--algorithm", "magic"), "--algorithm"),
}


@pytest.mark.parametrize("case", WRONG_USAGE)
def test_wrong_usage_ends_with_status_2_and_what_to_do(tmp_path: Path, case: str):
    options, sentence = WRONG_USAGE[case]
    nobody = () if case == "name" else ("--server", "127.0.0.1:1")  # found out before anybody is asked
    result = galloon("replay", cats(tmp_path / "u.jsonl", 2), *options, *nobody)
    assert result.exit_code == 2, result.output
    assert sentence in " ".join(result.stderr.split())


BAD_FILES = {
    "json": ('{"id": "1", "target": "x", "experts": {}}\n{"id": oops\n', "line 2"),
    "id": (
        '{"id": "1", "experts": {}}\n{"id": "1", "experts": {}}\n',
        "line 2: the id '1' was used in line 1",
    ),
    "empty": ("\n", "there are no utterances"),
    "targets": ('{"id": "1", "experts": {"a": {"text": "x"}}}\n', "galloon combine"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_ends_with_status_1_its_name_and_line(daemon: Daemon, tmp_path: Path, case: str):
    text, sentence = BAD_FILES[case]
    file = tmp_path / "bad.jsonl"
    file.write_text(text)
    result = galloon("replay", file, "--server", daemon.address)
    assert result.exit_code == 1, result.output
    assert str(file) in result.stderr
    assert sentence in result.stderr


def test_nobody_at_the_address(tmp_path: Path):
    address = f"127.0.0.1:{free_port()}"
    result = galloon("replay", cats(tmp_path / "u.jsonl", 2), "--server", address, "--timeout", "0.3", *CHEAP)
    assert result.exit_code == 1
    assert "no daemon" in result.stderr


def test_a_state_that_is_none(daemon: Daemon, tmp_path: Path):
    state = tmp_path / "learner.galloon"
    state.write_bytes(b"not a learner")
    file = cats(tmp_path / "u.jsonl", 2)
    result = galloon("replay", file, "--server", daemon.address, "--state", state)
    assert result.exit_code == 1
    assert state.read_bytes() == b"not a learner"
