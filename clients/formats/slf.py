r"""HTK's Standard Lattice Format, as written by HTK, SRILM, Julius and pocketsphinx: `read_slf`.

A header of `key=value` fields, then a line per node (`I=0 t=0.25 W=and`) and per link (`J=0 S=1 E=0 a=-25.9
l=-3.1`), words on nodes or on links. A link's score, as a natural logarithm:

    acscale * a + lmscale * l + prscale * r + wdpenalty (for a link that carries a word), times log(base)

Where each link carries its posterior `p` (pocketsphinx, SRILM) that is used instead: it has the language
model and the engine's own scaling in it. HTK's node words end at the node's time, pocketsphinx's start there.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.word_graph import Arcs, best_path, build_lattice
from galloon.clients.formats.words import SILENT, finite
from galloon.learners.utterance import ExpertOutput, Lattice

NAME = "slf"
_QUOTED_FIELD = re.compile(r"""(?<!\w)(\w++)=("(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\S*)""")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
# The manual's long names, and the short ones that everyone writes.
_SHORT = {"NODES": "N", "LINKS": "L", "WORD": "W", "START": "S", "END": "E", "TIME": "t", "ACOUSTIC": "a"} | {
    "LANGUAGE": "l", "LMSCORE": "l", "ACSCORE": "a", "PRON": "r", "POSTERIOR": "p", "FROM": "S", "TO": "E",
}  # fmt: skip


def sniff_slf(sample: Sample) -> bool:
    return bool(re.search(r"^(VERSION=|N(ODES)?=\d+\s+L(INKS)?=\d+|UTTERANCE=)", sample.text, re.MULTILINE))


def read_slf(source: Source) -> ReadResult:
    """The lattice of a file, and the best path through it as the 1-best."""
    lattice, utterance = parse_slf(source)
    lines = Lines(source)
    lines.add(utterance or source.stem, ExpertOutput(source.stem, best_path(lattice), lattice=lattice))
    return lines.result(NAME)


def parse_slf(source: Source) -> tuple[Lattice, str]:
    """The lattice, and the utterance's name if the header gives one."""
    text = source.text()
    raw = _sort_lines(source, text)
    header = raw.header
    declared = (_whole(source, header, "N"), _whole(source, header, "L"))
    source.check("lattice_states", max(len(raw.nodes), declared[0]))
    source.check("lattice_arcs", max(len(raw.links), declared[1]))
    if declared != (len(raw.nodes), len(raw.links)):
        found = f"{len(raw.nodes)} nodes and {len(raw.links)} links are there"
        raise source.error(
            None, f"the header says N={declared[0]} L={declared[1]}, {found}", "is it cut off?"
        )

    nodes = _columns(source, raw.nodes, raw.node_lines)
    links = _columns(source, raw.links, raw.link_lines)
    number = {name: index for index, name in enumerate(nodes.required("I"))}
    if len(number) < len(raw.nodes):
        raise source.error(None, "two nodes have the same number")
    times = nodes.numbers("t", default=math.nan)
    begins = _node_numbers(source, links, "S", number)
    ends = _node_numbers(source, links, "E", number)
    node_words = nodes.words()
    initial, final = _ends(source, header, number, begins, ends)
    if node_words is not None:
        words = _words_from_nodes(node_words, begins, ends, starts_at_node="pocketsphinx" in raw.comments)
        if _loses_word(node_words, initial, final, starts_at_node="pocketsphinx" in raw.comments):
            source.note("word on the outermost node left out: no link carries it")
    else:
        words = links.words() or [""] * len(begins)
    posteriors = links.numbers("p", default=math.nan)
    has_posteriors = posteriors is not None and not np.isnan(posteriors).any()
    lattice = build_lattice(
        source,
        len(number),
        initial,
        {final: 0.0},
        Arcs(
            begins,
            ends,
            words,
            _link_scores(source, header, links, words),
            raw.link_lines,
            posteriors.tolist() if has_posteriors and posteriors is not None else None,
        ),
        times if times is not None and not np.isnan(times).any() else None,
    )
    if has_posteriors:
        source.note("links carry posteriors, which were used in place of their scores")
    elif links.numbers("a") is None and links.numbers("l") is None:
        source.note("links carry no scores: all paths count alike")
    return lattice, header.get("UTTERANCE", "")


