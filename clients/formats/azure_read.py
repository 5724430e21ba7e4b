"""JSON of Azure's Read, Document Intelligence and Image Analysis: `read_azure_read`.

Read 3 has `readResults` with lines and their words. Document Intelligence has `pages` whose lines and words
point into `content` by spans. Image Analysis 4 has `readResult` with blocks. Pages are in pixels or inches.
"""

import re

from galloon.clients.formats.outline import corners_of, outline_of
from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import boxed_words
from galloon.learners.documents.document import Box
from galloon.learners.observation import ExpertOutput, Word

NAME = "azure-read"


def sniff_azure_read(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"(analyzeResult|readResults?|stringIndexType)"\s*:', sample.text)
    )


def read_azure_read(source: Source) -> ReadResult:
    """The lines of each page with their words."""
    document = load_json(source)
    status = document["status"].text()
    if status is not None and status.lower() not in {"succeeded", "partiallysucceeded"}:
        raise source.error(
            None, f"the analysis has the status {status[:40]!r}", "fetch it when it has succeeded"
        )
    result = document["analyzeResult"] or document
    lines = Lines(source)
    if "readResult" in result:  # Image Analysis 4
        metadata = result["metadata"]
        lines.new_page("", metadata["width"].number(), metadata["height"].number())
        for number, block in enumerate(result["readResult"]["blocks"].items()):
            for line in block["lines"].items():
                _add(
                    line, [_word(word, source) for word in line["words"].items()], str(number), lines, source
                )
        return lines.result(NAME)
    pages = result.first("readResults", "pages")
    if not pages:
        raise result.wrong('an object with "readResults", "pages" or "readResult"')
    for page in pages.items():
        # Inches would be too coarse for everything that counts in pixels.
        scale = 300.0 if page["unit"].text() == "inch" else 1.0
        size = [page[key].number() for key in ("width", "height")]
        lines.new_page("", *(None if side is None else side * scale for side in size))
        _page(page, scale, lines, source)
    return lines.result(NAME)


def _page(page: Node, scale: float, lines: Lines, source: Source) -> None:
    entries = [(_offset(word["span"]), word) for word in page["words"].items()]
    reached = 0
    for line in page["lines"].items():
        words = [_word(word, source, scale) for word in line["words"].items()]
        if not words and "spans" in line:
            end = max(
                (_offset(span) + (span["length"].number() or 0.0) for span in line["spans"].items()),
                default=0.0,
            )
            while reached < len(entries) and entries[reached][0] < end:
                words.append(_word(entries[reached][1], source, scale))
                reached += 1
        _add(line, words, "", lines, source, scale)


def _offset(span: Node) -> float:
    return span["offset"].number() or 0.0


def _word(entry: Node, source: Source, scale: float = 1.0) -> list[Word]:
    text = entry.first("content", "text").text() or ""
    return boxed_words(text, source, _box(entry, scale)[0], entry["confidence"].number())


def _add(
    line: Node, words: list[list[Word]], region: str, lines: Lines, source: Source, scale: float = 1.0
) -> None:
    box, slope = _box(line, scale)
    said = [word for made in words for word in made]
    if not said:
        said = boxed_words(line.first("content", "text").text() or "", source, box)
    if said:
        lines.add(
            str(len(lines)), ExpertOutput(source.stem, tuple(said)), place=Place(box, slope, region=region)
        )


def _box(entry: Node, scale: float) -> tuple[Box | None, float | None]:
    return outline_of(corners_of(entry.first("polygon", "boundingBox", "boundingPolygon"), scale, scale))
