"""ALTO 4.3 XML: `write_alto`. Other words that were on offer are written as ALTERNATIVE."""

from galloon.clients.documents.combined import (
    CombinedDocument,
    CombinedLine,
    CombinedPage,
    CombinedWord,
    regions,
)
from galloon.clients.documents.writers.xml_text import attributes, escape
from galloon.learners.documents.document import Box

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://www.loc.gov/standards/alto/ns-v4# http://www.loc.gov/standards/alto/v4/alto-4-3.xsd">
<Description><MeasurementUnit>pixel</MeasurementUnit>
<sourceImageInformation><fileName>{image}</fileName></sourceImageInformation>
<Processing ID="galloon"><processingSoftware><softwareName>galloon</softwareName></processingSoftware></Processing>
</Description>
<Layout>
"""
_NOWHERE = Box(0, 0, 0, 0)


def write_alto(document: CombinedDocument) -> str:
    """The document as ALTO, a Page a page."""
    image = next((page.name for page in document.pages if page.name), document.stem)
    body = "".join(_page(page, number) for number, page in enumerate(document.pages, 1))
    return f"{_HEAD.format(image=escape(image))}{body}</Layout>\n</alto>\n"


def _page(page: CombinedPage, number: int) -> str:
    width, height = page.size
    size = {"WIDTH": width, "HEIGHT": height}
    rows = [
        f"<Page{attributes(ID=f'page_{number}', PHYSICAL_IMG_NR=number, **size)}>\n",
        f"<PrintSpace{attributes(HPOS=0, VPOS=0, **size)}>\n",
    ]
    for place, lines in enumerate(regions(page.lines), 1):
        where = _place(Box.around(line.box for line in lines if line.box))
        rows.append(f"<TextBlock{attributes(ID=f'block_{number}_{place}')}{where}>\n")
        rows += [_line(line, number) for line in lines if line.words]
        rows.append("</TextBlock>\n")
    return "".join([*rows, "</PrintSpace>\n</Page>\n"])


def _line(line: CombinedLine, number: int) -> str:
    name = f"line_{number}_{line.id}"
    words = [_word(word, f"{name}_{place}") for place, word in enumerate(line.words, 1)]
    return f"<TextLine{attributes(ID=name)}{_place(line.box)}>\n{'<SP/>'.join(words)}\n</TextLine>\n"


def _word(word: CombinedWord, name: str) -> str:
    others = "".join(f"<ALTERNATIVE>{escape(text)}</ALTERNATIVE>" for text, _ in word.alternatives if text)
    head = (
        f"{attributes(ID=name, CONTENT=word.text)}{_place(word.box)}{attributes(WC=_share(word.confidence))}"
    )
    return f"<String{head}>{others}</String>" if others else f"<String{head}/>"


def _share(value: float) -> str:
    return f"{min(1.0, max(0.0, value)):.3f}"


def _place(box: Box | None) -> str:
    box = box or _NOWHERE
    left, top = max(0, round(box.left)), max(0, round(box.top))
    return attributes(
        HPOS=left, VPOS=top, WIDTH=max(0, round(box.right) - left), HEIGHT=max(0, round(box.bottom) - top)
    )
