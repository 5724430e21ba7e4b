"""Plain text, a line of the page per line: `read_plain_text`, `write_plain_text`.

A form feed begins a new page, as Tesseract and pdftotext write it.
"""

from collections.abc import Iterable

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text
from galloon.learners.observation import ExpertOutput, Utterance

NAME = "text"


def sniff_plain_text(sample: Sample) -> bool:
    """Anything readable; asked last."""
    return "\0" not in sample.text and "\ufffd" not in sample.text[:-4]


def read_plain_text(source: Source) -> ReadResult:
    """Each line that holds something, under its number."""
    lines = Lines(source)
    breaks = 0  # seen, and no text since
    for at, line in source.rows():
        breaks += line.count("\f")
        words = split_text(line, source, at)
        if words:
            for _ in range(breaks if len(lines) else 0):
                lines.new_page()
            breaks = 0
            lines.add(str(at), ExpertOutput(source.stem, words), at)
    if not len(lines):
        source.note("no text in the file")
    return lines.result(NAME)


def write_plain_text(utterances: Iterable[Utterance]) -> Iterable[str]:
    """A line per utterance: the first engine's text. Combine first if there are several engines."""
    for utterance in utterances:
        yield (utterance.outputs[0].text if utterance.outputs else "") + "\n"
