"""What a reader could not use, and where: `Note`, collected in a `NoteBook` while a file is read.

The same remark at many places is kept once, with its count and the first place, so that a damaged file of a
million lines makes a report that a person can read.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Note:
    """One remark, how often it was made, and the first line (counted from one) where there are lines."""

    what: str
    count: int = 1
    first_line: int | None = None

    def __str__(self) -> str:
        times = f"{self.count} x " if self.count > 1 else ""
        place = f" (first in line {self.first_line})" if self.first_line is not None else ""
        return f"{times}{self.what}{place}"


class NoteBook:
    """Collects remarks. `most` bounds the number of different ones; those beyond it are counted together."""

    OVERFLOW = "further kinds of remark, not kept"

    def __init__(self, most: int = 100) -> None:
        self._most = most
        self._counts: dict[str, int] = {}
        self._places: dict[str, int | None] = {}

    def add(self, what: str, line: int | None = None) -> None:
        if what not in self._counts and len(self._counts) >= self._most:
            what = self.OVERFLOW
        self._counts[what] = self._counts.get(what, 0) + 1
        self._places.setdefault(what, line)

    def notes(self) -> tuple[Note, ...]:
        return tuple(Note(what, count, self._places[what]) for what, count in self._counts.items())
