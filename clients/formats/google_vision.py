"""JSON of Google Cloud Vision's text detection: `read_google_vision`.

`fullTextAnnotation` has pages, blocks, paragraphs, words and symbols; where a word or a line ends, a symbol's
detected break says so: a mark is an entry of its own, and without a break belongs to the word before it.
Vertices of zero are left out by the service; those of PDFs are shares of the page.
"""

import re
from collections.abc import Iterator

from galloon.clients.formats.outline import corners_of, outline_of
from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import boxed_words, one_word, split_text
from galloon.learners.documents.document import Box, word_box
from galloon.learners.observation import ExpertOutput, Word

NAME = "google-vision"
_KEYS = (
    "responses",
    "fullTextAnnotation",
    "full_text_annotation",
    "textAnnotations",
    "text_annotations",
    "error",
)
_LINE_ENDS = frozenset({"LINE_BREAK", "EOL_SURE_SPACE", "HYPHEN", 3, 4, 5})
_NO_BREAK = frozenset({None, "UNKNOWN", 0})


def sniff_google_vision(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(
            r'"(fullTextAnnotation|full_text_annotation|textAnnotations|text_annotations)"\s*:', sample.text
        )
    )


def read_google_vision(source: Source) -> ReadResult:
    """The lines of each page, in the order of the file."""
    lines = Lines(source)
    for response in _responses(load_json(source)):
        problem = response["error"]["message"].text()
        if problem:
            raise source.error(
                None, f"{response.path or 'the response'}: the service failed: {problem[:120]}"
            )
        whole = response.first("fullTextAnnotation", "full_text_annotation")
        for page in whole["pages"].items():
            _page(page, lines, source)
        if not whole["pages"]:
            _plain(response, lines, source)
    return lines.result(NAME)


def _responses(document: Node) -> Iterator[Node]:
    if isinstance(document.value, dict) and not any(key in document for key in _KEYS):
        raise document.wrong('an object with "responses" or "fullTextAnnotation"')
    if "responses" in document:
        yield from document["responses"].items()
    elif isinstance(document.value, list):
        for entry in document.items():
            yield from _responses(entry)
    else:
        yield document


def _plain(response: Node, lines: Lines, source: Source) -> None:
    """Without pages there is the text alone, as the first of the annotations."""
    annotations = list(response.first("textAnnotations", "text_annotations").items())
    whole = response.first("fullTextAnnotation", "full_text_annotation")["text"].text()
    text = whole or (annotations[0]["description"].text() if annotations else "") or ""
    lines.new_page()
    for row in text.split("\n"):
        if words := split_text(row, source):
            lines.add(str(len(lines)), ExpertOutput(source.stem, words))


def _page(page: Node, lines: Lines, source: Source) -> None:
    size = [page[key].number() for key in ("width", "height")]
    lines.new_page("", *size)
    told = any(
        _break(symbol) is not None
        for block in page["blocks"].items()
        for paragraph in block["paragraphs"].items()
        for entry in paragraph["words"].items()
        for symbol in list(entry["symbols"].items())[-1:]
    )  # some save words without their breaks
    for number, block in enumerate(page["blocks"].items()):
        for paragraph in block["paragraphs"].items():
            words: list[Word] = []
            open_word = False
            for entry in paragraph["words"].items():
                made, kind = _word(entry, size, source)
                if open_word and words and made:
                    words[-1:] = [one_word(words[-1], made[0])]
                    made = made[1:]
                words += made
                open_word = told and kind in _NO_BREAK
                if kind in _LINE_ENDS:
                    _line(words, str(number), lines, source)
                    words = []
            _line(words, str(number), lines, source)


def _line(words: list[Word], region: str, lines: Lines, source: Source) -> None:
    if words:
        box = Box.around(box for word in words if (box := word_box(word)))
        place = Place(box, region=region)
        lines.add(str(len(lines)), ExpertOutput(source.stem, tuple(words)), place=place)


def _word(entry: Node, size: list[float | None], source: Source) -> tuple[list[Word], str | int | None]:
    """The word, and the kind of break after it."""
    symbols = list(entry["symbols"].items())
    text = "".join(symbol["text"].text() or "" for symbol in symbols)
    kind = _break(symbols[-1]) if symbols else None
    if kind in {"HYPHEN", 4}:  # the hyphen at the end of the line is not among the symbols
        text += "-"
    poly = entry.first("boundingBox", "bounding_box")
    corners = corners_of(poly["vertices"])
    if not corners:
        shares = poly.first("normalizedVertices", "normalized_vertices")
        corners = corners_of(shares, size[0] or 1.0, size[1] or 1.0)
    # The service writes 0 where it has no confidence.
    return boxed_words(text, source, outline_of(corners)[0], entry["confidence"].number() or None), kind


def _break(symbol: Node) -> str | int | None:
    kind = symbol["property"].first("detectedBreak", "detected_break")["type"].value
    return kind if isinstance(kind, str | int) else None
