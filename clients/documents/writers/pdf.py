"""Searchable PDF: `write_pdf`. The page's image, and on it, invisible, each word where it stands.

Words of a line share one size and one baseline, fitted through their boxes, so that viewers and `pdftotext` take
them for a line even on a skewed scan. fpdf2 and Pillow do the rest (`pip install 'galloon[pdf]'`).
"""

import tempfile
import unicodedata
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from statistics import linear_regression, median
from typing import TYPE_CHECKING

from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.documents.combined import CombinedDocument, CombinedLine, CombinedPage, CombinedWord
from galloon.clients.documents.page_images import open_image

if TYPE_CHECKING:
    from fpdf import FPDF

_POINTS = 72.0  # an inch
_USUAL_DPI = 300.0  # where an image does not say
_ALIKE = 0.02  # by how much the proportions of a page and its image may differ
_SMALLEST, _LARGEST = 1.0, 1000.0  # points; fonts of no size would be errors
_STRETCH = (1.0, 10_000.0)  # percent
_FAMILY = "glyphless"


def write_pdf(document: CombinedDocument) -> bytes:
    """The document as PDF, a page a page; every page has its image."""
    try:
        from fpdf import FPDF
        from fpdf.enums import TextMode
        from fpdf.fonts import TTFFont

        from galloon.clients.documents.writers.glyphless_font import glyphless_font
    except ImportError as problem:
        raise WrongUsage("--to pdf needs fpdf2: pip install 'galloon[pdf]'") from problem
    pdf = FPDF(unit="pt")
    pdf.set_auto_page_break(False)
    pdf.set_margin(0)
    # The same inputs make the same bytes, whenever they are combined.
    pdf.set_creation_date(datetime.fromtimestamp(0, UTC))
    pdf.set_title(document.stem)
    words = chain.from_iterable(line.words for page in document.pages for line in page.lines)
    with tempfile.TemporaryDirectory() as folder:
        font = Path(folder) / "glyphless.ttf"
        font.write_bytes(glyphless_font(set("".join(word.text for word in words))))
        pdf.add_font(_FAMILY, fname=font)
        pdf.text_mode = TextMode.INVISIBLE
        try:
            for page in document.pages:
                _add_page(pdf, page, document.stem)
            return bytes(pdf.output())
        finally:
            for held in pdf.fonts.values():
                if isinstance(held, TTFFont):  # it keeps its file open
                    held.close()


def _add_page(pdf: "FPDF", page: CombinedPage, stem: str) -> None:
    place = page.image
    if place is None:
        raise FormatError(stem, None, "no image of the page", "name it alike in the folder of --images")
    with open_image(place) as image:
        dots = image.info.get("dpi", (0, 0))
        dpi = next((float(value) for value in dots if 50 <= value <= 2400), _USUAL_DPI)
        width, height = (side * _POINTS / dpi for side in image.size)
        across = width / (page.width or image.width)
        down = height / (page.height or image.height)
        if not 1 - _ALIKE < across / down < 1 + _ALIKE:
            theirs = f"{page.width or 0:g} x {page.height or 0:g}"
            sizes = f"{image.width} x {image.height} pixels, but the engines' page is {theirs}"
            raise FormatError(str(place.path), None, sizes, "is it the image of this page?")
        pdf.add_page(format=(width, height))
        # A JPEG goes in as it is.
        untouched = place.frame == 0 and image.format == "JPEG"
        pdf.image(str(place.path) if untouched else image.copy(), 0, 0, width, height)
    for line in page.lines:
        _add_line(pdf, line, across, down)


def _add_line(pdf: "FPDF", line: CombinedLine, across: float, down: float) -> None:
    """`across` and `down` are points a pixel."""
    words = [word for word in line.words if word.box is not None]
    boxes = [word.box for word in words if word.box is not None]
    if not boxes:
        return
    size = min(_LARGEST, max(_SMALLEST, down * median(box.height for box in boxes)))
    pdf.set_font(_FAMILY, size=size)
    middles = [(box.left + box.right) / 2 for box in boxes]
    bottoms = [box.bottom for box in boxes]
    level = len(set(middles)) < 2
    slope, base = (0.0, median(bottoms)) if level else linear_regression(middles, bottoms)
    for word, box, middle in zip(words, boxes, middles, strict=True):
        text = _shown(word)
        left, width = across * box.left, across * box.width
        if (
            width < 0.1 * size
        ):  # it stands where no engine with boxes has a word: a little apart from the one before
            left, width = left + 0.25 * size, 0.5 * size
        stretch = 100 * width / (len(text) * size * 0.5)
        pdf.set_stretching(min(_STRETCH[1], max(_STRETCH[0], stretch)))
        # A blank after each word keeps them apart for whoever copies the text, however close they stand.
        pdf.text(left, down * (base + slope * middle) - 0.2 * size, text + " ")


def _shown(word: CombinedWord) -> str:
    """A word as it stands on paper: from left to right, so words of scripts that run to the left are turned."""
    kinds = {unicodedata.bidirectional(character) for character in word.text}
    return word.text[::-1] if kinds & {"R", "AL"} and "L" not in kinds else word.text
