"""`galloon score`: files of several kinds, joined by id or order, with paired differences; and how it fails."""

from pathlib import Path

import pytest

from tests.clients.replays import cats, galloon, told
from tests.daemon_process import Daemon


def lines(path: Path, *texts: str) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def test_plain_texts_line_by_line(tmp_path: Path):
    """An empty line is an empty answer, not a missing one."""
    truth = lines(tmp_path / "true.txt", "The cat sat.", "on the mat")
    one = lines(tmp_path / "one.txt", "the cat sat.", "")
    two = lines(tmp_path / "two.txt", "the hat sat. now", "on the mat")
    report = told("score", truth, one, f"second={two}")
    assert (report["utterances"], report["baseline"], report["normalizer"]) == (2, "second", "basic")
    assert report["systems"]["one"] | {"interval": None} == {
        "wer": 50.0,
        "cer": 45.455,
        "ins": 0,
        "del": 3,
        "sub": 0,
        "interval": None,
    }
    assert (report["systems"]["second"]["ins"], report["systems"]["second"]["sub"]) == (1, 1)
    assert report["vs_baseline"]["one"]["difference"] == pytest.approx(100 / 6, abs=0.001)
    assert list(report["vs_baseline"]) == ["one"]


def test_case_and_punctuation_count_if_asked_to(tmp_path: Path):
    truth, said = lines(tmp_path / "t.txt", "The cat"), lines(tmp_path / "s.txt", "the cat")
    assert told("score", truth, said)["systems"]["s"]["wer"] == 0
    assert told("score", truth, said, "--normalizer", "none")["systems"]["s"]["wer"] == 50


def test_an_utterance_file_brings_truth_and_engines(tmp_path: Path):
    file = cats(tmp_path / "u.jsonl", 6)
    report = told("score", file, "--unit", "char")
    assert list(report["systems"]) == ["a", "b", "c"]
    assert (report["metric"], report["baseline"]) == ("cer", "a")
    combined = tmp_path / "out.jsonl"
    combined.write_text(
        "".join(f'{{"id": "u{n}", "text": "the cat sat", "slots": []}}\n' for n in reversed(range(6)))
    )
    both = told("score", file, file, f"ours={combined}", "--baseline", "b")
    assert list(both["systems"]) == ["a", "b", "c", "ours"]
    assert both["systems"]["ours"]["wer"] == 0
    assert both["baseline"] == "b"


@pytest.mark.parametrize("count", [1, 6])
@pytest.mark.parametrize("explain", [(), ("--explain",)])
def test_what_combine_prints_as_json_is_scored(
    tmp_path: Path, daemon: Daemon, count: int, explain: tuple[str, ...]
):
    """As the help shows: slots name experts, too, but such a file holds one system, not engines."""
    file, out = cats(tmp_path / "u.jsonl", count), tmp_path / "out.jsonl"
    made = galloon("combine", file, "--server", daemon.address, "--json", "-o", out, *explain)
    assert made.exit_code == 0, made.output
    report = told("score", file, file, f"combined={out}", "--baseline", "combined")
    assert list(report["systems"]) == ["a", "b", "c", "combined"]
    assert report["systems"]["combined"]["wer"] == 0
    alone = told("score", lines(tmp_path / "true.txt", *["the cat sat"] * count), out)
    assert list(alone["systems"]) == ["out"]


def test_names_that_come_again_are_numbered(tmp_path: Path):
    truth = lines(tmp_path / "x.txt", "a")
    assert list(told("score", truth, truth, truth)["systems"]) == ["x", "x~2"]


def test_the_table_for_people(tmp_path: Path):
    shown = galloon("score", cats(tmp_path / "u.jsonl", 6))
    assert shown.exit_code == 0
    assert "b against a: WER +33.33 points" in shown.stdout


def test_what_cannot_be_scored(tmp_path: Path):
    truth = lines(tmp_path / "true.txt", "a", "b", "c")
    short = galloon("score", truth, lines(tmp_path / "short.txt", "a"))
    assert (short.exit_code, "1 lines for 3" in short.stderr) == (1, True)
    assert galloon("score", truth).exit_code == 2
    missing = galloon("score", truth, tmp_path / "none.txt")
    assert (missing.exit_code, "none.txt" in missing.stderr) == (1, True)
    other = galloon("score", truth, truth, "--baseline", "nobody")
    assert (other.exit_code, "there are true" in other.stderr) == (2, True)
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"id": "1", "text": "a"}\n{"id": "2"}\n')
    failed = galloon("score", truth, broken)
    assert (failed.exit_code, "line 2" in failed.stderr) == (1, True)
