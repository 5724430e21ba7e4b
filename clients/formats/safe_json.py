"""JSON from elsewhere, read with limits on depth and values and without surprises.

`load_json` gives a `Node`: a value that knows its path in the document, so that whatever is missing or of the
wrong kind becomes a `FormatError` such as "results[0].alternatives: a list is needed, a string is there".
Python's parser alone accepts NaN, lets half surrogate pairs through, and recurses as deep as it is told to.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from galloon.clients.api.errors import FormatError, LimitExceeded
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import finite

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)  # to the end of the text if it is not closed
_NOT_BRACKETS = {code: None for code in range(128) if chr(code) not in "[]{}"}
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89abAB]|\\u[dD][c-fC-F]")
_SPACE = re.compile(r"[ \t\r\n]*")
_KINDS = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}


def load_json(source: Source) -> "Node":
    """The document of a source."""
    source.check("json_bytes", len(source.data))
    return Node(parse(source.text(), source, None), "", source)


def load_json_sequence(source: Source) -> Iterator["Node"]:
    """The documents of a source that holds one, a list of them, or several one after another."""
    source.check("json_bytes", len(source.data))
    text = source.text()
    check_shape(text, source, None)
    place, at = 0, _after_space(text, 0)
    while at < len(text):
        value, end = _decode(text, at, source, None)
        for element in value if isinstance(value, list) else [value]:
            yield Node(element, f"[{place}]", source)
            place += 1
        at = _after_space(text, end)


def parse(text: str, source: Source, line: int | None) -> Any:
    """Parse one JSON text within the depth limit; `line` is where it starts, for formats of JSON lines."""
    check_shape(text, source, line)
    value, end = _decode(text, _after_space(text, 0), source, line)
    if (rest := _after_space(text, end)) < len(text):
        at = line if line is not None else text.count("\n", 0, rest) + 1
        raise source.error(at, "something follows the JSON value")
    return value


def check_shape(text: str, source: Source, line: int | None) -> None:
    """Refuse what is nested deeper than the limit, before the parser recurses into it, and too many values."""
    most = source.limits.json_depth
    opened = text.count("{") + text.count("[")
    if opened <= most and opened + text.count(",") < source.limits.json_values:
        return
    depth = 0
    outside = _STRING.sub("", text)
    source.check("json_values", outside.count("{") + outside.count("[") + outside.count(",") + 1, line)
    brackets = outside.translate(_NOT_BRACKETS)
    for character in brackets:
        if character in "{[":
            depth += 1
            if depth > most:
                raise LimitExceeded(source.name, line, "json_depth", most, "nested too deep")
        elif character in "]}":
            depth -= 1


class Node:
    """A JSON value and its path. A missing member is a node of null: optional things read in one line."""

    __slots__ = ("path", "source", "value")

    def __init__(self, value: Any, path: str, source: Source) -> None:
        self.value, self.path, self.source = value, path, source

    def __getitem__(self, key: str) -> "Node":
        if self.value is not None and not isinstance(self.value, dict):
            raise self.wrong("an object")
        member = self.value.get(key) if self.value is not None else None
        return Node(member, f"{self.path}.{key}" if self.path else key, self.source)

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def __bool__(self) -> bool:
        return self.value is not None

    def first(self, *keys: str) -> "Node":
        """The first of these members that is there: versions of an engine spell the same thing anew."""
        for key in keys:
            if (member := self[key]).value is not None:
                return member
        return self[keys[0]]

    def items(self) -> Iterator["Node"]:
        """The elements of a list; of null, none."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        for index, element in enumerate(self.value):
            yield Node(element, f"{self.path}[{index}]", self.source)

    def text(self) -> str | None:
        if self.value is not None and not isinstance(self.value, str):
            raise self.wrong("a string")
        return self.value

    def name(self, default: str) -> str:
        """An id: a string or a whole number."""
        if self.value is None:
            return default
        if isinstance(self.value, bool) or not isinstance(self.value, str | int):
            raise self.wrong("a string or a whole number")
        return str(self.value) or default

    def number(self) -> float | None:
        """A finite number; also a string that spells one, as several services write them."""
        value = self.value
        if value is None or isinstance(value, str):
            parsed = finite(value) if value is not None else None
            if parsed is None and value is not None:
                raise self.wrong("a number")
            return parsed
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong("a number")
        try:
            parsed = float(value)
        except OverflowError as problem:
            raise self.wrong("a number of ordinary size") from problem
        if not math.isfinite(parsed):
            raise self.wrong("a finite number")
        return parsed

    def wrong(self, needed: str) -> FormatError:
        there = _KINDS.get(type(self.value), "a number")
        return self.source.error(None, f"{self.path or 'the document'}: {needed} is needed, {there} is there")


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _decode(text: str, at: int, source: Source, line: int | None) -> tuple[Any, int]:
    """The value that starts at a place, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError as problem:  # the limit was raised above what the interpreter can do
        raise LimitExceeded(source.name, line, "json_depth", source.limits.json_depth, "nested") from problem
    except ValueError as problem:
        where = line if line is not None else getattr(problem, "lineno", None)
        column = getattr(problem, "colno", None)
        reason = getattr(problem, "msg", str(problem))
        what = f"not JSON{f' at column {column}' if column else ''}: {reason}"
        raise FormatError(source.name, where, what) from problem
    if _SURROGATE_ESCAPE.search(text, at, end):
        value = _whole_characters(value, source, line)
    return value, end


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _whole_characters(value: Any, source: Source, line: int | None) -> Any:
    """Replace halves of surrogate pairs, which no file could be written with."""
    if isinstance(value, str):
        whole = value.encode("utf-8", "replace").decode()
        if whole != value:
            source.note("half of a surrogate pair replaced", line)
        return whole
    if isinstance(value, list):
        return [_whole_characters(element, source, line) for element in value]
    if isinstance(value, dict):
        return {
            _whole_characters(key, source, line): _whole_characters(element, source, line)
            for key, element in value.items()
        }
    return value
