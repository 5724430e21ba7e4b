"""PAGE XML 2019-07-15: `write_page_xml`.

The format holds one page a file; a longer document is refused here, and becomes several files in a folder.
"""

from galloon.clients.api.errors import WrongUsage
from galloon.clients.documents.combined import CombinedDocument, CombinedLine, CombinedWord, regions
from galloon.clients.documents.writers.xml_text import attributes, escape
from galloon.learners.documents.document import Box

_SPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
_HEAD = f"""<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="{_SPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="{_SPACE} {_SPACE}/pagecontent.xsd">
<Metadata><Creator>galloon</Creator><Created>1970-01-01T00:00:00</Created>
<LastChange>1970-01-01T00:00:00</LastChange></Metadata>
"""


def write_page_xml(document: CombinedDocument) -> str:
    """The page as PAGE XML, with its reading order."""
    if len(document.pages) > 1:
        raise WrongUsage(
            f"{document.stem} has {len(document.pages)} pages and PAGE XML holds one: give -o FOLDER/, "
            "or write --to alto or hocr"
        )
    page = document.pages[0]
    width, height = page.size
    whole = Box(0, 0, width, height)
    blocks = regions([line for line in page.lines if line.words])
    order = "".join(
        f"<RegionRefIndexed{attributes(index=n, regionRef=f'r{n + 1}')}/>" for n in range(len(blocks))
    )
    head = attributes(imageFilename=page.name or document.stem, imageWidth=width, imageHeight=height)
    rows = [_HEAD, f"<Page{head}>\n"]
    if order:
        rows.append(f'<ReadingOrder><OrderedGroup id="order">{order}</OrderedGroup></ReadingOrder>\n')
    for number, lines in enumerate(blocks, 1):
        around = Box.around(line.box for line in lines if line.box) or whole
        rows.append(f"<TextRegion{attributes(id=f'r{number}')}>{_coords(around)}\n")
        rows += [_line(line, around) for line in lines]
        rows.append("</TextRegion>\n")
    return "".join([*rows, "</Page>\n</PcGts>\n"])


def _line(line: CombinedLine, region: Box) -> str:
    name = f"l{line.id}"
    box = line.box or region
    words = "".join(_word(word, f"{name}_{place}", box) for place, word in enumerate(line.words, 1))
    text = _reading(line.text, line.confidence)
    return f"<TextLine{attributes(id=name)}>{_coords(box)}\n{words}{text}</TextLine>\n"


def _word(word: CombinedWord, name: str, line: Box) -> str:
    others = "".join(
        _reading(text, chance, n)
        for n, (text, chance) in enumerate((w for w in word.alternatives if w[0]), 1)
    )
    index = 0 if others else None
    first = _reading(word.text, word.confidence, index)
    return f"<Word{attributes(id=name)}>{_coords(word.box or line)}{first}{others}</Word>\n"


def _reading(text: str, confidence: float, index: int | None = None) -> str:
    numbers = {} if index is None else {"index": index}
    head = attributes(conf=f"{min(1.0, max(0.0, confidence)):.3f}", **numbers)
    return f"<TextEquiv{head}><Unicode>{escape(text)}</Unicode></TextEquiv>"


def _coords(box: Box) -> str:
    left, top = max(0, round(box.left)), max(0, round(box.top))
    right, bottom = max(left, round(box.right)), max(top, round(box.bottom))
    return f'<Coords points="{left},{top} {right},{top} {right},{bottom} {left},{bottom}"/>'
