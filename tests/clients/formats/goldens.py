"""The golden files: inputs of each format in tests/data/formats, each with what its reader must make of it.

`python -m tests.clients.formats.goldens` writes the expectations anew; read the difference before keeping it.
"""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from galloon.clients.formats.registry import Format, format_named
from galloon.clients.formats.result import ReadResult
from galloon.clients.formats.source import GZIP_MAGIC, open_source
from galloon.learners.documents.document import Line, Page
from galloon.learners.observation import ArcScores, ExpertOutput, Lattice, Reading, Word

FOLDER = Path(__file__).parents[2] / "data" / "formats"
_NOT_INPUTS = {"words.txt", "lattices"}
_ARCS_SPELLED_OUT = 20


@dataclass(frozen=True, slots=True)
class Golden:
    """One input and where its expectation lies."""

    format: Format
    path: Path

    @property
    def expected_path(self) -> Path:
        return self.path.with_name(self.path.name + ".expected")

    @property
    def name(self) -> str:
        return f"{self.format.name}/{self.path.name}"

    def plain_bytes(self) -> bytes:
        data = self.path.read_bytes()
        return gzip.decompress(data) if data[:2] == GZIP_MAGIC else data


def goldens() -> list[Golden]:
    found = []
    for folder in sorted(FOLDER.iterdir()):
        inputs = (
            path for path in folder.iterdir() if path.name not in _NOT_INPUTS and path.suffix != ".expected"
        )
        found += [Golden(format_named(folder.name), path) for path in sorted(inputs)]
    return found


def describe(result: ReadResult) -> dict[str, Any]:
    """A result as JSON, numbers rounded to what every machine agrees on."""
    return {
        "format": result.format,
        "lines": {key: _output(output) for key, output in result.outputs.items()},
        "pages": [_page(page) for page in result.pages],
        "notes": [str(note) for note in result.notes],
    }


def _page(page: Page) -> dict[str, Any]:
    """Where lines stand, when they were said and by whom; what is not known is left out."""
    told = {
        "name": page.name,
        "size": page.width and [_rounded(page.width), _rounded(page.height)],
        "relative": page.relative,
    }
    return {key: value for key, value in told.items() if value} | {
        "lines": {line.id: _place(line) for line in page.lines}
    }


def _place(line: Line) -> dict[str, Any]:
    box = line.box
    told = {
        "box": box and [_rounded(edge) for edge in (box.left, box.top, box.right, box.bottom)],
        "slope": _rounded(line.slope),
        "times": None if line.start is None else [_rounded(line.start), _rounded(line.end)],
        "region": line.region,
        "speaker": line.speaker,
        "channel": line.channel,
    }
    return {key: value for key, value in told.items() if value is not None and value != ""}


def _output(output: ExpertOutput) -> dict[str, Any]:
    said: dict[str, Any] = {"name": output.name, "words": [_word(word) for word in output.words]}
    if output.confidence is not None:
        said["confidence"] = round(output.confidence, 9)
    if output.nbest:
        said["nbest"] = [
            [_rounded(entry.score), [_word(word) for word in entry.words]] for entry in output.nbest
        ]
    if output.alternatives:
        said["alternatives"] = [[_reading(reading) for reading in word] for word in output.alternatives]
    if output.characters:
        said["characters"] = [
            [[_reading(reading) for reading in slot] for slot in word] for word in output.characters
        ]
    if output.lattice is not None:
        said["lattice"] = _lattice(output.lattice)
    return said


def _word(word: Word) -> list[Any]:
    return [word.text, _rounded(word.confidence), _rounded(word.start), _rounded(word.end)]


def _reading(reading: Reading) -> list[Any]:
    return [reading.text, _rounded(reading.probability)]


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), 9)


def _lattice(lattice: Lattice) -> dict[str, Any]:
    rows = zip(lattice.sources, lattice.targets, lattice.words, lattice.log_scores, strict=True)
    arcs = [[int(begin), int(end), word, round(float(score), 6)] for begin, end, word, score in rows]
    return {
        "states": lattice.state_count,
        "initial": lattice.initial,
        "finals": list(lattice.finals),
        "arc_count": len(arcs),
        "first_arcs": arcs[:_ARCS_SPELLED_OUT],
        "score_sum": round(float(lattice.log_scores.sum()), 4),
        "part_sums": lattice.parts and _parts(lattice.parts),
        "last_time": None if lattice.times is None else round(float(lattice.times[-1]), 6),
    }


def _parts(parts: ArcScores) -> dict[str, Any]:
    """Sums of the scores that were kept apart, and the file's scales."""
    columns = {"acoustic": parts.acoustic, "language": parts.language, "posterior": parts.posterior}
    told = {
        name: None if column is None else round(float(column.sum()), 4) for name, column in columns.items()
    }
    return told | {"scales": [parts.acoustic_scale, parts.language_scale, parts.word_penalty]}


def main() -> None:
    for golden in goldens():
        described = describe(golden.format.read(open_source(golden.path)))
        golden.expected_path.write_text(json.dumps(described, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
