"""The rounds of one learner as they lie in the store: `find` one by its id, whenever it was.

Only what is durable is found; the learner keeps in memory what is not yet.
"""

from collections.abc import Iterator

from galloon.daemon.learner.events import (
    Amended,
    Applied,
    Chose,
    Erased,
    Exchanged,
    Expired,
    Kept,
    Revised,
    Taught,
    Updated,
    from_entry,
    key_of,
)
from galloon.daemon.learner.round import Round, Status
from galloon.daemon.store.compression import PACKED
from galloon.daemon.store.protocol import NO_KEY, Backend, StoredEntry

DAY_S = 86_400.0
ENTRIES_A_ROUND = 3  # an answer, feedback, and that it was learned


class History:
    """Of one learner; any thread may read."""

    def __init__(self, backend: Backend, learner: int) -> None:
        self._backend, self.learner = backend, learner

    def find(self, utterance_id: str, before: int | None = None) -> Round | None:
        """The round of this utterance, as it stood before an entry; None where there is none, or no longer."""
        round_: Round | None = None
        for entry in self._backend.find(self.learner, key_of(utterance_id)):
            if before is not None and entry.seq >= before:
                break
            round_ = _followed(round_, entry, utterance_id)
        return round_

    def latest(self, most: int, seq: int) -> list[Round]:
        """The last rounds that began or were taught before this place, as the last few entries tell; the newest
        first.
        """
        after = max(self._backend.base(self.learner), seq - ENTRIES_A_ROUND * most)
        begun = (from_entry(entry) for entry in self.entries(after))
        ids = dict.fromkeys(event.id for event in begun if isinstance(event, Chose | Kept | Taught))
        found = (self.find(utterance_id) for utterance_id in reversed(ids))
        return [round_ for round_ in found if round_ is not None][:most]

    def listed_at(self, entry: StoredEntry, base: int) -> Round | None:
        """The round, as it stands now, whose place in a list is this entry: where it began.

        Where retention has cut after its beginning, its place is its first entry after that.
        """
        begins = entry.kind & ~PACKED in (Chose.kind, Kept.kind)
        if entry.key == NO_KEY or not (begins or base):
            return None
        if not begins:
            first, *others = self._backend.find(self.learner, entry.key)
            if first.seq > base or next(each.seq for each in others if each.seq > base) != entry.seq:
                return None
        event = from_entry(entry)
        if event is None or isinstance(event, Exchanged | Updated | Erased | Expired):
            return None
        return self.find(event.id)

    def has(self, utterance_id: str) -> bool:
        """Whether there is an entry of this round."""
        events = map(from_entry, self._backend.find(self.learner, key_of(utterance_id)))
        return any(getattr(event, "id", None) == utterance_id for event in events)

    def began_before(self, utterance_id: str, seq: int) -> bool:
        """Whether this round has an entry up to this place."""
        return any(entry.seq <= seq for entry in self._backend.find(self.learner, key_of(utterance_id)))

    def first_round(self, after: int) -> int | None:
        """The number of the first round that began after this place, if one did."""
        for entry in self.entries(after):
            if entry.kind & ~PACKED == Chose.kind:
                event = from_entry(entry)
                assert isinstance(event, Chose), "its kind says so"
                return event.round_number
        return None

    def cut(self) -> int:
        """The last entry that retention has cut off; 0 where it has cut none."""
        return self._backend.base(self.learner)

    def entries(self, after: int) -> Iterator[StoredEntry]:
        return self._backend.journal(self.learner, after)

    def played(self, after: int) -> Iterator[StoredEntry]:
        """The same for whoever plays them again: before feedback on a round from before the base, that round."""
        base = self._backend.base(self.learner)
        for entry in self.entries(after):
            if base and entry.kind & ~PACKED == Taught.kind:
                yield from (old for old in self._backend.find(self.learner, entry.key) if old.seq <= base)
            yield entry

    def base(self) -> tuple[int, bytes]:
        """Where the history begins, and the state there: as retention cut it, or as it was imported; else none."""
        base = self._backend.base(self.learner)
        known = any(each.seq == base for each in self._backend.snapshots(self.learner))
        return base, self._backend.snapshot(self.learner, base) if known else b""

    def taught_after(self, moment: float) -> list[str]:
        """Ids whose feedback came later than this, in seconds of Unix; each once."""
        events = (from_entry(entry) for entry in self.entries(0) if entry.kind & ~PACKED == Taught.kind)
        return list(
            dict.fromkeys(each.id for each in events if isinstance(each, Taught) and each.time > moment)
        )

    def superseded(self) -> tuple[int, ...]:
        """Snapshots that a new one replaces: all but one a day, which retention may cut at."""
        kept, gone = float("-inf"), []
        for known in self._backend.snapshots(self.learner):
            if known.time - kept >= DAY_S:
                kept = known.time
            else:
                gone.append(known.seq)
        return tuple(gone)

    def keys(self) -> Iterator[list[int]]:
        """The keys of all rounds, some at a time."""
        return self._backend.keys(self.learner)


def _followed(round_: Round | None, entry: StoredEntry, utterance_id: str) -> Round | None:
    """The round after one more of the entries with its key."""
    event = from_entry(entry)
    if event is None or getattr(event, "id", utterance_id) != utterance_id:
        return round_  # another id with the same key
    match event:
        case Revised():
            if round_ is None:
                return None
            round_.revised(event)
        case Chose():
            round_ = Round.begun(event)
        case Kept():
            round_ = Round.kept(event)
        case _ if round_ is None:
            return None
        case Amended():
            round_.amended(event)
        case Taught():
            round_.feedback, round_.truth = event.fingerprint, event.feedback
        case Applied(_, answer):
            round_.lesson = answer
            round_.status = Status.LEARNED if answer else Status.PENDING
            if not answer:
                round_.feedback = round_.truth = b""
        case _:
            pass
    round_.seq = entry.seq
    return round_
