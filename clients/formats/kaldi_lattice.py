"""Kaldi's lattices in text form (`lattice-copy ark:- ark,t:-`), both kinds: `read_kaldi_lattices`.

    utterance-id
    0 1 word graph,acoustic,transition-ids     CompactLattice: an acceptor of words
    0 1 transition-id word graph,acoustic      Lattice: a transducer
    2 graph,acoustic                           a final state
                                               (an empty line ends the lattice)

An arc's score is -(graph cost + acoustic cost), natural logarithms as Kaldi has them, unscaled. `Lattice.parts`
keeps the two apart.
"""

import re

from galloon.clients.formats.fst_text import TextGraph
from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.symbols import symbols_for
from galloon.clients.formats.word_graph import best_path
from galloon.clients.formats.words import finite
from galloon.learners.observation import ExpertOutput

NAME = "kaldi-lattice"
_ARC = re.compile(r"\d+\s+\d+\s+\S+(\s+\S+)?\s+[-+\d.einfEINF]+,[-+\d.einfEINF]+(,[\d_]*)?\s*")


def sniff_kaldi_lattices(sample: Sample) -> bool:
    lines = sample.lines
    return len(lines) > 1 and len(lines[0].split()) == 1 and any(_ARC.fullmatch(line) for line in lines[1:5])


def read_kaldi_lattices(source: Source) -> ReadResult:
    """Each lattice of the archive under its utterance's name."""
    lines = Lines(source)
    name, graph, begun_at = "", TextGraph(), 0
    for at, row in source.rows():
        cells = row.split()
        if not cells:
            if name:
                _finish(lines, name, graph, source, begun_at)
            name, graph = "", TextGraph()
        elif not name:
            if len(cells) != 1:
                raise source.error(at, "an utterance's name alone on a line is needed before its lattice")
            name, begun_at = cells[0], at
        else:
            _take(graph, cells, source, at)
    if name:
        _finish(lines, name, graph, source, begun_at)
    if not len(lines):
        raise source.error(None, "no lattice is in the file")
    return lines.result(NAME)


def _finish(lines: Lines, name: str, graph: TextGraph, source: Source, begun_at: int) -> None:
    if not graph.numbers:
        source.note("empty lattice left out", begun_at)
        return
    if not graph.finals:
        raise source.error(begun_at, f"the lattice of {name[:40]} has no final state", "is the file cut off?")
    lattice = graph.lattice(source, symbols_for(source, graph.labels))
    lines.add(name, ExpertOutput(source.stem, best_path(lattice), lattice=lattice), begun_at)


def _take(graph: TextGraph, cells: list[str], source: Source, at: int) -> None:
    if len(cells) <= 2:
        graph.final(cells[0], sum(_scores(source, cells[1], at)) if len(cells) == 2 else 0.0, source, at)
        return
    if len(cells) > 5:
        raise source.error(at, f"{len(cells)} columns, an arc has at most 5")
    weighted = len(cells) > 3 and "," in cells[-1]
    labels = cells[2:-1] if weighted else cells[2:]
    if not 1 <= len(labels) <= 2:
        raise source.error(at, "an arc needs one label (CompactLattice) or two (Lattice)")
    language, acoustic = _scores(source, cells[-1], at) if weighted else (0.0, 0.0)
    graph.arc(cells[0], cells[1], labels[-1], language + acoustic, source, at)
    graph.language.append(language)
    graph.acoustic.append(acoustic)


def _scores(source: Source, cell: str, at: int) -> tuple[float, float]:
    """The graph's score and the acoustic one: costs, negated."""
    parts = cell.split(",")
    graph, acoustic = (finite(part) for part in parts[:2]) if len(parts) in {2, 3} else (None, None)
    if graph is None or acoustic is None:
        raise source.error(at, f"the weight {cell[:30]!r} is not `graph,acoustic[,transition-ids]`")
    return -graph, -acoustic
