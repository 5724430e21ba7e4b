"""Searchable PDF: `write_pdf`. The page's image, and on it, invisible, each word where it stands.

Words of a line share one size and one baseline, level unless the page leans much, so that viewers and `pdftotext`
take them for a line even on a skewed scan. fpdf2 and Pillow do the rest (`pip install 'galloon[pdf]'`).
"""

import tempfile
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path
from statistics import linear_regression, median
from typing import TYPE_CHECKING

from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.documents.combined import CombinedDocument, CombinedLine, CombinedPage, CombinedWord
from galloon.clients.documents.page_images import open_image
from galloon.learners.documents.document import Box

if TYPE_CHECKING:
    from fpdf import FPDF

_POINTS = 72.0  # an inch
_USUAL_DPI = 300.0  # where an image does not say
_ALIKE = 0.02  # by how much the proportions of a page and its image may differ
_SMALLEST, _LARGEST = 1.0, 1000.0  # points; fonts of no size would be errors
_STRETCH = (1.0, 10_000.0)  # percent
_FAMILY = "glyphless"
_LONG_LINE = 4  # words that tell how a line leans
_WIDE = (0.6, 2.5)  # heights of text between words: more than pdftotext bridges, less than between columns
_LITTLE_LEAN = 0.7  # heights of text at either end


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
    slope = _slope(page)
    for line in page.lines:
        _add_line(pdf, line, slope, across, down)


def _slope(page: CombinedPage) -> float:
    """How far lines of the page sink for each pixel to the right: the median over its longer lines."""
    found = []
    for line in page.lines:
        boxes = [word.box for word in line.words if word.box is not None]
        middles = [(box.left + box.right) / 2 for box in boxes]
        if len(set(middles)) >= _LONG_LINE:
            found.append(linear_regression(middles, [box.bottom for box in boxes]).slope)
    return median(found) if found else 0.0


def _add_line(pdf: "FPDF", line: CombinedLine, slope: float, across: float, down: float) -> None:
    """`across` and `down` are points a pixel."""
    words = [word for word in line.words if word.box is not None]
    boxes = [word.box for word in words if word.box is not None]
    if not boxes:
        return
    size = min(_LARGEST, max(_SMALLEST, down * median(box.height - abs(slope) * box.width for box in boxes)))
    pdf.set_font(_FAMILY, size=size)
    middles = [(box.left + box.right) / 2 for box in boxes]
    base = median(box.bottom - slope * middle for box, middle in zip(boxes, middles, strict=True))
    centre = (min(box.left for box in boxes) + max(box.right for box in boxes)) / 2
    # Readers of PDF take words for a line if their baselines are one: a little lean is better left out.
    lean = abs(slope) * down * max(abs(middle - centre) for middle in middles)
    for word, box, middle, right in zip(words, boxes, middles, _reaches(boxes, size / across), strict=True):
        text = _shown(word)
        left, width = across * box.left, across * (right - box.left)
        # Where no engine with boxes has a word, it stands a little apart from the one before.
        if width < 0.1 * size:
            left, width = left + 0.25 * size, 0.5 * size
        stretch = 100 * width / (len(text) * size * 0.5)
        pdf.set_stretching(min(_STRETCH[1], max(_STRETCH[0], stretch)))
        bottom = down * (base + slope * (middle if lean > _LITTLE_LEAN * size else centre))
        # A blank after each word keeps them apart for whoever copies the text, however close they stand.
        pdf.text(left, bottom - 0.2 * size, text + " ")


def _reaches(boxes: Sequence[Box], size: float) -> list[float]:
    """How far to the right each word reaches: in a justified line further than it is, or readers see columns."""
    found = [box.right for box in boxes]
    for place, (box, after) in enumerate(pairwise(boxes)):
        if _WIDE[0] * size < after.left - box.right < _WIDE[1] * size:
            found[place] = after.left - _WIDE[0] * size
    return found


def _shown(word: CombinedWord) -> str:
    """A word as it stands on paper: from left to right, so words of scripts that run to the left are turned."""
    kinds = {unicodedata.bidirectional(character) for character in word.text}
    return word.text[::-1] if kinds & {"R", "AL"} and "L" not in kinds else word.text
