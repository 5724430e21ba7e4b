"""Tesseract's TSV (`tesseract page.png out tsv`): `read_tesseract_tsv`.

One row per page, block, paragraph, line and word (level 1 to 5). Confidences are percent, -1 where a row is
no word; start and end are the left and right edge in pixels. Blocks are regions, rows of level 1 begin a page.
"""

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import finite, spoken_words
from galloon.learners.documents.document import Box
from galloon.learners.observation import ExpertOutput, Word

NAME = "tesseract-tsv"
COLUMNS = (
    "level", "page_num", "block_num", "par_num", "line_num", "word_num", "left", "top", "width", "height",
    "conf", "text",
)  # fmt: skip
_KEY = ("page_num", "block_num", "par_num", "line_num")
_EDGES = ("left", "top", "width", "height")
_PAGE_LEVEL, _LINE_LEVEL, _WORD_LEVEL = 1, 4, 5


def sniff_tesseract_tsv(sample: Sample) -> bool:
    return sample.text.startswith("level\tpage_num\tblock_num\t")


def read_tesseract_tsv(source: Source) -> ReadResult:
    """The words of each line, under `page_block_paragraph_line`."""
    grouped: dict[str, list[Word]] = {}
    boxes: dict[str, Box] = {}  # of pages, by their number, and of lines
    rows = source.rows()
    position = _positions(source, next(rows, (1, ""))[1])
    needed = max(place for name, place in position.items() if name != "text") + 1
    # The last row ends with a new line, or the file was cut off.
    last = 0 if source.data.endswith(b"\n") else source.data.count(b"\n") + 1
    for at, row in rows:
        cells = row.split("\t")
        if cells == [""]:
            continue
        cut = len(cells) < len(position) and at == last
        if len(cells) < needed or cut:
            raise source.error(at, f"{len(cells)} columns, {needed} are needed", "is the file cut off?")
        level = cells[position["level"]]
        if level != str(_WORD_LEVEL):
            if not level.isdecimal():
                raise source.error(at, f"level {level[:20]!r} is not a number from 1 to {_WORD_LEVEL}")
            if int(level) in {_PAGE_LEVEL, _LINE_LEVEL}:
                names = _KEY[:1] if int(level) == _PAGE_LEVEL else _KEY
                place = "_".join(cells[position[name]] for name in names)
                edges = [_number(source, cells[position[name]], name, at) for name in _EDGES]
                boxes[place] = Box(edges[0], edges[1], edges[0] + edges[2], edges[1] + edges[3])
            continue
        key = "_".join(cells[position[name]] for name in _KEY)
        words = grouped.setdefault(key, [])
        text = cells[position["text"]] if position["text"] < len(cells) else ""
        if not text.strip():  # pictures and rules
            continue
        left, top, width, height, percent = (
            _number(source, cells[position[name]], name, at) for name in (*_EDGES, "conf")
        )
        words += spoken_words(
            text,
            source,
            confidence=percent / 100 if percent >= 0 else None,
            start=left,
            end=left + width,
            top=top,
            bottom=top + height,
            line=at,
        )
    by_page: dict[str, list[str]] = {place: [] for place in boxes if "_" not in place}  # empty pages too
    for key in grouped:
        by_page.setdefault(key.partition("_")[0], []).append(key)
    lines = Lines(source)
    for page, keys in by_page.items():
        size = boxes.get(page)
        lines.new_page("", size.width if size else None, size.height if size else None)
        for key in keys:
            if found := grouped[key]:
                stands = Place(boxes.get(key), region=key.split("_")[1])
                lines.add(key, ExpertOutput(source.stem, tuple(found)), place=stands)
    return lines.result(NAME)


def _positions(source: Source, header: str) -> dict[str, int]:
    names = header.split("\t")
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise source.error(1, f"the header lacks {', '.join(missing)}", "write it with `tesseract ... tsv`")
    return {name: names.index(name) for name in COLUMNS}


def _number(source: Source, cell: str, column: str, at: int) -> float:
    value = finite(cell)
    if value is None or abs(value) > 1e9:
        raise source.error(at, f"{column} is {cell[:20]!r}, not a number")
    return value
