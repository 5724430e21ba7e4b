"""Every format that is written is read again by its reader, and text, places and times survive."""

import json
import math
import sys
from xml.dom.minidom import parseString

import pytest

from galloon.clients.api.errors import WrongUsage
from galloon.clients.documents.combined import CombinedDocument, CombinedLine, CombinedPage, CombinedWord
from galloon.clients.documents.output import Output
from galloon.clients.documents.writers import DOCUMENT_WRITERS, document_writer
from galloon.clients.formats.registry import detect, format_named, read_file
from galloon.clients.formats.source import source_of_bytes
from galloon.learners.documents.document import Box, word_box
from galloon.learners.observation import Reading

READERS = {
    "text": "text",
    "srt": "srt",
    "vtt": "vtt",
    "markdown": "markdown",
    "hocr": "hocr",
    "alto": "alto",
    "page": "page",
    "tsv": "tesseract-tsv",
    "ctm": "ctm",
}
TEXTS = ("Call me «Ishmael» & <Co>", "Some ﬁrst years\u00a0ago", '"never" mind')


def placed_line(number: int, text: str, top: int = 0) -> CombinedLine:
    words, at = [], 100
    for word in text.split():
        words.append(
            CombinedWord(word, 0.75, Box(at, top, at + 50, top + 20), alternatives=(("other", 0.2),))
        )
        at += 60
    return CombinedLine(str(number), tuple(words), Box(100, top, at - 10, top + 20), region=f"b{number // 2}")


def page(*texts: str) -> CombinedPage:
    return CombinedPage(
        tuple(placed_line(n, text, 100 + 40 * n) for n, text in enumerate(texts)), 800, 1200, name="scan.png"
    )


def talk() -> CombinedDocument:
    first = [
        CombinedWord(word, 0.5, start=n * 0.5, end=n * 0.5 + 0.4) for n, word in enumerate("so it is".split())
    ]
    second = [CombinedWord(f"word{n}", 0.5, start=9 + n * 0.5, end=9 + n * 0.5 + 0.4) for n in range(40)]
    lines = (
        CombinedLine("1", tuple(first), start=0.0, end=1.4, speaker="Ann"),
        CombinedLine("2", tuple(second), start=9.0, end=29.0),
    )
    return CombinedDocument("talk", (CombinedPage(lines, timed=True),))


@pytest.mark.parametrize("name", ["text", "hocr", "alto", "page", "tsv"])
def test_text_and_boxes_survive(name):
    document = CombinedDocument("leaf", (page(*TEXTS),))
    source = source_of_bytes("leaf", document_writer(name).write(document).encode())
    assert detect(source).name == READERS[name]
    read = format_named(READERS[name]).read(source).pages
    assert [line.text.split() for line in read[0].lines] == [text.split() for text in TEXTS]
    if name != "text":
        assert (read[0].width, read[0].height) == (800, 1200)
        boxes = [[word_box(word) for word in line.words] for line in read[0].lines]
        assert boxes == [[word.box for word in line.words] for line in document.pages[0].lines]
        assert {word.confidence for line in read[0].lines for word in line.words} == {0.75}


@pytest.mark.parametrize("name", ["text", "hocr", "alto", "tsv", "markdown"])
def test_pages_stay_apart(name):
    document = CombinedDocument("leaf", (page(*TEXTS[:1]), page(*TEXTS[1:])))
    source = source_of_bytes("leaf", document_writer(name).write(document).encode())
    assert [len(found.lines) for found in format_named(READERS[name]).read(source).pages] == [1, 2]


def test_times_survive():
    source = source_of_bytes("talk", document_writer("ctm").write(talk()).encode())
    words = [word for line in format_named("ctm").read(source).pages[0].lines for word in line.words]
    said = [word for line in talk().pages[0].lines for word in line.words]
    assert [word.text for word in words] == [word.text for word in said]
    assert [word.start for word in words] == pytest.approx([word.start for word in said])


@pytest.mark.parametrize("name", ["srt", "vtt"])
def test_subtitles_are_read_again_with_their_times_and_speakers(name):
    source = source_of_bytes("talk", document_writer(name).write(talk()).encode())
    assert detect(source).name == READERS[name]
    lines = format_named(name).read(source).pages[0].lines
    said = talk().pages[0].lines
    assert " ".join(line.text for line in lines) == " ".join(line.text for line in said)
    assert (lines[0].start, lines[0].end, lines[0].speaker) == (0.0, 1.4, "Ann")
    assert (lines[-1].end, lines[-1].speaker) == (said[-1].words[-1].end, "")


