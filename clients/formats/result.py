"""What a reader hands over: `ReadResult`, the outputs of one engine by line, and the notes.

A page has lines, a recording has segments: `outputs` maps the id of each to what the engine said there, in
the order of the file, and `pages` holds the same lines with their places. `Lines` collects both and refuses what
is too much.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from galloon.clients.formats.notes import Note
from galloon.clients.formats.source import Source
from galloon.learners.documents.document import Box, Line, Page
from galloon.learners.observation import ExpertOutput


@dataclass(frozen=True, slots=True)
class ReadResult:
    """All lines of one file, and what of it could not be used."""

    format: str
    outputs: Mapping[str, ExpertOutput]
    notes: tuple[Note, ...] = ()
    pages: tuple[Page, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands, or when a segment was spoken and by whom: whatever of it the file says."""

    box: Box | None = None
    slope: float | None = None
    start: float | None = None
    end: float | None = None
    region: str = ""
    speaker: str = ""
    channel: str = ""


NOWHERE = Place()


@dataclass(slots=True)
class _Page:
    """A page while its lines come in."""

    name: str = ""
    width: float | None = None
    height: float | None = None
    relative: bool = False
    lines: list[Line] = field(default_factory=list)


class Lines:
    """Collects the lines of a file under unique ids; a second line of the same id gets `id~2`."""

    def __init__(self, source: Source, *, timed: bool = False) -> None:
        """`timed`: words and lines have times, not places on a page."""
        self._source, self._timed = source, timed
        self._pages = [_Page()]
        self._announced = False
        self._outputs: dict[str, ExpertOutput] = {}
        self._copies: dict[str, int] = {}  # of each id so far, so that a file of equal ids costs no search

    def __len__(self) -> int:
        return len(self._outputs)

    def new_page(
        self,
        name: str = "",
        width: float | None = None,
        height: float | None = None,
        *,
        relative: bool = False,
    ) -> None:
        """Lines that follow stand on a page of their own. The first page need not be announced.

        `relative`: the engine tells shares of the page alone; width and height are what they were multiplied by.
        """
        page = _Page(name, width, height, relative)
        if not self._announced and not self._pages[0].lines:
            self._pages = [page]
        else:
            self._source.check("lines", len(self._pages) + 1)
            self._pages.append(page)
        self._announced = True

    def add(
        self, line_id: str, output: ExpertOutput, line: int | None = None, place: Place = NOWHERE
    ) -> None:
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
        self._pages[-1].lines.append(
            Line(
                unique,
                output.words,
                place.box,
                place.slope,
                place.start,
                place.end,
                output.confidence,
                place.region,
                place.speaker,
                place.channel,
            )
        )

    def result(self, format_name: str) -> ReadResult:
        pages = tuple(
            Page(tuple(page.lines), page.width, page.height, self._timed, page.name, page.relative)
            for page in self._pages
        )
        return ReadResult(format_name, MappingProxyType(self._outputs), self._source.notebook.notes(), pages)
