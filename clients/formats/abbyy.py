"""ABBYY FineReader's XML, versions 6 to 10 and FineReader Engine's: `read_abbyy`.

Pages hold blocks, paragraphs and lines; a line's text is single characters with boxes (`charParams`), blanks
included, or plain text where characters were not asked for. A word is as sure as its characters in the mean
(`charConfidence`, in percent; 255 means unknown).
"""

import re

from galloon.clients.formats.outline import outline_of
from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_xml import walk_xml
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import boxed_words, finite, split_text
from galloon.learners.documents.document import Box
from galloon.learners.observation import ExpertOutput, Word

NAME = "abbyy"
_UNKNOWN = 255


def sniff_abbyy(sample: Sample) -> bool:
    return bool(re.search(r"<(\w+:)?document[^<>]{0,2000}abbyy\.com/FineReader_xml", sample.text))


def read_abbyy(source: Source) -> ReadResult:
    """The words of each line, in the order of the file."""
    page = _Page(source)
    walk_xml(source, page)
    return page.lines.result(NAME)


class _Page:
    def __init__(self, source: Source) -> None:
        self.lines = Lines(source)
        self._source = source
        self._block = 0
        self._line: Box | None = None
        self._in_line = self._in_variants = False
        self._words: list[Word] = []
        self._letters: list[tuple[str, Box | None, float | None]] = []
        self._letter: dict[str, str] = {}
        self._variants = ""  # other readings of the character, which stand inside it

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        if name == "page":
            self.lines.new_page("", *(finite(attributes.get(key, "")) for key in ("width", "height")))
        elif name == "block":
            self._block += 1
        elif name == "line":
            self._in_line, self._words, self._letters = True, [], []
            self._line = self._box(attributes, line)
        elif name == "charParams" and not self._in_variants:
            self._letter, self._variants = attributes, ""
        elif name in {"charRecVariants", "wordRecVariants"}:
            self._in_variants = True

    def end(self, name: str, text: str, line: int) -> None:
        if name in {"charRecVariants", "wordRecVariants"}:
            self._in_variants = False
            self._variants += text
        elif name == "charParams" and not self._in_variants and self._in_line:
            self._add_letter(text.replace(self._variants, "", 1), line)
        elif name == "line" and self._in_line:
            self._end_word(line)
            words = self._words or list(split_text(text, self._source, line))
            if words:
                place = Place(self._line, region=str(self._block))
                name = str(len(self.lines) + 1)
                self.lines.add(name, ExpertOutput(self._source.stem, tuple(words)), line, place)
            else:
                self._source.note("line without text left out", line)
            self._in_line = False

    def _add_letter(self, text: str, line: int) -> None:
        letter = text.strip()
        if not letter:
            self._end_word(line)
        else:
            percent = finite(self._letter.get("charConfidence", ""))
            sure = None if percent is None or percent >= _UNKNOWN else percent / 100
            self._letters.append((letter, self._box(self._letter, line), sure))

    def _end_word(self, line: int) -> None:
        if not self._letters:
            return
        sure = [value for _, _, value in self._letters if value is not None]
        box = Box.around(box for _, box, _ in self._letters if box)
        text = "".join(letter for letter, _, _ in self._letters)
        confidence = sum(sure) / len(sure) if sure else None
        self._words += boxed_words(text, self._source, box, confidence, line)
        self._letters = []

    def _box(self, attributes: dict[str, str], line: int) -> Box | None:
        if not all(edge in attributes for edge in "ltrb"):
            return None
        edges = [finite(attributes[edge]) for edge in "ltrb"]
        if None in edges:
            raise self._source.error(
                line, f"l, t, r, b must be numbers, not {[attributes[e][:12] for e in 'ltrb']}"
            )
        left, top, right, bottom = (edge or 0.0 for edge in edges)
        return outline_of([(left, top), (right, bottom)])[0]
