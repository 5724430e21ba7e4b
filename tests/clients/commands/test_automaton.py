"""`galloon automaton`: files of every kind, both constructions, pictures and machines; and how it fails."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pynini
import pytest

from galloon.learners.automata.expert import Ensemble
from galloon.learners.automata.openfst import to_pynini
from tests.clients.replays import galloon, told
from tests.clients.samples import lattice_samples

PAPER = "0 1 e1\n0 2 e2\n1 3 e3\n1 3 e4\n2 3 e5\n3\n"  # the first figure


def test_the_papers_two_experts_bigram_and_gappy():
    bigram = told("automaton", "-r", "2", "-l", "3", "-n", "2")
    assert bigram["agreement"]["agree"] is True
    assert bigram["gain"] == {"kind": "ngram", "order": 2}
    assert bigram["sizes"]["A"] == {"states": 4, "transitions": 6, "paths": 8}
    assert bigram["sizes"]["T_A"] == {"states": 7, "transitions": 14, "symbols": 8}
    assert bigram["sizes"]["A' (composed)"] == {"states": 4, "transitions": 8}
    assert bigram["sizes"]["A' (direct)"] == {"states": 4, "transitions": 8, "paths": 8}
    gappy = told("automaton", "-r", "2", "-l", "3", "--gain", "gappy", "-n", "2")
    assert gappy["agreement"]["agree"] is True
    assert gappy["gain"] == {"kind": "gappy", "lengths": [2], "discount": 0.5, "max_gap": 1}
    assert gappy["sizes"]["A' (direct)"] == {"states": 6, "transitions": 12, "paths": 8}


def test_a_file_in_text_and_in_binary(tmp_path: Path):
    text, binary = tmp_path / "a.txt", tmp_path / "a.fst"
    text.write_text(PAPER)
    binary.write_bytes(to_pynini(Ensemble(2, 2)).write_to_string())
    assert told("automaton", text, "-n", "2")["sizes"]["A' (composed)"] == {"states": 2, "transitions": 3}
    assert told("automaton", binary, "-n", "2") == told("automaton", "-r", "2", "-l", "2")


def test_a_bundled_lattice():
    report = told("automaton", min(lattice_samples(), key=lambda path: path.stat().st_size), "-n", "2")
    assert report["agreement"]["agree"] is True
    assert report["sizes"]["A"]["paths"] == report["sizes"]["A' (direct)"]["paths"] > 1_000_000


def test_labels_that_come_again_are_words_of_a_lattice(tmp_path: Path):
    file = tmp_path / "a.txt"
    file.write_text("0 1 the\n1 2 the\n1 2 cat\n2\n")
    refused = galloon("automaton", file)
    assert refused.exit_code == 1
    assert "two transitions" in refused.output
    assert "--lattice" in refused.output
    read = told("automaton", file, "--lattice")
    assert read["sizes"]["A"] == {"states": 3, "transitions": 3, "paths": 2}


def test_pictures_and_machines_are_written(tmp_path: Path):
    """The machines can be read again, and the two A' are the same."""
    folder = tmp_path / "new" / "figures"
    report = told("automaton", "-r", "2", "-l", "3", "--draw", folder, "--export", folder)
    for name in ("A", "T_A", "A_prime_composed", "A_prime_direct"):
        assert report["pictures"][str(folder / name)] == "drawn as .svg and .dot"
        assert ET.parse(folder / f"{name}.svg").getroot().tag.endswith("svg")
        assert (folder / f"{name}.dot").read_text().startswith("digraph")
        assert str(folder / f"{name}.fst") in report["machines"]
    machines = {path.stem: pynini.Fst.read(str(path)) for path in folder.glob("*.fst")}
    assert pynini.isomorphic(machines["A_prime_composed"], machines["A_prime_direct"])
    composed = pynini.compose(machines["A"], machines["T_A"]).project("output").rmepsilon().minimize()
    assert pynini.isomorphic(composed, machines["A_prime_composed"])
    assert machines["T_A"].output_symbols().find(1).startswith("#h")


def test_what_is_too_large_to_draw_is_said(tmp_path: Path):
    report = told("automaton", "-r", "6", "-l", "8", "-n", "3", "--draw", tmp_path)
    assert report["agreement"]["agree"] is True
    assert report["pictures"][str(tmp_path / "A")].startswith("drawn")
    assert "500 allowed" in report["pictures"][str(tmp_path / "A_prime_direct")]


def test_for_people_there_is_a_table_and_a_sentence():
    result = galloon("automaton", "-r", "2", "-l", "3")
    assert result.exit_code == 0
    assert "The two constructions agree" in result.output
    assert "A' (direct)" in result.output


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        ((), 2, "name a FILE, or an ensemble"),
        (("-r", "2"), 2, "both -r (experts) and -l (slots)"),
        (("-r", "2", "-l", "3", "--gain", "slot_match", "-n", "2"), 2, "-n is for n-grams"),
        (("-r", "2", "-l", "3", "--gain", "ngram", "--max-gap", "2"), 2, "for --gain gappy"),
        (("-r", "2", "-l", "3", "--gain", "nothing"), 2, "gain.kind"),
        (("-r", "2", "-l", "1", "-n", "3"), 2, "never fit into 1 slots"),
        (("-r", "9", "-l", "90", "-n", "6"), 1, "arcs of T_A"),
    ],
)
def test_mistakes_have_a_status_and_a_sentence(arguments: tuple[str, ...], status: int, sentence: str):
    result = galloon("automaton", *arguments)
    assert result.exit_code == status, result.output
    assert sentence in result.output


def test_damaged_and_hostile_binaries_are_refused(tmp_path: Path):
    """They are read by a child process with limits."""
    whole = to_pynini(Ensemble(2, 3)).write_to_string()
    for name, data in {"cut.fst": whole[:-20], "huge.fst": whole[:40] + b"\xff" * 8 + whole[48:]}.items():
        (tmp_path / name).write_bytes(data)
        result = galloon("automaton", tmp_path / name)
        assert result.exit_code == 1
        assert name in result.output
        assert "Traceback" not in result.output


def test_another_file_is_no_automaton(tmp_path: Path):
    file = tmp_path / "u.jsonl"
    file.write_text(json.dumps({"id": "1", "experts": {"a": {"text": "x"}}}) + "\n")
    result = galloon("automaton", file)
    assert result.exit_code == 1
    assert "not an automaton" in result.output
