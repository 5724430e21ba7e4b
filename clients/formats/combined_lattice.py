"""The combination as a lattice: `lattice_of` a choice, and `LatticeWriter`, which writes many to a folder.

Every slot is a position with what was on offer in it, null included, as probable as the learner found it; so the
best path is the text that was chosen, where the learner shows the most probable tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, log
from pathlib import Path

import numpy as np

from galloon.clients.formats.fst_writer import write_fst_text, write_symbols
from galloon.clients.formats.slf_writer import file_name, write_slf
from galloon.clients.formats.symbols import USUAL_NAME
from galloon.codec.answer import Choice
from galloon.learners.observation import Lattice

LATTICE_FORMATS: Mapping[str, str] = {
    "lattice": ".slf",
    "openfst": ".fst.txt",
}  # and the endings of their files


def lattice_of(choice: Choice) -> Lattice:
    """Of a choice that was asked for with its alternatives."""
    slots: list[dict[str, float]] = []
    for word, probability in zip(choice.words, choice.probabilities, strict=True):
        # Learners without probabilities are sure of what they show.
        slots.append({_one_word(word): probability if isfinite(probability) else 1.0})
    for other in choice.alternatives:
        offered, word = slots[other.slot], _one_word(other.token)
        if other.probability > 0:
            offered[word] = offered.get(word, 0.0) + other.probability
    rows = [(place, word, p) for place, slot in enumerate(slots) for word, p in slot.items() if p > 0]
    sources = np.array([place for place, _, _ in rows], dtype=np.int32)
    sums = np.bincount(sources, [p for _, _, p in rows], len(slots)) if rows else np.zeros(0)
    return Lattice(
        len(slots) + 1,
        0,
        (len(slots),),
        sources,
        sources + 1,
        tuple(word for _, word, _ in rows),
        np.array([log(p / sums[place]) for place, _, p in rows]),
    )


def _one_word(text: str) -> str:
    """What a slot adds may be several words as an engine wrote them; a link carries one."""
    return "_".join(text.split())


@dataclass(slots=True)
class LatticeWriter:
    """A file an utterance, in a folder; for OpenFst a table of words beside them."""

    folder: Path
    form: str  # a name of LATTICE_FORMATS
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, utterance_id: str, lattice: Lattice) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = write_slf(lattice) if self.form == "lattice" else write_fst_text(lattice, self._numbers)
        path = self.folder / f"{file_name(utterance_id)}{LATTICE_FORMATS[self.form]}"
        path.write_text(text, encoding="utf-8", newline="\n")

    def close(self) -> None:
        if self.form == "openfst":
            table = self.folder / USUAL_NAME
            table.write_text(write_symbols(self._numbers), encoding="utf-8", newline="\n")
