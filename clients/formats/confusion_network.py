"""Confusion networks ("sausages") as text, of SRILM and Kaldi: `read_confusion_networks`; `network_of` makes one.

SRILM (`lattice-tool -write-mesh`): `align 0 the 0.9 a 0.1 *DELETE* 0`, an entry a position, after `numaligns`.
Kaldi (`lattice-mbr-decode`, sausage statistics): a line an utterance, `id [ 5 0.9 7 0.1 ] [ 0 0.8 9 0.2 ]`, words
by number, 0 for none. A network is a lattice whose states follow each other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.symbols import symbols_for, word_of
from galloon.clients.formats.word_graph import Arcs, build_lattice
from galloon.clients.formats.words import SILENT, finite
from galloon.learners.observation import ExpertOutput, Lattice, Reading, Word

NAME = "confusion-network"
Slot = list[Reading]
_KALDI = re.compile(r"(\S+)((?:\s+\[[^\[\]]*\])+)\s*")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_IGNORED = frozenset({"posterior", "reference", "info", "hyps", "time"})


def sniff_confusion_networks(sample: Sample) -> bool:
    lines = sample.lines
    return any(re.match(r"numaligns \d", line) for line in lines[:3]) or (
        bool(lines) and all(_KALDI.fullmatch(line) for line in lines)
    )


def read_confusion_networks(source: Source) -> ReadResult:
    """Each network as a lattice; the most probable word of each position is the 1-best."""
    lines = Lines(source)
    for name, at, slots in _networks(source):
        words = tuple(
            Word(best.text, best.probability)
            for slot in slots
            if (best := max(slot, key=lambda reading: reading.probability)).text
        )
        lines.add(
            name or source.stem, ExpertOutput(source.stem, words, lattice=network_of(slots, source, at)), at
        )
    if not len(lines):
        raise source.error(None, "no confusion network is in the file")
    return lines.result(NAME)


def network_of(slots: Sequence[Sequence[Reading]], source: Source, line: int) -> Lattice | None:
    """The lattice of these positions, of which at least one has something to choose from."""
    if not any(len(slot) > 1 for slot in slots):
        return None
    entries = [(place, reading) for place, slot in enumerate(slots) for reading in slot]
    places = [place for place, _ in entries]
    arcs = Arcs(
        places,
        [place + 1 for place in places],
        [reading.text for _, reading in entries],
        [0.0] * len(entries),
        [line] * len(entries),
        [reading.probability for _, reading in entries],
    )
    return build_lattice(source, len(slots) + 1, 0, {len(slots): 0.0}, arcs)


def _networks(source: Source) -> Iterator[tuple[str, int, list[Slot]]]:
    name, begun, declared = "", 0, 0
    slots: dict[int, Slot] = {}
    symbols: Mapping[str, str] | None = None
    for at, row in source.rows():
        source.check("line_bytes", len(row), at)
        cells = row.split()
        if not cells:
            continue
        source.check("lattice_arcs", len(cells) // 2, at)
        if (match := _KALDI.fullmatch(row)) and cells[0] not in {"align", *_IGNORED}:
            parts = [part.split() for part in _BRACKET.findall(match[2])]
            if symbols is None:
                symbols = symbols_for(source, [label for cells in parts for label in cells[::2]]) or {}
            yield match[1], at, [_kaldi_slot(cells, symbols, source, at) for cells in parts]
        elif cells[0] in {"name", "numaligns"}:
            if begun and (cells[0] == "name" or slots):
                yield name, begun, _complete(slots, declared, source, begun)
                name, begun, slots, declared = "", 0, {}, 0
            begun = begun or at
            if cells[0] == "name":
                name = cells[1] if len(cells) > 1 else ""
            elif len(cells) != 2 or not cells[1].isdecimal() or len(cells[1]) > 9:
                raise source.error(at, f"numaligns needs a number, not {row[:40]!r}")
            else:
                declared = int(cells[1])
                source.check("lattice_states", declared, at)
        elif cells[0] == "align":
            if len(cells) < 4 or len(cells) % 2 or not cells[1].isdecimal() or int(cells[1][:10]) >= declared:
                raise source.error(at, "a position needs its number and pairs of a word and its probability")
            slots[int(cells[1])] = _slot(cells[2:], source, at)
        elif cells[0] not in _IGNORED:
            raise source.error(at, f"not a line of a confusion network: {row[:40]!r}")
    if begun:
        yield name, begun, _complete(slots, declared, source, begun)


def _complete(slots: dict[int, Slot], declared: int, source: Source, at: int) -> list[Slot]:
    if len(slots) != declared or not declared:
        what = f"numaligns says {declared}, {len(slots)} positions are there"
        raise source.error(at, what, "is the file cut off?")
    return [slots[place] for place in range(declared)]


def _slot(cells: list[str], source: Source, at: int) -> Slot:
    readings = []
    for word, value in zip(cells[::2], cells[1::2], strict=True):
        chance = finite(value)
        if chance is None or not 0 <= chance <= 1.01:
            raise source.error(at, f"{value[:20]!r} is not a probability")
        source.check("word_characters", len(word), at)
        readings.append(Reading("" if word in SILENT else word, chance))
    return readings


def _kaldi_slot(cells: list[str], symbols: Mapping[str, str], source: Source, at: int) -> Slot:
    if not cells or len(cells) % 2:
        raise source.error(at, "a position needs pairs of a word and its probability")
    words = [word_of(label, symbols, source, at) or "<eps>" for label in cells[::2]]
    return _slot([part for pair in zip(words, cells[1::2], strict=True) for part in pair], source, at)
