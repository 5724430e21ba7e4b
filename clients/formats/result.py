"""What a reader hands over: `ReadResult`, the outputs of one engine by line, and the notes.

A page has lines, a recording has segments: `outputs` maps the id of each to what the engine said there, in
the order of the file. `Lines` collects it and refuses what is too much.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from galloon.clients.formats.notes import Note
from galloon.clients.formats.source import Source
from galloon.learners.observation import ExpertOutput


@dataclass(frozen=True, slots=True)
class ReadResult:
    """All lines of one file, and what of it could not be used."""

    format: str
    outputs: Mapping[str, ExpertOutput]
    notes: tuple[Note, ...] = ()


class Lines:
    """Collects the lines of a file under unique ids; a second line of the same id gets `id~2`."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._outputs: dict[str, ExpertOutput] = {}
        self._copies: dict[str, int] = {}  # of each id so far, so that a file of equal ids costs no search

    def __len__(self) -> int:
        return len(self._outputs)

    def add(self, line_id: str, output: ExpertOutput, line: int | None = None) -> None:
        source = self._source
        source.check("lines", len(self._outputs) + 1, line)
        source.check("nbest", len(output.nbest), line)
        unique = line_id
        while unique in self._outputs:
            self._copies[line_id] = self._copies.get(line_id, 1) + 1
            unique = f"{line_id}~{self._copies[line_id]}"
        if unique != line_id:
            source.note("line id used before: a number was added", line)
        self._outputs[unique] = output

    def result(self, format_name: str) -> ReadResult:
        return ReadResult(format_name, MappingProxyType(self._outputs), self._source.notebook.notes())
