"""JSON of Google's Document AI: `read_document_ai`.

The document's `text` is one string; lines and tokens of each page point into it by `textAnchor`. Boxes come as
pixels or as shares of the page.
"""

import re
from collections import deque

from galloon.clients.formats.outline import corners_of, outline_of
from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import boxed_words, one_word, split_text
from galloon.learners.documents.document import Box
from galloon.learners.observation import ExpertOutput, Word

NAME = "document-ai"


def sniff_document_ai(sample: Sample) -> bool:
    return sample.is_json and bool(re.search(r'"(textAnchor|text_anchor)"\s*:', sample.text))


def read_document_ai(source: Source) -> ReadResult:
    """The lines of each page with their tokens."""
    document = load_json(source)
    if "document" in document:
        document = document["document"]
    text = document["text"].text()
    if text is None:
        raise document.wrong('a document with "text" and "pages"')
    lines = Lines(source)
    for page in document["pages"].items():
        size = [page["dimension"][key].number() for key in ("width", "height")]
        lines.new_page("", *size)
        tokens = deque((_span(token), token) for token in page["tokens"].items())
        for line in page["lines"].items():
            _line(line, tokens, text, size, lines, source)
    return lines.result(NAME)


def _line(
    line: Node,
    tokens: deque[tuple[tuple[int, int], Node]],
    text: str,
    size: list[float | None],
    lines: Lines,
    source: Source,
) -> None:
    start, end = _span(line)
    words: list[Word] = []
    reached = -1  # where the last token ends, if no blank follows it
    # Tokens come in the order of the text: those of earlier lines are taken off.
    while tokens and tokens[0][0][0] < end:
        (first, last), token = tokens.popleft()
        if first >= start and text[first:last].strip():
            made = boxed_words(
                text[first:last], source, _box(token, size)[0], token["layout"]["confidence"].number()
            )
            if (
                first == reached and words and made and not text[first].isspace()
            ):  # a mark is a token of its own
                words[-1:] = [one_word(words[-1], made[0])]
                made = made[1:]
            words += made
            reached = -1 if text[first:last][-1:].isspace() else last
    said = words or list(split_text(text[start:end], source))
    if not said:
        source.note("line without text left out")
        return
    box, slope = _box(line, size)
    confidence = line["layout"]["confidence"].number()
    output = ExpertOutput(source.stem, tuple(said), confidence)
    lines.add(str(len(lines)), output, place=Place(box, slope))


def _span(part: Node) -> tuple[int, int]:
    """Where a part's text begins and ends. Indices are strings in JSON, and zero is left out."""
    anchor = part["layout"].first("textAnchor", "text_anchor")
    segments = list(anchor.first("textSegments", "text_segments").items())
    starts = [segment.first("startIndex", "start_index").number() or 0.0 for segment in segments]
    ends = [segment.first("endIndex", "end_index").number() or 0.0 for segment in segments]
    low, high = min(starts, default=0.0), max(ends, default=0.0)
    if low < 0 or high < low or high > 1e9:
        raise anchor.wrong("a part of the text")
    return int(low), int(high)


def _box(part: Node, size: list[float | None]) -> tuple[Box | None, float | None]:
    poly = part["layout"].first("boundingPoly", "bounding_poly")
    corners = corners_of(poly["vertices"])
    if not corners:
        shares = poly.first("normalizedVertices", "normalized_vertices")
        corners = corners_of(shares, size[0] or 1.0, size[1] or 1.0)
    return outline_of(corners)