@pytest.mark.parametrize("name", ["alto", "page"])
def test_alternatives_survive(name):
    """PAGE keeps their probabilities; ALTO has no place for them."""
    document = CombinedDocument("leaf", (page(*TEXTS),))
    source = source_of_bytes("leaf", document_writer(name).write(document).encode())
    outputs = format_named(READERS[name]).read(source).outputs.values()
    found = {reading for output in outputs for word in output.alternatives for reading in word}
    assert found == {Reading("other", 0.2 if name == "page" else 0.25)}


def test_markdown_is_read_again_as_it_was_written():
    texts = ("1. *not* a list", "# no heading", "a | b | c", "<tag> & [x](y) \\ `z`", "snake_case_word")
    document = CombinedDocument("leaf", (page(*texts), page("second")))
    source = source_of_bytes("leaf.md", document_writer("markdown").write(document).encode())
    assert detect(source).name == "markdown"
    read = format_named("markdown").read(source).pages
    assert [line.text for line in read[0].lines] == [" ".join(text.split()) for text in texts]
    assert [line.text for line in read[1].lines] == ["second"]


def test_subtitles_are_short_in_order_and_name_who_speaks():
    text = document_writer("srt").write(talk())
    blocks = text.strip().split("\n\n")
    assert blocks[0] == "1\n00:00:00,000 --> 00:00:01,400\n[Ann]: so it is"
    assert all(len(row) <= 42 for block in blocks[1:] for row in block.split("\n")[2:])
    times = [block.split("\n")[1] for block in blocks]
    assert times == sorted(times)
    assert " ".join(" ".join(block.split("\n")[2:]) for block in blocks[1:]) == talk().pages[0].lines[1].text
    assert (
        document_writer("vtt")
        .write(talk())
        .startswith("WEBVTT\n\n00:00:00.000 --> 00:00:01.400\n<v Ann>so it is")
    )


def test_xml_holds_whatever_an_engine_wrote():
    document = CombinedDocument("leaf", (page('a\x00b & <c> "d" \x1b \ufffe é 𝔊'),))
    for name in ("hocr", "alto", "page"):
        parseString(document_writer(name).write(document))


def test_an_empty_page_can_be_written_in_every_format():
    for timed in (False, True):
        document = CombinedDocument("leaf", (CombinedPage((), timed=timed),))
        for writer in (writer for writer in DOCUMENT_WRITERS if not writer.needs_images):
            assert isinstance(writer.write(document), str)


def test_json_and_markdown():
    document = CombinedDocument("leaf", (page("1. *not* a list"),))
    told = json.loads(document_writer("json").write(document))
    assert told["pages"][0]["lines"][0]["words"][0]["box"] == {
        "left": 100,
        "top": 100,
        "right": 150,
        "bottom": 120,
    }
    assert document_writer("markdown").write(document) == "1\\. \\*not\\* a list\n"


def test_a_book_in_page_xml_is_a_file_a_page(tmp_path):
    book = CombinedDocument("book", tuple(page(text) for text in TEXTS))
    output = Output(document_writer("page"), tmp_path, many=True, stdout=sys.stdout)
    output.write(book)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book-1.xml", "book-2.xml", "book-3.xml"]
    assert [read_file(path).pages[0].lines[0].text.split() for path in sorted(tmp_path.iterdir())] == [
        text.split() for text in TEXTS
    ]
    with pytest.raises(WrongUsage, match="3 pages and PAGE XML holds one: give -o FOLDER/"):
        document_writer("page").write(book)


def test_a_confusion_network_is_read_again_with_its_probabilities():
    document = CombinedDocument("leaf", (page("so it is"),))
    source = source_of_bytes("leaf.mesh", document_writer("confusion-network").write(document).encode())
    assert detect(source).name == "confusion-network"
    ((name, output),) = format_named("confusion-network").read(source).outputs.items()
    assert (name, output.text) == ("leaf/1/0", "so it is")
    assert {word.confidence for word in output.words} == {0.75}
    assert output.lattice.words == ("so", "other", "it", "other", "is", "other")
    assert output.lattice.log_scores.tolist()[:2] == pytest.approx(
        [math.log(0.75 / 0.95), math.log(0.2 / 0.95)]
    )
