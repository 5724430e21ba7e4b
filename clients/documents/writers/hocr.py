"""hOCR 1.2 as Tesseract writes it: `write_hocr`."""

from galloon.clients.documents.combined import CombinedDocument, CombinedLine, CombinedPage, regions
from galloon.clients.documents.writers.xml_text import attributes, escape
from galloon.learners.documents.document import Box

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"
    "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">
<head>
<title></title>
<meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>
<meta name="ocr-system" content="galloon"/>
<meta name="ocr-capabilities" content="ocr_page ocr_carea ocr_line ocrx_word ocrp_wconf"/>
</head>
<body>
"""


def write_hocr(document: CombinedDocument) -> str:
    """The document as hOCR. A line without a box keeps its words, without theirs."""
    body = "".join(_page(page, number) for number, page in enumerate(document.pages, 1))
    return f"{_HEAD}{body}</body>\n</html>\n"


def _page(page: CombinedPage, number: int) -> str:
    width, height = page.size
    image = page.name.replace('"', "")
    title = f'image "{image}"; bbox 0 0 {width} {height}; ppageno {number - 1}'
    rows = [f"<div{attributes(class_='ocr_page', id=f'page_{number}', title=title)}>\n"]
    for place, lines in enumerate(regions(page.lines), 1):
        title = _bbox(Box.around(line.box for line in lines if line.box))
        rows.append(f"<div{attributes(class_='ocr_carea', id=f'block_{number}_{place}', title=title)}>\n")
        rows += [_line(line, number) for line in lines]
        rows.append("</div>\n")
    return "".join([*rows, "</div>\n"])


def _line(line: CombinedLine, number: int) -> str:
    words = []
    for place, word in enumerate(line.words, 1):
        title = "; ".join(filter(None, (_bbox(word.box), f"x_wconf {round(100 * word.confidence)}")))
        name = f"word_{number}_{line.id}_{place}"
        words.append(
            f"<span{attributes(class_='ocrx_word', id=name, title=title)}>{escape(word.text)}</span>"
        )
    name = attributes(class_="ocr_line", id=f"line_{number}_{line.id}", title=_bbox(line.box))
    return f"<span{name}>{' '.join(words)}</span>\n"


def _bbox(box: Box | None) -> str:
    if box is None:
        return ""
    return f"bbox {round(box.left)} {round(box.top)} {round(box.right)} {round(box.bottom)}"
