"""JSON of Amazon Textract: `read_aws_textract`.

`Blocks` are pages, lines and words, tied by `Relationships`. Boxes are shares of the page, whose width and
height Textract does not say: until another engine tells them the page counts as A4. Confidences are percent.
"""

import re

from galloon.clients.formats.outline import corners_of, outline_of
from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json_sequence
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import boxed_words
from galloon.learners.documents.document import Box
from galloon.learners.observation import ExpertOutput, Word

NAME = "textract"
WIDTH, HEIGHT = 1000.0, 1414.0


def sniff_aws_textract(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"Blocks"\s*:\s*\[', sample.text) and re.search(r'"BlockType"\s*:', sample.text)
    )


def read_aws_textract(source: Source) -> ReadResult:
    """The lines of each page with their words. A long answer is several objects, one after another."""
    parts = list(load_json_sequence(source))
    for part in parts:
        if "Blocks" not in part:
            raise part.wrong('an object with "Blocks"')
    blocks = [block for part in parts for block in part["Blocks"].items()]
    words = {block["Id"].name(""): block for block in blocks if block["BlockType"].text() == "WORD"}
    lines = Lines(source)
    page = None
    for block in blocks:
        kind = block["BlockType"].text()
        if kind not in {"LINE", "PAGE"}:
            continue
        number = block["Page"].number() or 1.0
        if number != page:  # pages without lines count too
            page = number
            lines.new_page("", WIDTH, HEIGHT, relative=True)
        if kind == "PAGE":
            continue
        said: list[Word] = []
        for name in _children(block):
            if name not in words:
                raise block["Relationships"].wrong(f"words that exist (not {name[:40]})")
            said += _words(words[name], source)
        said = said or _words(block, source)
        if said:
            box, slope = _box(block)
            output = ExpertOutput(source.stem, tuple(said), _share(block))
            lines.add(block["Id"].name(str(len(lines))), output, place=Place(box, slope))
    return lines.result(NAME)


def _children(block: Node) -> list[str]:
    return [
        name.name("")
        for relation in block["Relationships"].items()
        if relation["Type"].text() == "CHILD"
        for name in relation["Ids"].items()
    ]


def _words(block: Node, source: Source) -> list[Word]:
    return boxed_words(block["Text"].text() or "", source, _box(block)[0], _share(block))


def _share(block: Node) -> float | None:
    percent = block["Confidence"].number()
    return None if percent is None else percent / 100


def _box(block: Node) -> tuple[Box | None, float | None]:
    return outline_of(corners_of(block["Geometry"]["Polygon"], WIDTH, HEIGHT))
