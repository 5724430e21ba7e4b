"""`galloon simulate` as a person and as a program meet it."""

import json

import pytest
from click.testing import CliRunner

from galloon.__main__ import main

SMALL = ["-r", "2", "-l", "3", "-T", "60", "--seeds", "2"]


def _run(*arguments):
    return CliRunner().invoke(main, ["simulate", *SMALL, *arguments])


def test_json_holds_every_curve():
    result = _run("--learner", "component_hedge", "--learner", "exp3_paths", "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert set(report["learners"]) == {"component_hedge", "exp3_paths"}
    for games in report["learners"].values():
        assert [game["seed"] for game in games] == [0, 1]
        for game in games:
            assert game["regret"] <= game["bound"]
            assert len(game["curve"]["round"]) == len(game["curve"]["regret"]) == 60


def test_a_person_sees_a_table():
    result = _run("--gain", "gappy")
    assert result.exit_code == 0
    assert "component_hedge"[:9] in result.stdout
    assert "best path" in result.stdout


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_plots_are_made_and_are_the_same_each_time(tmp_path, ending):
    files = [tmp_path / f"{i}.{ending}" for i in range(2)]
    for file in files:
        assert _run("--learner", "semi_bandit", "--self-tuning", "--plot", str(file)).exit_code == 0
    first, second = (file.read_bytes() for file in files)
    assert first.startswith(b"\x89PNG" if ending == "png" else b"<?xml")
    assert first == second


def test_wrong_usage_says_what_to_do():
    result = _run("--order", "9")
    assert result.exit_code == 2
    assert "use more slots or shorter patterns" in result.stderr.replace("\n", " ")


def test_theorems_are_printed_without_a_game():
    result = _run("--order", "2", "--theorems", "--json")
    assert result.exit_code == 0
    bounds = {(row["learner"], row["theorem"]): row["bound"] for row in json.loads(result.stdout)}
    assert bounds["CDCH", "equation 7"] < bounds["CDCH", "theorem 3"]
    assert bounds["CDSB", "theorem 4"] == pytest.approx(bounds["CDSB", "corollary 8"])
    assert bounds["CDCB", "theorem 5"] == pytest.approx(bounds["CDCB", "corollary 9"])
    assert "theorem 13" in _run("--gain", "gappy", "--theorems").stdout
