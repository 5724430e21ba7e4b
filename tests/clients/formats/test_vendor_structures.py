"""What vendors' files have beside the plain case: small examples of the structures that they document."""

import json
from pathlib import Path

import pytest

from galloon.clients.formats.registry import detect_file, read_file
from galloon.learners.documents.document import Page, word_box


def read(tmp_path: Path, form: str, document: object) -> tuple[Page, ...]:
    path = tmp_path / "given.json"
    path.write_text(json.dumps(document))
    assert detect_file(path) == form
    return read_file(path).pages


def texts(pages: tuple[Page, ...]) -> list[list[str]]:
    return [[line.text for line in page.lines] for page in pages]


def corners(left: float, top: float, right: float, bottom: float) -> list[dict[str, float]]:
    return [{"x": x, "y": y} for x, y in ((left, top), (right, top), (right, bottom), (left, bottom))]


def vision_word(text: str, left: float, break_: str | None) -> dict:
    symbols: list[dict] = [{"text": letter} for letter in text]
    if break_:
        symbols[-1]["property"] = {"detectedBreak": {"type": break_}}
    box = {"vertices": corners(left, 10, left + 10 * len(text), 30)}
    return {"boundingBox": box, "confidence": 0.9, "symbols": symbols}


def vision(*words: dict) -> dict:
    blocks = [{"blockType": "TEXT", "paragraphs": [{"words": list(words)}]}]
    return {"fullTextAnnotation": {"pages": [{"width": 600, "height": 400, "blocks": blocks}], "text": ""}}


def test_vision_has_marks_as_words_of_their_own(tmp_path: Path):
    """A comma without a break before it belongs to the word; a page without text is a page."""
    page = vision(
        vision_word("Dues", 10, None),
        vision_word(",", 50, "SPACE"),
        vision_word("paid", 70, None),
        vision_word(".", 110, "EOL_SURE_SPACE"),
        vision_word("Thanks", 10, "LINE_BREAK"),
    )
    pages = read(tmp_path, "google-vision", {"responses": [{"context": {"pageNumber": 1}}, page]})
    assert texts(pages) == [[], ["Dues, paid.", "Thanks"]]
    box = word_box(pages[1].lines[0].words[0])
    assert box is not None
    assert (box.left, box.right) == (10, 60)


def test_vision_without_breaks_keeps_words_apart(tmp_path: Path):
    page = vision(vision_word("Dues", 10, None), vision_word("paid", 70, None))
    assert texts(read(tmp_path, "google-vision", {"responses": [page]})) == [["Dues paid"]]


def test_document_ai_has_marks_as_tokens_of_their_own(tmp_path: Path):
    text = "Dues, paid.\n"

    def part(start: int, end: int) -> dict:
        anchor = {"textSegments": [{"startIndex": str(start), "endIndex": str(end)}]}
        poly = {"vertices": corners(10 * start, 10, 10 * end, 30)}
        return {"layout": {"textAnchor": anchor, "confidence": 0.9, "boundingPoly": poly}}

    tokens = [part(0, 4), part(4, 6), part(6, 10), part(10, 12)]
    page = {"dimension": {"width": 600, "height": 400}, "lines": [part(0, 12)], "tokens": tokens}
    pages = read(tmp_path, "document-ai", {"text": text, "pages": [page]})
    assert texts(pages) == [["Dues, paid."]]
    assert [word.start for word in pages[0].lines[0].words] == [0, 60]


def test_textract_counts_pages_without_lines(tmp_path: Path):
    def block(kind: str, page: int, text: str = "") -> dict:
        polygon = [{"X": x, "Y": y} for x, y in ((0.1, 0.1), (0.3, 0.1), (0.3, 0.2), (0.1, 0.2))]
        found = {"BlockType": kind, "Id": f"{kind}-{page}", "Page": page, "Geometry": {"Polygon": polygon}}
        return found | ({"Text": text, "Confidence": 99.0} if text else {})

    blocks = [
        block("PAGE", 1),
        block("LINE", 1, "Dues"),
        block("PAGE", 2),
        block("PAGE", 3),
        block("LINE", 3, "paid"),
    ]
    assert texts(read(tmp_path, "textract", {"Blocks": blocks})) == [["Dues"], [], ["paid"]]


def test_minerus_content_list_counts_pages_without_entries(tmp_path: Path):
    entries = [
        {"type": "text", "text": "Dues", "page_idx": 1, "bbox": [1, 2, 3, 4]},
        {"type": "code", "code_body": "x = 1", "code_caption": ["Listing 1"], "page_idx": 3},
    ]
    assert texts(read(tmp_path, "mineru", entries)) == [[], ["Dues"], [], ["x = 1", "Listing 1"]]


