"""Plain text, a line of the page per line: `read_plain_text`, `write_plain_text`.

A form feed begins a new page, as Tesseract and pdftotext write it.
"""

import re
from collections.abc import Iterable

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text
from galloon.learners.observation import ExpertOutput, Utterance

NAME = "text"
_MARKUP = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{"]|<\?xml|<!DOCTYPE|<html)', re.IGNORECASE)


def sniff_plain_text(sample: Sample) -> bool:
    """Anything readable; asked last. What begins like JSON or XML is a broken or unknown file of these."""
    return (
        "\0" not in sample.text
        and "\ufffd" not in sample.text[:-4]
        and not _MARKUP.match(sample.text.removeprefix("\ufeff"))
    )


def read_plain_text(source: Source) -> ReadResult:
    """Each line that holds something, under its number."""
    lines = Lines(source)
    breaks = 0  # seen, and no text since
    lines.new_page()
    for at, row in source.rows():
        for number, part in enumerate(row.split("\f")):
            breaks += number > 0
            words = split_text(part, source, at)
            if words:
                for _ in range(breaks):
                    lines.new_page()
                breaks = 0
                lines.add(str(at), ExpertOutput(source.stem, words), at)
    for _ in range(breaks - 1):  # the last one ends the last page
        lines.new_page()
    if not len(lines):
        source.note("no text in the file")
    return lines.result(NAME)


def write_plain_text(utterances: Iterable[Utterance]) -> Iterable[str]:
    """A line per utterance: the first engine's text. Combine first if there are several engines."""
    for utterance in utterances:
        yield (utterance.outputs[0].text if utterance.outputs else "") + "\n"
