"""Each reader makes of its golden files what was once checked by eye."""

import json

import pytest

from galloon.clients.formats.registry import FORMATS, detect, format_named, read_file
from galloon.clients.formats.source import open_source
from tests.clients.formats.goldens import FOLDER, Golden, describe, goldens

GOLDENS = goldens()


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)
def test_a_golden_file_is_recognised_and_reads_as_expected(golden: Golden):
    """Content alone tells the format, and the reading is word for word the expected one."""
    source = open_source(golden.path)
    assert detect(source).name == golden.format.name
    described = json.loads(json.dumps(describe(golden.format.read(source))))
    assert described == json.loads(golden.expected_path.read_text())


def test_every_format_has_a_golden_file():
    """No format is in the table without a file that shows it."""
    assert {golden.format.name for golden in GOLDENS} == {entry.name for entry in FORMATS}


def test_formats_have_unique_names_and_patterns():
    """A name means one format."""
    assert len({entry.name for entry in FORMATS}) == len(FORMATS)
    assert all(entry.patterns and entry.title for entry in FORMATS)


def test_an_unknown_format_is_named_in_the_error():
    """A wrong name says which names there are."""
    with pytest.raises(KeyError, match=r"no format is called 'docx'.*tesseract-tsv"):
        format_named("docx")


def test_tesseract_says_the_same_in_all_its_formats():
    """TSV, hOCR, ALTO and text of one page, written by Tesseract itself, give the same words and boxes."""
    read = {
        name: list(read_file(FOLDER / name / file).outputs.values())
        for name, file in (
            ("text", "page.txt"),
            ("tesseract-tsv", "page.tsv"),
            ("hocr", "page.hocr"),
            ("alto", "page.xml"),
        )
    }
    texts = {name: [output.text for output in outputs] for name, outputs in read.items()}
    assert texts["text"][0] == "Call me Ishmael. Some years ago - never mind how long"
    assert texts["text"] == texts["tesseract-tsv"] == texts["hocr"] == texts["alto"]
    boxes = [
        [(word.start, word.end) for output in read[name] for word in output.words]
        for name in ("tesseract-tsv", "hocr", "alto")
    ]
    assert boxes[0] == boxes[1] == boxes[2]
    for rough in ("hocr", "alto"):  # whole percents, cut off
        pairs = zip(read["tesseract-tsv"], read[rough], strict=True)
        for fine, coarse in ((a, b) for x, y in pairs for a, b in zip(x.words, y.words, strict=True)):
            assert coarse.confidence == pytest.approx(fine.confidence, abs=0.0101)


def test_openfst_says_the_same_in_all_its_formats():
    """Text and binary files of one automaton, written by OpenFst itself, give the same lattice."""
    files = ("openfst-text/words.fst.txt", "openfst-text/acceptor.fst.txt", "openfst/vector.fst")
    first, *others = [
        next(iter(read_file(FOLDER / file).outputs.values())).lattice
        for file in (*files, "openfst/const.fst", "openfst/log64.fst")
    ]
    for other in others:
        assert other.words == first.words
        assert other.finals == first.finals
        assert other.log_scores.tolist() == first.log_scores.tolist()