@dataclass(slots=True)
class _RawLines:
    """The lines of a file by kind, with the numbers of those that may be wrong later."""

    header: dict[str, str]
    nodes: list[str]
    node_lines: list[int]
    links: list[str]
    link_lines: list[int]
    comments: str


def _sort_lines(source: Source, text: str) -> _RawLines:
    raw = _RawLines({}, [], [], [], [], "")
    for at, line in enumerate(text.split("\n"), 1):
        kind = line[:2]
        if kind == "J=":
            raw.links.append(line.rstrip())
            raw.link_lines.append(at)
        elif kind == "I=":
            raw.nodes.append(line.rstrip())
            raw.node_lines.append(at)
        elif line.startswith("#"):
            raw.comments += line.lower() if len(raw.comments) < 1000 else ""
        elif line.strip():
            fields = _fields(line)
            if not fields:
                raise source.error(at, f"not a line of a lattice: {line.strip()[:40]!r}")
            if "SUBLAT" in fields:
                raise source.error(
                    at, "lattices with sub-lattices are not read", "expand it first (HLRescore)"
                )
            raw.header.update(fields)
    if not raw.nodes:
        raise source.error(None, "no node lines (I=...): not a lattice, or an empty one")
    return raw


@dataclass(slots=True)
class _Columns:
    """The fields of many lines, by key."""

    source: Source
    lines: list[int]
    by_key: Mapping[str, list[str | None]]

    def required(self, key: str) -> list[str]:
        column = self.by_key.get(key, [None] * len(self.lines))
        if None in column:
            raise self.source.error(self.lines[column.index(None)], f"the field {key}= is missing")
        return column  # type: ignore[return-value]  # no None is in it, as was just checked

    def numbers(
        self, key: str, default: float = 0.0
    ) -> "np.ndarray[tuple[int], np.dtype[np.float64]] | None":
        """The numbers of a field, or None if no line has it."""
        column = self.by_key.get(key)
        if column is None:
            return None
        try:
            values = np.array([default if value is None else float(value) for value in column])
        except ValueError:
            values = np.array([_number(self, key, row) for row in range(len(column))])
        given = [value is not None for value in column]
        wrong = np.flatnonzero(np.array(given, dtype=bool) & ~np.isfinite(values))
        if wrong.size:
            raise self.source.error(self.lines[int(wrong[0])], f"{key}={column[int(wrong[0])]} is not finite")
        return values

    def words(self) -> list[str] | None:
        """The words, silence as the empty string, or None if no line has one."""
        column = self.by_key.get("W")
        if column is None:
            return None
        words = ["" if word is None or word in SILENT else "_".join(word.split()) for word in column]
        if words:
            self.source.check("word_characters", max(map(len, words)))
        return words


def _number(columns: _Columns, key: str, row: int) -> float:
    value = columns.by_key[key][row]
    try:
        return float(value or "")
    except ValueError as problem:
        raise columns.source.error(columns.lines[row], f"{key}={value} is not a number") from problem


def _columns(source: Source, rows: list[str], lines: list[int]) -> _Columns:
    """Split all rows; nearly always they look alike, and one compiled pattern takes them all at once."""
    if rows:
        keys = [field.partition("=")[0] for field in rows[0].split()]
        joined = "\n".join(rows)
        if (
            len(set(keys)) == len(keys)
            and all(map(str.isalnum, keys))
            and '"' not in joined
            and "\\" not in joined
        ):
            pattern = r"[ \t]+".join(rf"{key}=(\S*)" for key in keys)
            found = re.findall(rf"^{pattern}$", joined, re.MULTILINE)
            if len(found) == len(rows):
                columns = zip(*found, strict=True) if len(keys) > 1 else [found]
                short = [_SHORT.get(key, key) for key in keys]
                return _Columns(source, lines, dict(zip(short, map(list, columns), strict=True)))
    by_key: dict[str, list[str | None]] = {}
    for row, line in enumerate(rows):
        for key, value in _fields(line).items():
            if key not in by_key:
                source.check("attributes", len(by_key) + 1, lines[row])
                by_key[key] = [None] * len(rows)
            by_key[key][row] = value
    return _Columns(source, lines, by_key)


