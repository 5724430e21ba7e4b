"""The rounds of a history, some at a time: `page` for those that are wanted, from the first or from the last on.

A page is looked for no longer than `SECONDS`, so that a filter that finds little does not hold a thread; the place
where it stopped is where the next one goes on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import monotonic

from galloon.daemon.learner.history import History
from galloon.daemon.learner.round import Round, Status
from galloon.daemon.store.protocol import StoredEntry

SECONDS = 0.5
PAGE_BYTES = 1 << 20  # of utterances and answers in one page
BACKWARDS = 32  # entries that are read at once where the last come first; each may have some megabytes
FOREVER = float("inf")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rounds: in one of these states, begun from `since` on and before `until`."""

    states: frozenset[Status] = frozenset(Status)
    since: float = 0.0
    until: float = FOREVER

    def __contains__(self, round_: Round) -> bool:
        return round_.status in self.states and self.since <= round_.time < self.until


@dataclass(frozen=True, slots=True)
class RoundPage:
    """Rounds, and the place of the last entry that was looked at; None at the end. Of ids, those not known."""

    rounds: tuple[Round, ...]
    place: int | None
    unknown: tuple[str, ...] = ()


def page(
    history: History, wanted: Wanted, place: int | None, most: int, last: int, newest_first: bool = False
) -> RoundPage:
    """The next rounds after an entry, or before it where the newest come first; None begins at the start.

    `last` is the last entry of the history.
    """
    base = history.cut()
    if newest_first:
        end = last + 1  # a place comes from a client, who may have made it up
        entries = _backwards(history, end if place is None else min(place, end), base)
    else:
        entries = history.entries(place or 0)
    found: list[Round] = []
    size, until = 0, monotonic() + SECONDS
    for entry in entries:
        round_ = history.listed_at(entry, base)
        if round_ is not None and round_ in wanted:
            found.append(round_)
            size += _size(round_)
        if len(found) == most or size > PAGE_BYTES or monotonic() > until:
            return RoundPage(tuple(found), entry.seq)
    return RoundPage(tuple(found), None)


def by_ids(history: History, ids: Sequence[str], wanted: Wanted, first: int = 0) -> RoundPage:
    """Those of these ids, from the first on, that are wanted; the place is the next one to ask for."""
    found: list[Round] = []
    unknown: list[str] = []
    size, end = 0, monotonic() + SECONDS
    for number, utterance_id in enumerate(ids[first:], first + 1):
        round_ = history.find(utterance_id)
        if round_ is None:
            unknown.append(utterance_id)
        elif round_ in wanted:
            found.append(round_)
            size += _size(round_)
        if number < len(ids) and (size > PAGE_BYTES or monotonic() > end):
            return RoundPage(tuple(found), number, tuple(unknown))
    return RoundPage(tuple(found), None, tuple(unknown))


def _size(round_: Round) -> int:
    return len(round_.utterance) + len(round_.answer) + len(round_.truth)


def _backwards(history: History, end: int, base: int) -> Iterator[StoredEntry]:
    """Entries before a place, the last first."""
    while end - 1 > base:
        after = max(base, end - 1 - BACKWARDS)
        yield from reversed(list(islice(history.entries(after), end - 1 - after)))
        end = after + 1
