"""What detectors of text lines hand over, a box, a text and a score for each: `LineBox`, `add_line_boxes`."""

from collections.abc import Iterable
from dataclasses import dataclass

from galloon.clients.formats.result import Lines, Place
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text
from galloon.learners.documents.document import Box
from galloon.learners.observation import ExpertOutput


@dataclass(frozen=True, slots=True)
class LineBox:
    """A line of text."""

    text: str
    box: Box | None
    slope: float | None = None
    confidence: float | None = None
    region: str = ""


def add_line_boxes(lines: Lines, found: Iterable[LineBox], source: Source) -> None:
    """Add each as a line. The words have no boxes of their own: who matches lines shares the line's among them."""
    for line in found:
        if not line.text.strip():
            source.note("line without text left out")
            continue
        words = split_text(line.text, source)
        output = ExpertOutput(source.stem, words, line.confidence)
        lines.add(str(len(lines)), output, place=Place(line.box, line.slope, region=line.region))