def _fields(line: str) -> dict[str, str]:
    fields = {}
    for key, value in _QUOTED_FIELD.findall(line):
        if value[:1] in {'"', "'"} and len(value) > 1 and value[-1] == value[0]:
            value = value[1:-1]  # noqa: PLW2901  the quotes are not part of the value
        if "\\" in value:
            value = _ESCAPE.sub(_unescape, value)  # noqa: PLW2901  nor are the escapes
        fields[_SHORT.get(key, key)] = value
    return fields


def _unescape(match: "re.Match[str]") -> str:
    code = match.group(1)
    return chr(int(code, 8)) if len(code) == 3 else code


def _whole(source: Source, header: Mapping[str, str], key: str) -> int:
    value = header.get(key)
    if value is None or not value.isdecimal() or len(value) > 12:
        raise source.error(None, f"the header needs {key}= with a whole number, not {value}")
    return int(value)


def _node_numbers(source: Source, links: _Columns, key: str, number: Mapping[str, int]) -> list[int]:
    names = links.required(key)
    try:
        return [number[name] for name in names]
    except KeyError as problem:
        row = names.index(problem.args[0])
        raise source.error(
            links.lines[row], f"{key}={names[row]} names a node that does not exist"
        ) from problem


def _ends(
    source: Source,
    header: Mapping[str, str],
    number: Mapping[str, int],
    begins: Iterable[int],
    ends: Iterable[int],
) -> tuple[int, int]:
    """The first and the last node: as the header says, else the only ones without links in or out."""
    sides = (("start", "initial", set(ends)), ("end", "final", set(begins)))
    found = []
    for key, word, used in sides:
        if key in header:
            if header[key] not in number:
                raise source.error(None, f"{key}={header[key]} names a node that does not exist")
            found.append(number[header[key]])
            continue
        candidates = [index for index in number.values() if index not in used]
        if len(candidates) != 1:
            raise source.error(
                None, f"{len(candidates)} nodes could be the {word} one", f"give {key}= in the header"
            )
        found.append(candidates[0])
    return found[0], found[1]


def _words_from_nodes(
    node_words: list[str], begins: list[int], ends: list[int], *, starts_at_node: bool
) -> list[str]:
    return [node_words[node] for node in (begins if starts_at_node else ends)]


def _loses_word(node_words: list[str], initial: int, final: int, *, starts_at_node: bool) -> bool:
    return bool(node_words[final if starts_at_node else initial])


def _link_scores(
    source: Source, header: Mapping[str, str], links: _Columns, words: list[str]
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    setting = {"acscale": 1.0, "lmscale": 1.0, "prscale": 1.0, "wdpenalty": 0.0, "base": math.e}
    for key in setting.keys() & header.keys():
        value = finite(header[key])
        if value is None:
            raise source.error(None, f"{key}={header[key]} in the header is not a finite number")
        setting[key] = value
    base = setting["base"]
    if base < 0 or base == 1:
        raise source.error(None, f"base={base} in the header cannot be a base of logarithms")
    total = np.zeros(len(words))
    for key, scale in (("a", "acscale"), ("l", "lmscale"), ("r", "prscale")):
        values = links.numbers(key)
        if values is None:
            continue
        if base == 0:  # the manual's sign for plain likelihoods
            if (values <= 0).any():
                row = int(np.flatnonzero(values <= 0)[0])
                raise source.error(links.lines[row], f"{key}= must be above 0, as the header says base=0")
            values = np.log(values)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused with its line
            total += setting[scale] * values
    spoken = np.array([bool(word) for word in words], dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (total + setting["wdpenalty"] * spoken) * (math.log(base) if base > 0 else 1.0)
    return np.asarray(scaled, dtype=np.float64)
