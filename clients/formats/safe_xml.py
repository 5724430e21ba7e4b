"""XML from elsewhere, read as a stream of elements by expat, with everything dangerous switched off.

`walk_xml` calls a handler at the start and the end of each element. Python's own tree parsers expand entities
(a kilobyte can become a gigabyte), so expat is driven directly: a DOCTYPE that declares anything is refused,
as is every entity declaration; nothing outside the file is ever opened; depth, elements and attributes are
limited. A bare DOCTYPE that only names the document type stays allowed, for hOCR and XHTML always carry one.
"""

from html.entities import html5
from typing import Protocol
from xml.parsers import expat

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.source import Source


class ElementHandler(Protocol):
    """What a format does with elements. Names come without their namespace prefix."""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None: ...
    def end(self, name: str, text: str, line: int) -> None:
        """`text` is all character data inside the element, that of its children included."""
        ...


def walk_xml(source: Source, handler: ElementHandler) -> None:
    """Parse the whole source, calling the handler."""
    _Walk(source, handler).run()


class _Walk:
    def __init__(self, source: Source, handler: ElementHandler) -> None:
        self._source, self._handler = source, handler
        self._depth = self._elements = 0
        # The text so far, and for each open element how much of it came before: children's text is in the
        # same list, so that nothing is copied on the way up.
        self._pieces: list[str] = []
        self._opened_at: list[int] = []
        self._line = 0
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._pieces.append
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._external
        parser.SkippedEntityHandler = self._skipped
        self._parser = parser

    def run(self) -> None:
        try:
            self._parser.Parse(self._source.data, True)
        except expat.ExpatError as problem:
            reason = expat.ErrorString(problem.code) or "unknown error"
            raise self._source.error(problem.lineno, f"not well-formed XML: {reason}") from problem
        except (LookupError, ValueError) as problem:  # an encoding that Python does not know, or cannot map
            raise self._source.error(
                1, f"the XML's encoding is not known: {problem}", "use UTF-8"
            ) from problem

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self._parser.CurrentLineNumber
        self._depth += 1
        self._elements += 1
        self._source.check("xml_elements", self._elements, line)
        self._source.check("xml_depth", self._depth, line)
        self._source.check("attributes", len(attributes), line)
        self._opened_at.append(len(self._pieces))
        plain = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        self._handler.start(name.rpartition(":")[2], plain, line)

    def _end(self, name: str) -> None:
        self._depth -= 1
        first = self._opened_at.pop()
        text = "".join(self._pieces[first:])
        if len(self._pieces) > first + 1:
            self._pieces[first:] = [text]  # joined once: the elements around it join fewer pieces
        if self._depth <= 2:
            # Around the body of a document nobody asks for text; keeping it would copy the file again.
            del self._pieces[:]
            self._opened_at = [0] * len(self._opened_at)
        self._handler.end(name.rpartition(":")[2], text, self._parser.CurrentLineNumber)

    def _doctype(self, name: str, system: str | None, public: str | None, has_internal_subset: int) -> None:
        del name, system, public
        if has_internal_subset:
            raise self._refusal("its DOCTYPE declares things of its own")

    def _entity(self, *declaration: object) -> None:
        del declaration
        raise self._refusal("it declares an entity")

    def _external(self, *reference: object) -> int:
        del reference
        raise self._refusal("it refers to another file")

    def _skipped(self, name: str, is_parameter: int) -> None:
        # With a DOCTYPE that is not fetched, HTML's named characters arrive here.
        if is_parameter:
            return
        character = html5.get(f"{name};")
        if character is None:
            raise self._source.error(self._parser.CurrentLineNumber, f"unknown entity &{name[:40]};")
        self._pieces.append(character)

    def _refusal(self, why: str) -> FormatError:
        advice = "remove the declarations; they are refused because they can make a small file huge"
        return self._source.error(self._parser.CurrentLineNumber, f"XML refused: {why}", advice)
