"""`galloon combine` on whole pages and recordings, as engines write them: what used to fail, each as a test."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from galloon.clients.documents.combined import CombinedDocument, CombinedLine, CombinedPage, CombinedWord
from galloon.clients.documents.corrections import corrections, true_texts
from galloon.clients.documents.output import RECORD
from galloon.clients.documents.writers import document_writer
from galloon.clients.formats.registry import read_file
from galloon.learners.documents.document import Page, word_box
from tests.clients.replays import galloon
from tests.daemon_process import Daemon
from tests.learners.documents.pages import OTHER, TEXT, columns, page, recording, without_places

FORMATS = Path(__file__).parents[2] / "data" / "formats"


def as_combined(given: Page, stem: str = "leaf") -> CombinedDocument:
    lines = [
        CombinedLine(
            str(number),
            tuple(CombinedWord(word.text, 0.9, word_box(word), word.start, word.end) for word in line.words),
            line.box,
            line.start,
            line.end,
        )
        for number, line in enumerate(given.lines)
    ]
    return CombinedDocument(stem, (CombinedPage(tuple(lines), given.width, given.height, given.timed),))


def write(path: Path, given: Page, form: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document_writer(form).write(as_combined(given, path.stem)))
    return path


def combine(daemon: Daemon, *arguments):
    return galloon("combine", *arguments, "--server", daemon.address)


def test_four_formats_of_one_page_are_one_page(daemon: Daemon):
    files = ["alto/page.xml", "hocr/page.hocr", "tesseract-tsv/page.tsv", "text/page.txt"]
    inputs = [f"{name.partition('/')[0].replace('-', '_')}={FORMATS / name}" for name in files]
    result = combine(daemon, *inputs)
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in (FORMATS / "text/page.txt").read_text().splitlines()]
    assert result.stdout.splitlines() == [line for line in lines if line]


def test_two_hocr_files_of_which_one_misses_a_line(daemon: Daemon, tmp_path: Path):
    short = Page((*page().lines[:4], *page().lines[5:]), 1000.0, 1400.0)
    a, b = write(tmp_path / "a.hocr", page(), "hocr"), write(tmp_path / "b.hocr", short, "hocr")
    assert combine(daemon, a, b).stdout.splitlines() == list(TEXT)
    assert combine(daemon, b, a).stdout.splitlines() == list(TEXT)


def test_columns_in_another_order_and_an_engine_without_boxes(daemon: Daemon, tmp_path: Path):
    files = [
        write(tmp_path / "a.tsv", columns(), "tsv"),
        write(tmp_path / "b.xml", columns(order="across"), "alto"),
        write(tmp_path / "c.txt", without_places(columns(order="swapped")), "text"),
    ]
    assert combine(daemon, *files).stdout.splitlines() == list(TEXT)


def test_a_page_of_another_document_is_refused_and_nothing_is_written(daemon: Daemon, tmp_path: Path):
    for stem in ("p1", "p2"):
        for engine in ("a", "b", "c"):
            text = OTHER if (stem, engine) == ("p1", "b") else TEXT
            write(tmp_path / engine / f"{stem}.tsv", page(text), "tsv")
    result = combine(daemon, *(f"{name}={tmp_path / name}" for name in "abc"), "-o", f"{tmp_path / 'out'}/")
    assert result.exit_code == 1
    assert f"p1: not combined: {tmp_path / 'b' / 'p1.tsv'}: next to nothing of its text" in result.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [RECORD, "p2.txt"]
    assert (tmp_path / "out" / "p2.txt").read_text().splitlines() == list(TEXT)


def test_text_of_an_engine_without_boxes_on_the_boxes_of_another(daemon: Daemon, tmp_path: Path):
    misread = tuple(text.replace("l", "1") for text in TEXT)
    boxes = write(tmp_path / "boxes.tsv", page(misread), "tsv")
    right = [write(tmp_path / f"{name}.txt", without_places(page()), "text") for name in ("vlm", "other")]
    out = tmp_path / "leaf.hocr"
    assert combine(daemon, boxes, *right, "--to", "hocr", "-o", out).exit_code == 0
    lines = read_file(out).pages[0].lines
    assert [line.text for line in lines] == list(TEXT)
    assert [[word_box(word) for word in line.words] for line in lines] == [
        [word_box(word) for word in line.words] for line in page().lines
    ]


SPEECH = [
    "he declared that a whale must be near",
    "soon that peculiar odor sometimes to a great distance given forth by the living sperm whale",
    "was palpable to all the watch man the mastheads call all hands",
]


def test_ctm_vosk_and_whisper_of_one_recording(daemon: Daemon, tmp_path: Path):
    words = " ".join(SPEECH).split()
    timed = [(word, round(0.4 * n, 2), round(0.4 * n + 0.35, 2)) for n, word in enumerate(words)]
    ctm = tmp_path / "a.ctm"
    ctm.write_text("".join(f"talk 1 {start} {end - start:.2f} {word} 0.9\n" for word, start, end in timed))
    vosk = tmp_path / "b.json"
    parts = [timed[at : at + 9] for at in range(0, len(timed), 9)]
    vosk.write_text(
        "\n".join(
            json.dumps(
                {"result": [{"word": w, "start": s, "end": e, "conf": 0.8} for w, s, e in part], "text": ""}
            )
            for part in parts
        )
    )
    whisper, segments, at = tmp_path / "c.json", [], 0
    for number, text in enumerate(SPEECH):
        length = len(text.split())
        segments.append(
            {"id": number, "start": 0.4 * at, "end": 0.4 * (at + length), "text": text.capitalize()}
        )
        at += length
    whisper.write_text(json.dumps({"text": "", "segments": segments}))
    result = combine(daemon, ctm, vosk, whisper)
    assert result.exit_code == 0
    assert result.stdout.lower().split() == words
    out = combine(daemon, ctm, vosk, whisper, "--to", "srt")
    assert "00:00:00,000 --> " in out.stdout
    refused = combine(daemon, ctm, vosk, "--to", "alto")
    assert refused.exit_code != 0
    assert "needs boxes" in refused.stderr


def test_a_folder_goes_on_where_it_was_stopped(daemon: Daemon, tmp_path: Path):
    for stem in ("p1", "p2", "p3", "p4", "p5", "p6"):
        for engine in "ab":
            write(tmp_path / engine / f"{stem}.xml", page(), "alto")
    command = (*(f"{name}={tmp_path / name}" for name in "ab"), "-o", f"{tmp_path / 'out'}/", "--to", "page")
    first = combine(daemon, *command)
    assert (first.exit_code, "6 pages of 2 engines" in first.stderr) == (0, True)
    kept = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.xml")}
    record = tmp_path / "out" / RECORD
    record.write_text(
        "\n".join(record.read_text().splitlines()[:4])[:-10]
    )  # cut off in the middle of an entry
    (tmp_path / "out" / "p1.xml").unlink()
    again = combine(daemon, *command)
    assert "2 of 6 documents are done already" in again.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.xml")} == kept
    assert "6 of 6 documents are done already" in combine(daemon, *command).stderr


def test_true_texts_teach_page_by_page(daemon: Daemon, tmp_path: Path):
    for stem in ("p1", "p2"):
        write(
            tmp_path / "bad" / f"{stem}.tsv", page(tuple(text.replace("the", "tbe") for text in TEXT)), "tsv"
        )
        write(tmp_path / "good" / f"{stem}.tsv", page(), "tsv")
        (tmp_path / "true").mkdir(exist_ok=True)
        (tmp_path / "true" / f"{stem}.txt").write_text("\n".join(TEXT))
    inputs = [f"{name}={tmp_path / name}" for name in ("bad", "good")]
    result = combine(daemon, *inputs, "-o", f"{tmp_path / 'out'}/", "--targets", tmp_path / "true")
    assert result.exit_code == 0
    assert (tmp_path / "out" / "p2.txt").read_text().splitlines() == list(TEXT)


@pytest.mark.parametrize("option", [["--json"], ["--explain"]])
def test_slots_and_reasons_of_matched_lines(daemon: Daemon, tmp_path: Path, option):
    short = Page(page().lines[1:], 1000.0, 1400.0)
    a, b = write(tmp_path / "a.hocr", page(), "hocr"), write(tmp_path / "b.tsv", short, "tsv")
    result = combine(daemon, a, b, *option)
    assert result.exit_code == 0
    if option == ["--json"]:
        assert [json.loads(line)["text"] for line in result.stdout.splitlines()] == list(TEXT)


def test_a_folder_that_grows_is_watched(daemon: Daemon, tmp_path: Path):
    for engine in "ab":
        (tmp_path / engine).mkdir()
    write(tmp_path / "a" / "p1.tsv", page(), "tsv")
    command = [sys.executable, "-m", "galloon", "combine", *(f"{name}={tmp_path / name}" for name in "ab")]
    command += ["-o", f"{tmp_path / 'out'}/", "--watch", "--server", daemon.address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "watching" in process.stderr.readline()
        write(tmp_path / "b" / "p1.tsv", page(), "tsv")
        assert process.stderr.readline() == "p1: combined\n"
        for engine in "ab":
            write(tmp_path / engine / "p2.tsv", page(TEXT[2:]), "tsv")
        assert process.stderr.readline() == "p2: combined\n"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    assert (tmp_path / "out" / "p1.txt").read_text().splitlines() == list(TEXT)
    assert (tmp_path / "out" / "p2.txt").read_text().splitlines() == list(TEXT[2:])


@pytest.mark.parametrize("form", ["text", "alto", "page", "hocr", "tsv", "markdown"])
def test_corrected_files_of_the_same_formats_are_read_back(tmp_path: Path, form: str):
    combined = [(f"u/{n}", text.replace("the", "tbe")) for n, text in enumerate(TEXT)]
    (text,) = true_texts(write(tmp_path / f"leaf{document_writer(form).ending}", page(), form))
    assert [(each.id, each.feedback.text) for each in corrections(combined, text)] == [
        (f"u/{n}", text) for n, text in enumerate(TEXT)
    ]


@pytest.mark.parametrize("form", ["srt", "vtt", "ctm"])
def test_corrected_files_of_a_recording_are_read_back(tmp_path: Path, form: str):
    combined = [(f"u/{n}", text.replace("all", "awl")) for n, text in enumerate(SPEECH)]
    path = write(tmp_path / f"talk{document_writer(form).ending}", recording(SPEECH), form)
    (text,) = true_texts(path)
    assert text.split() == " ".join(SPEECH).split()
    assert [each.feedback.text for each in corrections(combined, text)] == SPEECH
