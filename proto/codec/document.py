"""Documents: galloon.v1.Document to and from the pages of engines, combined lines to and from parts of an answer.

`pages_from_wire` and `page_from_wire` read what a client sent, `document_to_wire` writes it. `line_to_wire` writes
a combined line, `part_from_wire` reads some of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from typing import Any

from galloon.codec.answer import Choice, choice_from_wire
from galloon.codec.errors import InvalidMessage, MessageTooLarge, SizeLimits, check_size
from galloon.learners.documents.document import Box, Line, Page
from galloon.learners.documents.matched import MatchedLine
from galloon.learners.documents.word_places import WordPlace
from galloon.learners.observation import Word
from galloon.v1 import combine_pb2
from galloon.v1 import document_pb2 as wire

ID_BYTES = 200  # of a document; its lines add page and number
PAGES = 1000
LINES, WORDS = 4096, 16_384  # of one engine on a page with boxes, which takes their square to match
_COLUMNS = ("confidences", "starts", "ends", "tops", "bottoms")


@dataclass(frozen=True, slots=True)
class LineChoice:
    """One combined line. `choice.id` is that of its round; `places` are of the words of its text."""

    choice: Choice
    places: tuple[WordPlace, ...] = ()
    box: Box | None = None
    start: float | None = None
    end: float | None = None
    region: str = ""
    speaker: str = ""
    channel: str = ""
    engines: tuple[str, ...] = ()  # that have something to say here
    agreement: float = 1.0
    continues: bool = False  # the line before: one long line that was combined in pieces

    @property
    def text(self) -> str:
        return self.choice.text


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Some combined lines of one page; the last part of a page says what could not be matched."""

    page: int
    lines: tuple[LineChoice, ...]
    absent: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentLesson:
    """The lines that have learned their part of a true text, and those that have not, with the reason."""

    taught: tuple[str, ...]
    untaught: Mapping[str, str]


# What a client sends.


def document_to_wire(
    document_id: str, pages: Sequence[Mapping[str, Page]], first_page: int = 1, order_from: str = ""
) -> wire.Document:
    return wire.Document(
        id=document_id,
        pages=[
            wire.DocumentPage(engines=[_page_to_wire(engine, page) for engine, page in said.items()])
            for said in pages
        ],
        first_page=first_page,
        order_from=order_from,
    )


def pages_from_wire(
    message: wire.Document, engines: Sequence[str], limits: SizeLimits | None
) -> list[dict[str, Page]]:
    """What each engine made of each page."""
    check_document_id(message.id, "document.id")
    if not 1 <= len(message.pages) <= PAGES:
        raise InvalidMessage("document.pages", f"{len(message.pages)} pages, allowed are 1 to {PAGES}")
    if message.order_from and message.order_from not in engines:
        raise InvalidMessage(
            "document.order_from", f"{message.order_from[:99]!r} is not an engine of this learner"
        )
    pages = []
    for number, page in enumerate(message.pages):
        where = f"document.pages[{number}].engines"
        check_size(limits, "engines", len(page.engines), where)
        pages.append(page_from_wire(page, engines, where))
    return pages


def page_from_wire(
    message: wire.DocumentPage, engines: Sequence[str], where: str = "engines"
) -> dict[str, Page]:
    """What each engine made of one page."""
    said: dict[str, Page] = {}
    for place, entry in enumerate(message.engines):
        if entry.engine not in engines:
            known = ", ".join(engines) or "none: it has an automaton"
            raise InvalidMessage(
                f"{where}[{place}].engine",
                f"{entry.engine[:99]!r} is not an engine of this learner",
                f"known are {known}",
            )
        if entry.engine in said:
            raise InvalidMessage(f"{where}[{place}].engine", f"{entry.engine!r} comes twice")
        said[entry.engine] = _page_from_wire(entry, f"{where}[{place}]")
    return said


def check_document_id(value: str, field_name: str) -> None:
    if not value:
        raise InvalidMessage(field_name, "missing", "give every document an id of its own")
    if len(value.encode()) > ID_BYTES:
        raise InvalidMessage(field_name, f"{len(value.encode())} bytes, at most {ID_BYTES} are allowed")


def _page_to_wire(engine: str, page: Page) -> wire.EnginePage:
    return wire.EnginePage(
        engine=engine,
        lines=[_line_to_wire(line) for line in page.lines],
        width=page.width,
        height=page.height,
        timed=page.timed,
        name=page.name,
    )


def _page_from_wire(message: wire.EnginePage, where: str) -> Page:
    lines = tuple(
        _line_from_wire(line, f"{where}.lines[{number}]") for number, line in enumerate(message.lines)
    )
    page = Page(
        lines,
        _number(message, "width", where),
        _number(message, "height", where),
        message.timed,
        message.name,
    )
    if page.has_boxes:
        for name, count, allowed in (("lines", len(lines), LINES), ("words", page.word_count, WORDS)):
            if count > allowed:
                advice = "send the page in parts"
                raise MessageTooLarge(f"{where}.lines", f"{name} of a page", count, allowed, advice)
    return page


