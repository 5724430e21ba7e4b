"""What goes wrong with files on the way to `galloon combine`: status 1 or 2 and a sentence, nothing written."""

from pathlib import Path

import pytest

from tests.clients.documents.test_combine_documents import FORMATS, combine, write
from tests.daemon_process import Daemon
from tests.learners.documents.pages import OTHER, TEXT, page, without_places


def test_a_page_on_which_nobody_found_text_is_no_success(daemon: Daemon, tmp_path: Path):
    for name in ("a.tsv", "b.hocr"):
        (tmp_path / name).touch()
    made = combine(daemon, tmp_path / "a.tsv", tmp_path / "b.hocr", "-o", tmp_path / "out.txt")
    assert made.exit_code == 1
    assert "not combined: no engine has any text" in made.stderr
    assert not (tmp_path / "out.txt").exists()


def test_an_empty_page_among_others_is_a_page(daemon: Daemon, tmp_path: Path):
    for engine in ("a", "b"):
        write(tmp_path / engine / "p1.tsv", page(), "tsv")
        (tmp_path / engine / "p2.tsv").touch()
    folders = [f"{name}={tmp_path / name}" for name in ("a", "b")]
    made = combine(daemon, *folders, "-o", f"{tmp_path / 'out'}/")
    assert made.exit_code == 0
    assert (tmp_path / "out" / "p2.txt").read_text().strip() == ""
    for engine in ("a", "b"):
        (tmp_path / engine / "p1.tsv").write_bytes(b"")
    empty = combine(daemon, *folders, "-o", f"{tmp_path / 'none'}/")
    assert (empty.exit_code, "no engine found any text in any document" in empty.stderr) == (1, True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("half.json", '{"responses": ['),
        ("list.json", '[{"boxes": [[1, 2'),
        ("half.xml", '<?xml version="1.0"?><alto><Layout>'),
        ("page.html", "<!DOCTYPE html><html><body><p>no hOCR</p></body></html>"),
        ("half.tsv", (FORMATS / "tesseract-tsv/page.tsv").read_text()[:-20]),
    ],
)
def test_a_file_that_was_cut_off_is_refused(daemon: Daemon, tmp_path: Path, name: str, content: str):
    (tmp_path / name).write_text(content)
    whole = write(tmp_path / "whole.tsv", page(), "tsv")
    made = combine(daemon, f"a={tmp_path / name}", f"b={whole}")
    assert (made.exit_code, made.stdout) == (1, "")
    assert name in made.stderr


def test_folders_without_a_document_in_common_are_refused(daemon: Daemon, tmp_path: Path):
    write(tmp_path / "a" / "p1.tsv", page(), "tsv")
    write(tmp_path / "b" / "page-1.tsv", page(), "tsv")
    made = combine(daemon, f"a={tmp_path / 'a'}", f"b={tmp_path / 'b'}", "-o", f"{tmp_path / 'out'}/")
    assert made.exit_code == 1
    assert "no document has files of two engines: p1, page-1" in made.stderr


def test_pages_and_a_recording_are_refused(daemon: Daemon, tmp_path: Path):
    leaf = write(tmp_path / "leaf.tsv", page(), "tsv")
    made = combine(daemon, f"a={leaf}", f"b={FORMATS / 'ctm/hyp.ctm'}")
    assert (made.exit_code, made.stdout) == (1, "")
    assert "it is of a recording, and a is of a page" in made.stderr


def test_true_texts_of_no_document_are_refused(daemon: Daemon, tmp_path: Path):
    for engine in ("a", "b"):
        write(tmp_path / engine / "p1.tsv", page(), "tsv")
    (tmp_path / "true").mkdir()
    (tmp_path / "true" / "leaf.txt").write_text("\n".join(TEXT))
    folders = [f"{name}={tmp_path / name}" for name in ("a", "b")]
    made = combine(daemon, *folders, "-o", f"{tmp_path / 'out'}/", "--targets", tmp_path / "true")
    assert (made.exit_code, "no true text of any document: p1" in made.stderr) == (1, True)


def test_the_words_of_an_engine_without_words_are_refused(daemon: Daemon, tmp_path: Path):
    boxes = write(tmp_path / "boxes.tsv", page(), "tsv")
    (tmp_path / "vlm.txt").write_text("\n")
    made = combine(
        daemon, f"boxes={boxes}", f"vlm={tmp_path / 'vlm.txt'}", "--text-from", "vlm", "--to", "hocr"
    )
    assert (made.exit_code, made.stdout) == (1, "")
    assert "vlm has no text" in made.stderr


@pytest.mark.parametrize("places", [True, False])
def test_two_files_of_two_documents_are_refused(daemon: Daemon, tmp_path: Path, places: bool):
    """With two engines nobody can say which one is wrong, but that they do not fit."""
    other = page(OTHER) if places else without_places(page(OTHER))
    a = write(tmp_path / "a.tsv", page(), "tsv")
    b = write(tmp_path / ("b.tsv" if places else "b.txt"), other, "tsv" if places else "text")
    made = combine(daemon, a, b)
    assert (made.exit_code, made.stdout) == (1, "")
    assert "is it of another document?" in made.stderr
