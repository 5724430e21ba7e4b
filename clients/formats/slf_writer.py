"""Lattices written as HTK SLF, words on links: `write_slf`, and `LatticeFolder` beside an utterance file."""

import gzip
import io
from pathlib import Path
from urllib.parse import quote

from galloon.learners.observation import Lattice

_NAME_CHARACTERS = 200  # file systems take 255 bytes


def write_slf(lattice: Lattice) -> str:
    """The lattice as text; `read_slf` gives the same lattice back, with its acoustic scores apart.

    Scores that are not known to be acoustic are written as the language model's.
    """
    end = lattice.finals[0]
    nodes, closing = lattice.state_count, ""
    first_closing = len(lattice.words)
    if len(lattice.finals) > 1:  # SLF ends in one node: lead all there, over links that say nothing
        end, nodes = nodes, nodes + 1
        closing = "".join(
            f"J={first_closing + index}\tS={state}\tE={end}\tl=0\n"
            for index, state in enumerate(lattice.finals)
        )
    links = first_closing + closing.count("\n")
    out = io.StringIO()
    header, columns = _scores(lattice)
    out.write(f"VERSION=1.0\n{header}start={lattice.initial}\nend={end}\nN={nodes}\tL={links}\n")
    times = None if lattice.times is None else lattice.times.tolist()
    for state in range(nodes):
        if times is None:
            out.write(f"I={state}\n")
        else:
            out.write(f"I={state}\tt={times[state] if state < len(times) else max(times)!r}\n")
    arcs = zip(lattice.sources.tolist(), lattice.targets.tolist(), lattice.words, columns, strict=True)
    for index, (begin, finish, word, scores) in enumerate(arcs):
        out.write(f"J={index}\tS={begin}\tE={finish}\tW={_spelled(word)}\t{scores}\n")
    out.write(closing)
    return out.getvalue()


def _scores(lattice: Lattice) -> tuple[str, list[str]]:
    """Lines of the header, and the fields of each link."""
    parts, total = lattice.parts, lattice.log_scores
    if parts is None or parts.acoustic is None:
        return "", [f"l={score!r}" for score in total.tolist()]
    # The score stands whole in `l`, to the last bit; `acused` says how much of `a` is in it, for galloon alone.
    acoustic, language = parts.scales_used
    pairs = zip(parts.acoustic.tolist(), total.tolist(), strict=True)
    header = f"acscale=0.0\nlmscale=1.0\nacused={acoustic!r}\nlmused={language!r}\n"
    return header, [f"a={score!r}\tl={whole!r}" for score, whole in pairs]


class LatticeFolder:
    """Where the lattices of an utterance file go: `<file>.lattices/<expert>/<utterance>.slf.gz`."""

    def __init__(self, utterance_file: Path) -> None:
        self._file = utterance_file
        self._name = f"{utterance_file.name.removesuffix('.gz').removesuffix('.jsonl')}.lattices"

    def write(self, expert: str, utterance_id: str, lattice: Lattice) -> str:
        """Write one lattice; gives its path relative to the utterance file."""
        # Names come from files too: quoted, they can neither climb out of the folder nor be too long.
        relative = f"{self._name}/{file_name(expert)}/{file_name(utterance_id)}.slf.gz"
        path = self._file.parent / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(write_slf(lattice).encode(), mtime=0))
        return relative


def file_name(name: str) -> str:
    """A name for a file that can neither climb out of its folder nor be too long."""
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
