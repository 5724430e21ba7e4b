"""Lattices written as HTK SLF, words on links: `write_slf`, and `LatticeFolder` beside an utterance file."""

import gzip
import io
from pathlib import Path
from urllib.parse import quote

from galloon.learners.observation import Lattice

_NAME_CHARACTERS = 200  # file systems take 255 bytes


def write_slf(lattice: Lattice) -> str:
    """The lattice as text; `read_slf` gives the same lattice back."""
    end = lattice.finals[0]
    nodes, closing = lattice.state_count, ""
    first_closing = len(lattice.words)
    if len(lattice.finals) > 1:  # SLF ends in one node: lead all there, over links that say nothing
        end, nodes = nodes, nodes + 1
        closing = "".join(
            f"J={first_closing + index}\tS={state}\tE={end}\ta=0\n"
            for index, state in enumerate(lattice.finals)
        )
    links = first_closing + closing.count("\n")
    out = io.StringIO()
    out.write(f"VERSION=1.0\nstart={lattice.initial}\nend={end}\nN={nodes}\tL={links}\n")
    times = None if lattice.times is None else lattice.times.tolist()
    for state in range(nodes):
        if times is None:
            out.write(f"I={state}\n")
        else:
            out.write(f"I={state}\tt={times[state] if state < len(times) else max(times)!r}\n")
    arcs = zip(lattice.sources, lattice.targets, lattice.words, lattice.log_scores.tolist(), strict=True)
    for index, (begin, finish, word, score) in enumerate(arcs):
        out.write(f"J={index}\tS={begin}\tE={finish}\tW={_spelled(word)}\ta={score!r}\n")
    out.write(closing)
    return out.getvalue()


class LatticeFolder:
    """Where the lattices of an utterance file go: `<file>.lattices/<expert>/<utterance>.slf.gz`."""

    def __init__(self, utterance_file: Path) -> None:
        self._file = utterance_file
        self._name = f"{utterance_file.name.removesuffix('.gz').removesuffix('.jsonl')}.lattices"

    def write(self, expert: str, utterance_id: str, lattice: Lattice) -> str:
        """Write one lattice; gives its path relative to the utterance file."""
        # Names come from files too: quoted, they can neither climb out of the folder nor be too long.
        relative = f"{self._name}/{_file_name(expert)}/{_file_name(utterance_id)}.slf.gz"
        path = self._file.parent / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(write_slf(lattice).encode(), mtime=0))
        return relative


def _file_name(name: str) -> str:
    quoted = quote(name, safe=" ").replace(".", "%2E") if name.strip(".") == "" else quote(name, safe=" ")
    if len(quoted) <= _NAME_CHARACTERS:
        return quoted
    import hashlib

    return quoted[: _NAME_CHARACTERS - 20] + "-" + hashlib.blake2b(name.encode(), digest_size=8).hexdigest()


def _spelled(word: str) -> str:
    if not word:
        return "!NULL"
    if word[0] in "\"'" or "\\" in word or '"' in word:
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return word
