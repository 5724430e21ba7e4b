"""Tesseract's TSV (`tesseract page.png out tsv`): `read_tesseract_tsv`.

One row per page, block, paragraph, line and word (level 1 to 5). Confidences are percent, -1 where a row is
no word; start and end are the left and right edge in pixels.
"""

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import finite, spoken_words
from galloon.learners.observation import ExpertOutput, Word

NAME = "tesseract-tsv"
COLUMNS = (
    "level", "page_num", "block_num", "par_num", "line_num", "word_num", "left", "top", "width", "height",
    "conf", "text",
)  # fmt: skip
_WORD_LEVEL = 5


def sniff_tesseract_tsv(sample: Sample) -> bool:
    return sample.text.startswith("level\tpage_num\tblock_num\t")


def read_tesseract_tsv(source: Source) -> ReadResult:
    """The words of each line, under `page_block_paragraph_line`."""
    grouped: dict[str, list[Word]] = {}
    rows = source.rows()
    position = _positions(source, next(rows, (1, ""))[1])
    needed = max(place for name, place in position.items() if name != "text") + 1
    for at, row in rows:
        cells = row.split("\t")
        if cells == [""]:
            continue
        if len(cells) < needed:
            raise source.error(at, f"{len(cells)} columns, {needed} are needed", "is the file cut off?")
        level = cells[position["level"]]
        if level != str(_WORD_LEVEL):
            if not level.isdecimal():
                raise source.error(at, f"level {level[:20]!r} is not a number from 1 to {_WORD_LEVEL}")
            continue
        key = "_".join(cells[position[name]] for name in ("page_num", "block_num", "par_num", "line_num"))
        words = grouped.setdefault(key, [])
        text = cells[position["text"]] if position["text"] < len(cells) else ""
        left, width, percent = (
            _number(source, cells[position[name]], name, at) for name in ("left", "width", "conf")
        )
        confidence = percent / 100 if percent >= 0 else None
        words += spoken_words(text, source, confidence=confidence, start=left, end=left + width, line=at)
    lines = Lines(source)
    for key, found in grouped.items():
        if found:
            lines.add(key, ExpertOutput(source.stem, tuple(found)))
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
