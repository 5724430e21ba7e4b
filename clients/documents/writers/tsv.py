"""TSV as Tesseract writes it, confidences in percent: `write_tsv`."""

from galloon.clients.documents.combined import CombinedDocument, regions
from galloon.clients.formats.tesseract_tsv import COLUMNS
from galloon.learners.documents.document import Box


def write_tsv(document: CombinedDocument) -> str:
    """A row per page, block, line and word."""
    rows = ["\t".join(COLUMNS)]
    for number, page in enumerate(document.pages, 1):
        rows.append(_row(1, (number, 0, 0, 0, 0), Box(0, 0, *page.size)))
        for block, lines in enumerate(regions([line for line in page.lines if line.words]), 1):
            box = Box.around(line.box for line in lines if line.box)
            rows.append(_row(2, (number, block, 0, 0, 0), box))
            rows.append(_row(3, (number, block, 1, 0, 0), box))
            for place, line in enumerate(lines, 1):
                rows.append(_row(4, (number, block, 1, place, 0), line.box))
                rows += [
                    _row(
                        5,
                        (number, block, 1, place, n),
                        word.box or line.box,
                        100 * word.confidence,
                        word.text,
                    )
                    for n, word in enumerate(line.words, 1)
                ]
    return "\n".join(rows) + "\n"


def _row(
    level: int, numbers: tuple[int, ...], box: Box | None, confidence: float = -1.0, text: str = ""
) -> str:
    box = box or Box(0, 0, 0, 0)
    left, top = round(box.left), round(box.top)
    place = (left, top, round(box.right) - left, round(box.bottom) - top)
    return "\t".join(map(str, (level, *numbers, *place, f"{confidence:.6g}", text)))
