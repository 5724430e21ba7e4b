"""Matched lines as JSON, equal to the bit, between the daemon and its processes: to and from."""

from typing import Any

from galloon.learners.documents.document import Box
from galloon.learners.documents.matched import MatchedLine
from galloon.learners.observation import Word

PLAIN = ("id", "start", "end", "region", "speaker", "channel", "confidence", "continues")


def line_to_json(line: MatchedLine) -> dict[str, Any]:
    return {
        **{name: getattr(line, name) for name in PLAIN},
        "said": {engine: [_word(word) for word in words] for engine, words in line.said.items()},
        "places": {engine: [_sides(box) for box in boxes] for engine, boxes in line.places.items()},
        "box": line.box and _sides(line.box),
        "line_confidences": dict(line.line_confidences),
    }


def line_from_json(found: dict[str, Any]) -> MatchedLine:
    said, places, box = found.pop("said"), found.pop("places"), found.pop("box")
    return MatchedLine(
        said={engine: tuple(Word(*word) for word in words) for engine, words in said.items()},
        places={engine: tuple(Box(*sides) for sides in boxes) for engine, boxes in places.items()},
        box=box and Box(*box),
        **found,
    )


def _word(word: Word) -> list[Any]:
    return [word.text, word.confidence, word.start, word.end, word.top, word.bottom]


def _sides(box: Box) -> list[float]:
    return [box.left, box.top, box.right, box.bottom]
