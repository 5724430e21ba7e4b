"""The formats that combined documents are written in: `DOCUMENT_WRITERS`, a row a format.

A writer takes a document and gives the text of its file, or its bytes. `ending` is that of the file's name.
"""

from collections.abc import Callable
from dataclasses import dataclass

from galloon.clients.documents.combined import CombinedDocument
from galloon.clients.documents.writers import (
    alto,
    confusion_network,
    ctm,
    document_json,
    hocr,
    markdown,
    page_xml,
    pdf,
    plain_text,
    subtitles,
    tsv,
)


@dataclass(frozen=True, slots=True)
class DocumentWriter:
    """One row of the table."""

    name: str
    title: str
    ending: str
    write: Callable[[CombinedDocument], str | bytes]
    needs: str = ""  # `boxes` or `times`, where nothing can be written without
    needs_images: bool = False
    one_page: bool = (
        False  # whether a file holds no more: a document of several becomes several files of a folder
    )
    alternatives: bool = False  # whether the format has a place for words that were not chosen


DOCUMENT_WRITERS = (
    DocumentWriter("text", "plain text, a form feed between pages", ".txt", plain_text.write_text),
    DocumentWriter("hocr", "hOCR", ".hocr", hocr.write_hocr, "boxes"),
    DocumentWriter("alto", "ALTO 4 XML", ".xml", alto.write_alto, "boxes", alternatives=True),
    DocumentWriter(
        "page", "PAGE XML 2019", ".xml", page_xml.write_page_xml, "boxes", one_page=True, alternatives=True
    ),
    DocumentWriter("tsv", "Tesseract's TSV", ".tsv", tsv.write_tsv, "boxes"),
    DocumentWriter("ctm", "NIST CTM", ".ctm", ctm.write_ctm, "times"),
    DocumentWriter("srt", "SubRip subtitles", ".srt", subtitles.write_srt, "times"),
    DocumentWriter("vtt", "WebVTT subtitles", ".vtt", subtitles.write_vtt, "times"),
    DocumentWriter("markdown", "Markdown, a paragraph a region", ".md", markdown.write_markdown),
    DocumentWriter(
        "pdf",
        "searchable PDF, text under the page's image",
        ".pdf",
        pdf.write_pdf,
        "boxes",
        needs_images=True,
    ),
    DocumentWriter(
        "confusion-network",
        "confusion networks as SRILM writes them",
        ".mesh",
        confusion_network.write_confusion_networks,
        alternatives=True,
    ),
    DocumentWriter(
        "json", "galloon's JSON: everything", ".json", document_json.write_json, alternatives=True
    ),
)


def document_writer(name: str) -> DocumentWriter:
    """The writer of this name."""
    return next(writer for writer in DOCUMENT_WRITERS if writer.name == name)