def test_mistrals_head_foot_and_tables_stand_apart(tmp_path: Path):
    page = {
        "index": 0,
        "markdown": "# Dues\n\n[tbl-0.html](tbl-0.html)\n\n![img-0.jpeg](img-0.jpeg)\n\nSee [here](there).",
        "header": "The Harbour",
        "footer": "17",
        "tables": [
            {
                "id": "tbl-0.html",
                "format": "html",
                "content": "<table><tr><td>Pier</td><td>12</td></tr></table>",
            }
        ],
        "images": [{"id": "img-0.jpeg"}],
        "dimensions": {"dpi": 200, "width": 1700, "height": 2200},
    }
    lines = [" ".join(line.split()) for line in texts(read(tmp_path, "mistral-ocr", {"pages": [page]}))[0]]
    assert lines == ["The Harbour", "Dues", "Pier 12", "See here.", "17"]


def test_doclings_furniture_lists_forms_and_wide_cells(tmp_path: Path):
    """Heads under `furniture`; numbers of lists; a cell over two columns once; kinds of part not known here."""

    def text(words: str, label: str = "text", **more: object) -> dict:
        return {"label": label, "text": words, "prov": [{"page_no": 1}], "children": [], **more}

    def cell(words: str, row: int, column: int) -> dict:
        return {"text": words, "start_row_offset_idx": row, "start_col_offset_idx": column}

    head = cell("Dues of 1887", 0, 0)
    table = {
        "prov": [{"page_no": 1}],
        "data": {"grid": [[head, head], [cell("Pier", 1, 0), cell("12", 1, 1)]]},
    }
    document = {
        "schema_name": "DoclingDocument",
        "body": {
            "children": [
                {"$ref": f"#/{name}"}
                for name in ("texts/0", "texts/1", "tables/0", "form_items/0", "field_regions/0")
            ]
        },
        "furniture": {"children": [{"$ref": "#/texts/2"}]},
        "texts": [
            text("Paid"),
            text("in full", "list_item", marker="1."),
            text("The Harbour", "page_header", content_layer="furniture"),
        ],
        "tables": [table],
        "form_items": [{"children": []}],
        "pages": {"1": {"page_no": 1, "size": {"width": 600, "height": 800}}},
    }
    lines = texts(read(tmp_path, "docling", document))[0]
    assert [" ".join(line.split()) for line in lines] == [
        "Paid",
        "1. in full",
        "Dues of 1887",
        "Pier 12",
        "The Harbour",
    ]


def test_words_of_whisper_timestamped_have_confidences(tmp_path: Path):
    words = [{"text": "Call", "start": 0.0, "end": 0.4, "confidence": 0.7}]
    segment = {"id": 0, "start": 0.0, "end": 0.5, "text": " Call", "avg_logprob": -0.2, "words": words}
    (page,) = read(tmp_path, "whisper", {"text": "Call", "segments": [segment]})
    assert page.lines[0].words[0].confidence == 0.7


def test_openais_words_are_written_as_in_their_segment(tmp_path: Path):
    """Words come without marks; where the segment's text has the same words, as it writes them."""
    segments = [
        {"id": 0, "start": 0.0, "end": 1.0, "text": " Well, yes.", "avg_logprob": -0.2},
        {"id": 1, "start": 1.0, "end": 2.0, "text": " No 12 then.", "avg_logprob": -0.2},
    ]
    said = ("Well", 0.0), ("yes", 0.5), ("No", 1.0), ("twelve", 1.3), ("then", 1.6)
    words = [{"word": word, "start": start, "end": start + 0.2} for word, start in said]
    (page,) = read(
        tmp_path, "whisper", {"task": "transcribe", "segments": segments, "words": words, "text": ""}
    )
    assert [line.text for line in page.lines] == ["Well, yes.", "No twelve then"]


@pytest.mark.parametrize(
    ("mark", "attached", "written"),
    [
        (".", "previous", "well. known"),
        ("-", "both", "well-known"),
        ("(", "next", "well (known"),
        ("–", "none", "well – known"),
    ],
)
def test_speechmatics_marks_attach_where_they_say(tmp_path: Path, mark: str, attached: str, written: str):
    def result(kind: str, content: str, start: float, **more: str) -> dict:
        said = [{"content": content, "confidence": 0.9, "speaker": "S1"}]
        return {"type": kind, "start_time": start, "end_time": start + 0.2, "alternatives": said, **more}

    results = [
        result("word", "well", 0.0),
        result("punctuation", mark, 0.2, attaches_to=attached),
        result("word", "known", 0.3),
    ]
    (page,) = read(tmp_path, "speechmatics", {"format": "2.9", "results": results})
    assert [line.text for line in page.lines] == [written]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("one\n\ftwo\n\f", [["one"], ["two"]]),
        ("\fone\n\f", [[], ["one"]]),
        ("one\n\f\f", [["one"], []]),
        ("one\ftwo", [["one"], ["two"]]),
        ("one\n", [["one"]]),
    ],
)
def test_plain_text_counts_empty_pages(tmp_path: Path, text: str, pages: list[list[str]]):
    """Tesseract and pdftotext end each page with a form feed."""
    path = tmp_path / "given.txt"
    path.write_text(text)
    assert texts(read_file(path, "text").pages) == pages
