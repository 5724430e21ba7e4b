"""`galloon convert`: engines' files in, one file out, and what could not be used is said."""

import json

import pytest
from click.testing import CliRunner, Result

from galloon.clients.commands.convert import convert
from galloon.clients.formats.registry import FORMATS
from galloon.clients.formats.utterances import read_utterances
from galloon.clients.samples import ocr_sample
from tests.clients.formats.goldens import FOLDER
from tests.clients.samples import lattice_samples


def run(*arguments: object) -> Result:
    return CliRunner().invoke(convert, [str(argument) for argument in arguments])


def test_one_file_to_text_on_standard_output():
    """The simplest use."""
    result = run(FOLDER / "hocr" / "page.hocr", "--to", "text")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "Call me Ishmael. Some years ago - never mind how long"


def test_several_engines_are_joined_by_order(tmp_path):
    """Engines whose ids differ meet line by line; targets come from a text file."""
    out = tmp_path / "page.jsonl"
    page = {name: FOLDER / name / file for name, file in (("hocr", "page.hocr"), ("alto", "page.xml"))}
    truth = FOLDER / "text" / "page.txt"
    result = run(f"a={page['hocr']}", f"b={page['alto']}", "--join", "order", "--targets", truth, "-o", out)
    assert result.exit_code == 0, result.output
    utterances = list(read_utterances(out))
    assert [[output.name for output in entry.outputs] for entry in utterances] == [["a", "b"]] * 3
    assert utterances[2].target == utterances[2].outputs[0].text == utterances[2].outputs[1].text


def test_folders_hold_a_file_per_line(tmp_path):
    """NAME=FOLDER: the file's name is the line's id; a line that an engine lacks is noted."""
    for engine, lines in (("a", ("l1", "l2")), ("b", ("l1",))):
        (tmp_path / engine).mkdir()
        for line in lines:
            (tmp_path / engine / f"{line}.txt").write_text(f"{engine} says {line}\n")
    out = tmp_path / "out.jsonl"
    result = run(f"x={tmp_path / 'a'}", f"y={tmp_path / 'b'}/", "-o", out, "--json")
    report = json.loads(result.stdout)
    assert report["utterances"] == 2
    assert [note["what"] for note in report["notes"]] == ["line without an output of y"]
    assert [(entry.id, [output.text for output in entry.outputs]) for entry in read_utterances(out)] == [
        ("l1", ["a says l1", "b says l1"]),
        ("l2", ["a says l2"]),
    ]


def test_whole_documents_join_recognisers_that_cut_differently():
    """Segments of each file become one line."""
    result = run(FOLDER / "whisper" / "whisper.json", FOLDER / "vosk" / "words.json", "--whole")
    (record,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert record["experts"]["whisper"]["text"] == "Call me Ishmael. Some years ago."
    assert record["experts"]["words"]["text"] == "call me ishmael some years ago"


def test_an_engine_is_added_to_an_utterance_file(tmp_path):
    """Utterance files are inputs too, and keep their targets and labels."""
    more = tmp_path / "more.nbest"
    more.write_text("a1\t-1\tcall me\na1\t-2\tcall\n2\t-1\tsome years\n")
    result = run(FOLDER / "utterances" / "two.jsonl", f"more={more}", "-o", tmp_path / "out.jsonl")
    assert result.exit_code == 0, result.output
    first, second = read_utterances(tmp_path / "out.jsonl")
    assert first.target == "call me ishmael"
    assert first.labels["domain"] == "clean"
    assert first.outputs[-1].nbest[1].score == -2
    assert {output.name for output in second.outputs} == {"sphinx", "lattice", "more"}
    assert second.outputs[1].lattice is not None


def test_lattices_become_ctm():
    """Times of the best path; what the reader did with the scores is said."""
    result = run(lattice_samples()[0], "--to", "ctm")
    assert result.exit_code == 0
    name, channel, start, length, *_ = result.stdout.splitlines()[0].split()
    assert name == lattice_samples()[0].name.removesuffix(".slf.gz")
    assert channel == "1"
    assert float(start) >= 0
    assert float(length) > 0
    assert "posteriors" in result.stderr


def test_the_sample_becomes_a_table_of_tokens(tmp_path):
    """Every word of every engine, one a row."""
    out = tmp_path / "tokens.tsv"
    result = run(ocr_sample(), "--to", "tokens", "-o", out)
    assert result.exit_code == 0
    header, first, *_ = out.read_text().splitlines()
    assert header.split("\t") == ["id", "expert", "position", "token", "confidence", "start", "end"]
    assert first.split("\t") == ["ocr-00000", "tess_eng", "0", "down,", "0.9566", "19", "103"]


def test_one_engine_is_chosen_for_text():
    """Text holds one engine; the names to choose from are in the message."""
    sample = FOLDER / "utterances" / "two.jsonl"
    result = run(sample, "--to", "text")
    assert result.exit_code == 2
    assert "--expert tess|ocrad" in result.stderr
    assert run(sample, "--to", "text", "--expert", "ocrad").stdout == "ca11 me ishmae1\n\n"
    assert run(sample, "--to", "text", "--expert", "none").exit_code == 2


def test_symbols_turn_numbers_into_words(tmp_path):
    """A lattice of numbers with its table."""
    table = tmp_path / "symbols.txt"
    table.write_text("<eps> 0\ncall 1\nme 2\nthe 3\nishmael 4\nis 5\nmale 6\n")
    numbers = FOLDER / "openfst-text" / "numbers.fst.txt"
    assert run(numbers, "--symbols", table, "--to", "text").stdout == "call me ishmael\n"
    table.write_text("<eps> 0\ncall 1\n")
    assert "label 2 is not in the symbol table" in run(numbers, "--symbols", table, "--to", "text").stderr


@pytest.mark.parametrize(
    ("arguments", "status", "what"),
    [
        ((), 2, "no INPUT"),
        (("none.txt",), 1, "none.txt: cannot be read"),
        ((FOLDER / "text" / "page.txt", "--from", "alto"), 1, "not well-formed XML"),
        ((FOLDER / "text" / "page.txt", "--json"), 2, "-o FILE"),
        ((FOLDER / "text" / "page.txt", "--limit", "lines=2"), 1, "lines is 2"),
        ((FOLDER / "text" / "page.txt", "--limit", "lines=no"), 2, "NAME=NUMBER"),
        ((FOLDER / "text" / "page.txt", "--from", "docx"), 2, "docx"),
        ((FOLDER / "text" / "page.txt", "-o", "/nowhere/out.jsonl"), 2, "the folder /nowhere does not exist"),
        ((FOLDER / "text" / "page.txt", "--targets", FOLDER / "ctm" / "hyp.ctm"), 1, "true texts for 3"),
        (
            (FOLDER / "text" / "page.txt", FOLDER / "vosk" / "words.json", "--join", "order"),
            1,
            "cannot be joined",
        ),
    ],
)
def test_mistakes_have_a_status_and_a_sentence(arguments, status, what):
    """1 for files, 2 for usage."""
    result = run(*arguments)
    assert result.exit_code == status
    assert what in result.stderr


def test_the_formats_are_listed():
    """For people and for programs."""
    assert "tesseract-tsv" in run("--formats").stdout
    table = json.loads(run("--formats", "--json").stdout)
    assert len(table["read"]) == len(FORMATS)
    assert [entry["name"] for entry in table["write"]] == ["utterances", "text", "ctm", "tokens"]