def _line_to_wire(line: Line) -> wire.DocumentLine:
    words = line.words
    message = wire.DocumentLine(
        id=line.id,
        words=[word.text for word in words],
        confidences=_column(word.confidence for word in words),
        starts=_column(word.start for word in words),
        ends=_column(word.end for word in words),
        tops=_column(word.top for word in words),
        bottoms=_column(word.bottom for word in words),
        slope=line.slope,
        start=line.start,
        end=line.end,
        confidence=line.confidence,
        region=line.region,
        speaker=line.speaker,
        channel=line.channel,
    )
    if line.box is not None:
        message.box.CopyFrom(_rectangle(line.box))
    return message


def _line_from_wire(message: wire.DocumentLine, where: str) -> Line:
    count = len(message.words)
    if not all(map(str.strip, message.words)):
        raise InvalidMessage(f"{where}.words", "an empty word", "leave out what is not there")
    columns = []
    for name in _COLUMNS:
        values = list(getattr(message, name))
        if values and len(values) != count:
            raise InvalidMessage(f"{where}.{name}", f"{len(values)} numbers for {count} words")
        if any(not isfinite(value) and not isnan(value) for value in values):
            raise InvalidMessage(f"{where}.{name}", "infinite", "send a finite number, or NaN for none")
        columns.append([None if isnan(value) else value for value in values] or [None] * count)
    return Line(
        message.id,
        tuple(Word(*row) for row in zip(message.words, *columns, strict=True)),
        _box(message.box, f"{where}.box") if message.HasField("box") else None,
        _number(message, "slope", where),
        _number(message, "start", where),
        _number(message, "end", where),
        _number(message, "confidence", where),
        message.region,
        message.speaker,
        message.channel,
    )


# What a daemon answers.


def line_to_wire(
    answer: combine_pb2.Choice, line: MatchedLine, places: Sequence[WordPlace]
) -> wire.DocumentLineChoice:
    message = wire.DocumentLineChoice(
        choice=answer,
        starts=_column(place.start for place in places),
        ends=_column(place.end for place in places),
        start=line.start,
        end=line.end,
        region=line.region,
        speaker=line.speaker,
        channel=line.channel,
        engines=list(line.said),
        agreement=line.confidence,
        continues=line.continues,
    )
    if places and all(place.box for place in places):
        message.boxes.extend(_rectangle(place.box) for place in places if place.box)
    if line.box is not None:
        message.box.CopyFrom(_rectangle(line.box))
    return message


def part_from_wire(message: wire.CombineDocumentResponse) -> DocumentPart:
    remarks = message.remarks
    return DocumentPart(
        message.page,
        tuple(_choice_from_wire(line) for line in message.lines),
        dict(remarks.absent),
        tuple(remarks.left_out),
        tuple(remarks.notes),
    )


def _choice_from_wire(message: wire.DocumentLineChoice) -> LineChoice:
    boxes = [_box(box, "boxes") for box in message.boxes]
    times = zip(message.starts, message.ends, strict=False)
    places = [WordPlace(box) for box in boxes] or [
        WordPlace(None, None if isnan(start) else start, None if isnan(end) else end) for start, end in times
    ]
    return LineChoice(
        choice_from_wire(message.choice),
        tuple(places),
        _box(message.box, "box") if message.HasField("box") else None,
        _number(message, "start", ""),
        _number(message, "end", ""),
        message.region,
        message.speaker,
        message.channel,
        tuple(message.engines),
        message.agreement,
        message.continues,
    )


# Numbers and rectangles.


def _rectangle(box: Box) -> wire.Rectangle:
    return wire.Rectangle(left=box.left, top=box.top, right=box.right, bottom=box.bottom)


def _box(message: wire.Rectangle, where: str) -> Box:
    sides = (message.left, message.top, message.right, message.bottom)
    if not all(map(isfinite, sides)):
        raise InvalidMessage(where, "a side that is not a finite number", "leave the box out instead")
    return Box(*sides)


def _number(message: Any, name: str, where: str) -> float | None:
    if not message.HasField(name):
        return None
    value = float(getattr(message, name))
    if not isfinite(value):
        raise InvalidMessage(f"{where}.{name}", f"{value} is not a finite number", "leave it out instead")
    return value


def _column(values: Iterable[float | None]) -> list[float]:
    """An optional number of each word as an array with NaN for none; empty when there is none at all."""
    column = [nan if value is None else value for value in values]
    return [] if all(map(isnan, column)) else column
