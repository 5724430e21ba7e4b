"""Regular expressions over tokens with a bounded language, compiled by OpenFst into the list of patterns.

`bounded_language("the (big|small){1,2} cat")` lists every token sequence of the language. Syntax: tokens
separated by spaces; `|` either; `( )` groups; `?` perhaps; `{n}` and `{m,n}` that many times. A token in
double quotes may hold anything (`""` is the null token), and a backslash takes the next character as it is.
`*`, `+` and `{m,}` are refused: their language has no end, and patterns must be of bounded length. All sizes
are computed from the expression, and checked, before OpenFst is asked for anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pynini
import pywrapfst

from galloon.learners.errors import BudgetExceeded, InvalidInput

Sequences = tuple[tuple[str, ...], ...]
NESTING = 50
SPECIAL = "|()?{}*+"


@dataclass(frozen=True, slots=True)
class LanguageLimits:
    """How large an expression's language may be."""

    characters: int = 10_000
    patterns: int = 10_000  # counted with repetitions: (a|a) has two
    length: int = 64  # tokens of the longest pattern
    states: int = 100_000  # of the automaton before it is made smaller


@dataclass(frozen=True, slots=True)
class _Token:
    text: str


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple["_Node", ...]


@dataclass(frozen=True, slots=True)
class _Either:
    parts: tuple["_Node", ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: "_Node"
    least: int
    most: int


_Node = _Token | _Sequence | _Either | _Repeat


@dataclass(frozen=True, slots=True)
class _Size:
    """Upper bounds on the sizes of an expression's language, by arithmetic."""

    patterns: int
    length: int
    states: int


def bounded_language(expression: str, limits: LanguageLimits | None = None) -> Sequences:
    """Every token sequence that the expression describes, by length and then by tokens."""
    limits = limits or LanguageLimits()
    _check_limit("characters of the expression", len(expression), limits.characters)
    tree = _Reader(expression).read()
    size = _size(tree)
    _check_limit("patterns of the expression", size.patterns, limits.patterns)
    _check_limit("tokens of the expression's longest pattern", size.length, limits.length)
    _check_limit("states of the expression's automaton", size.states, limits.states)
    numbers: dict[str, int] = {}
    machine = _machine(tree, numbers).optimize()
    if machine.properties(pywrapfst.ACYCLIC, True) != pywrapfst.ACYCLIC:
        raise InvalidInput(f"{expression!r} has an unbounded language", field="expression")
    words = {number: text for text, number in numbers.items()}
    found = {tuple(words[label] for label in labels) for labels in _paths(machine)}
    if () in found:
        raise InvalidInput(
            f"{expression!r} also describes the empty sequence, which is no pattern",
            field="expression",
            advice="make at least one of its parts obligatory",
        )
    return tuple(sorted(found, key=lambda pattern: (len(pattern), pattern)))


def _check_limit(name: str, needed: int, allowed: int) -> None:
    if needed > allowed:
        raise BudgetExceeded(
            name, min(needed, 10**300), allowed, "use a smaller expression or raise the limit"
        )


def _size(node: _Node) -> _Size:
    match node:
        case _Token():
            return _Size(1, 1, 2)
        case _Sequence(parts):
            patterns, length, states = 1, 0, 1
            for size in map(_size, parts):
                patterns, length, states = (
                    patterns * size.patterns,
                    length + size.length,
                    states + size.states,
                )
            return _Size(patterns, length, states)
        case _Either(parts):
            sizes = [_size(part) for part in parts]
            return _Size(
                sum(s.patterns for s in sizes), max(s.length for s in sizes), 1 + sum(s.states for s in sizes)
            )
        case _Repeat(part, least, most):
            size = _size(part)
            counts = [1]
            for _ in range(most):
                # Beyond any limit exactness does not matter, and the numbers must not grow for ever.
                counts.append(min(counts[-1] * size.patterns, 10**30))
            return _Size(sum(counts[least:]), most * size.length, 1 + most * (size.states + 1))


def _machine(node: _Node, numbers: dict[str, int]) -> pynini.Fst:
    match node:
        case _Token(text):
            machine = pynini.Fst()
            first, last = machine.add_state(), machine.add_state()
            machine.set_start(first)
            machine.set_final(last)
            label = numbers.setdefault(text, len(numbers) + 1)
            machine.add_arc(first, pywrapfst.Arc(label, label, 0, last))
            return machine
        case _Sequence(parts):
            machine = pynini.accep("")
            for part in parts:
                machine.concat(_machine(part, numbers))
            return machine
        case _Either(parts):
            machine = _machine(parts[0], numbers)
            return machine.union(*(_machine(part, numbers) for part in parts[1:]))
        case _Repeat(part, least, most):
            if most == 0:
                return pynini.accep("")
            return _machine(part, numbers).closure(least, most)


def _paths(machine: pynini.Fst) -> Iterator[tuple[int, ...]]:
    """The label sequences of all accepting paths of an acyclic machine without epsilons."""
    stack: list[tuple[int, tuple[int, ...]]] = [(machine.start(), ())]
    zero = pywrapfst.Weight.zero(machine.weight_type())
    while stack:
        state, labels = stack.pop()
        if machine.final(state) != zero:
            yield labels
        stack.extend((arc.nextstate, (*labels, arc.ilabel)) for arc in machine.arcs(state))


class _Reader:
    """A recursive-descent reader; errors name the column, counted from 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def read(self) -> _Node:
        node = self._either()
        if self.at < len(self.text):
            raise self._error(f"{self.text[self.at]!r} closes nothing")
        return node

    def _either(self) -> _Node:
        parts = [self._sequence()]
        while self._next() == "|":
            self.at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else _Either(tuple(parts))

    def _sequence(self) -> _Node:
        parts: list[_Node] = []
        while self._next() not in ("", "|", ")"):
            parts.append(self._repeated())
        if not parts:
            raise self._error("a token or a group is missing here")
        return parts[0] if len(parts) == 1 else _Sequence(tuple(parts))

    def _repeated(self) -> _Node:
        node = self._one()
        while (sign := self._next()) in ("?", "{", "*", "+"):
            if sign in ("*", "+"):
                raise self._error(f"{sign!r} has no end, and patterns must be bounded: write {{m,n}} instead")
            node = _Repeat(node, 0, 1) if sign == "?" else _Repeat(node, *self._bounds())
            if sign == "?":
                self.at += 1
        return node

    def _one(self) -> _Node:
        sign = self._next()
        if sign == "(":
            self.at += 1
            self.depth += 1
            if self.depth > NESTING:
                raise self._error(f"groups are nested more than {NESTING} deep")
            node = self._either()
            if self._next() != ")":
                raise self._error("a closing ) is missing")
            self.at += 1
            self.depth -= 1
            return node
        if sign in SPECIAL:
            raise self._error(
                f"{sign!r} stands where a token was expected (put a backslash before it to mean itself)"
            )
        return _Token(self._quoted() if sign == '"' else self._bare())

    def _bounds(self) -> tuple[int, int]:
        start = self.at
        end = self.text.find("}", start)
        inside = self.text[start + 1 : end] if end > 0 else ""
        low, comma, high = inside.partition(",")
        if comma and not high.strip():
            raise self._error(f"{{{inside}}} has no end, and patterns must be bounded: write {{m,n}}")
        low, high = low.strip(), (high if comma else low).strip()
        if (
            not (low.isascii() and low.isdigit() and high.isascii() and high.isdigit())
            or max(len(low), len(high)) > 4
        ):
            raise self._error("a repeat is written {n} or {m,n} with numbers up to 9999")
        if int(low) > int(high):
            raise self._error(f"the repeat {{{inside}}} has its larger number first")
        self.at = end + 1
        return int(low), int(high)

    def _quoted(self) -> str:
        self.at += 1
        characters: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != '"':
            characters.append(self._character())
        if self.at == len(self.text):
            raise self._error('a closing " is missing')
        self.at += 1
        return "".join(characters)

    def _bare(self) -> str:
        characters: list[str] = []
        while (
            self.at < len(self.text)
            and not self.text[self.at].isspace()
            and self.text[self.at] not in SPECIAL
        ):
            characters.append(self._character())
        return "".join(characters)

    def _character(self) -> str:
        if self.text[self.at] == "\\":
            self.at += 1
            if self.at == len(self.text):
                raise self._error("the backslash at the end takes nothing")
        self.at += 1
        return self.text[self.at - 1]

    def _next(self) -> str:
        """The next character that is no space, or the empty string at the end."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _error(self, what: str) -> InvalidInput:
        return InvalidInput(f"{self.text!r}, column {self.at + 1}: {what}", field="expression")
