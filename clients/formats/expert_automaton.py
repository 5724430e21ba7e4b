"""Expert automata from files: `read_expert_automaton`, `read_unrolled`.

AT&T text and OpenFst binaries are read as they are: every transition has a name of its own. The binary comes from
anywhere, so a child process with limits reads it. The transitions of a word lattice, in any format that we know,
are numbered e1, e2, ..., and the words are what they say. AT&T text with cycles is unrolled.
"""

from pathlib import Path

from galloon.clients.api.errors import FormatError
from galloon.clients.formats import fst_text, openfst_binary
from galloon.clients.formats.lattice_files import read_lattice
from galloon.clients.formats.registry import detect
from galloon.clients.formats.source import Source, open_source
from galloon.learners.automata.att_text import read_graph, read_text
from galloon.learners.automata.expert import ExplicitAutomaton
from galloon.learners.automata.unrolled import unroll
from galloon.learners.automata.untrusted import read_untrusted
from galloon.learners.errors import LearnerError
from galloon.learners.observation import Lattice

LATTICES = ("slf", "kaldi-lattice")
Words = tuple[str, ...]


def read_expert_automaton(
    path: Path, *, symbols: Path | None = None, lattice: bool = False, ignore_weights: bool = False
) -> tuple[ExplicitAutomaton, Words | None]:
    """The automaton of a file, and the words of its transitions if it is a lattice."""
    source = open_source(path)
    try:
        if lattice or detect(source).name in LATTICES:
            return _of_lattice(read_lattice(path))
        return _named(source, symbols, ignore_weights), None
    except LearnerError as error:
        advice = "" if lattice else "if its labels are words, read it as a lattice with --lattice"
        raise FormatError(str(path), None, str(error), advice) from error


def read_unrolled(
    path: Path, longest: int, *, symbols: Path | None = None, ignore_weights: bool = False
) -> ExplicitAutomaton:
    """The paths of at most `longest` transitions of an automaton in AT&T text, which may have cycles."""
    source = open_source(path)
    table = None if symbols is None else open_source(symbols).text()
    try:
        return unroll(read_graph(source.text(), table, ignore_weights=ignore_weights), longest)
    except LearnerError as error:
        raise FormatError(str(path), None, str(error)) from error


def _named(source: Source, symbols: Path | None, ignore_weights: bool) -> ExplicitAutomaton:
    name = detect(source).name
    if name == openfst_binary.NAME:
        return read_untrusted(source.data, ignore_weights=ignore_weights)
    if name != fst_text.NAME and not source.text().lstrip()[:1].isdigit():
        raise FormatError(
            source.name,
            None,
            f"it is {name}, not an automaton",
            "give AT&T text, OpenFst binary or a lattice",
        )
    table = None if symbols is None else open_source(symbols).text()
    return read_text(source.text(), table, ignore_weights=ignore_weights)


def _of_lattice(lattice: Lattice) -> tuple[ExplicitAutomaton, Words]:
    names = tuple(f"e{number}" for number in range(1, len(lattice.words) + 1))
    automaton = ExplicitAutomaton(
        lattice.state_count, lattice.initial, lattice.finals, lattice.sources, lattice.targets, names
    )
    return automaton, lattice.words
