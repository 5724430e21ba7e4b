"""Corrected files as corrections: `true_texts` of a file in any format, `corrections` of combined lines.

People correct what was combined in the tools of its format, an ALTO or PAGE editor, a subtitle editor, or plain
text. What they save is read like an engine's output; its words are found in the lines, wherever lines now end.
"""

from collections.abc import Sequence
from pathlib import Path

from galloon.clients.api.answered import Answered
from galloon.clients.formats.registry import detect_file, read_file
from galloon.clients.formats.source import open_source
from galloon.learners.combiners.contract import TrueText
from galloon.learners.documents.true_lines import true_lines

_PLAIN = "text"


def true_texts(path: Path) -> list[str]:
    """The true text of each page; a recording is one page. Plain text has page breaks between its pages."""
    if not path.stat().st_size or detect_file(path) == _PLAIN:
        return open_source(path).text().rstrip("\f\n").split("\f")
    return ["\n".join(line.text for line in page.lines) for page in read_file(path).pages]


def corrections(lines: Sequence[tuple[str, str]], true_text: str) -> list[Answered]:
    """Feedback on combined lines, each the id of its round and its text, by the true text of their page.

    Lines whose words are not surely found in it get none.
    """
    found = true_lines([text for _, text in lines], true_text)
    return [
        Answered(round_id, TrueText(text))
        for (round_id, _), text in zip(lines, found, strict=True)
        if text is not None
    ]
