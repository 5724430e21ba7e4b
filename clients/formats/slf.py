r"""HTK's Standard Lattice Format, as written by HTK, SRILM, Julius and pocketsphinx: `read_slf`.

A header of `key=value` fields, then a line per node (`I=0 t=0.25 W=and`) and per link (`J=0 S=1 E=0 a=-25.9
l=-3.1`), words on nodes or on links. A link's score, as a natural logarithm:

    acscale * a + lmscale * l + prscale * r + wdpenalty (for a link that carries a word), times log(base)

Where each link carries its posterior `p` (pocketsphinx, SRILM) that is used instead: it has the language
model and the engine's own scaling in it. `Lattice.parts` keeps `a`, `l`, `p` and the scales apart. HTK's node
words end at the node's time, pocketsphinx's start there.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import overload

import numpy as np
from numpy.typing import NDArray

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.word_graph import SMALLEST_POSTERIOR, Arcs, best_path, build_lattice
from galloon.clients.formats.words import SILENT, finite
from galloon.learners.observation import ArcScores, ExpertOutput, Lattice

NAME = "slf"
_QUOTED_FIELD = re.compile(r"""(?<!\w)(\w++)=("(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\S*)""")
_OTHER_LINE = re.compile(r"^(?!I=|J=|#)[^\n]+", re.MULTILINE)
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
    blocks = [_block(text, kind) for kind in ("I", "J")]
    header = _header(source, text, blocks)
    nodes, links = (
        _columns(source, text, kind, block, header) for kind, block in zip(("I", "J"), blocks, strict=True)
    )
    number = {name: index for index, name in enumerate(nodes.required("I"))}
    if len(number) < nodes.count:
        raise source.error(None, "two nodes have the same number")
    times = nodes.numbers("t", default=math.nan)
    in_order = nodes.in_order("I")
    begins = _node_numbers(source, links, "S", number, in_order=in_order)
    ends = _node_numbers(source, links, "E", number, in_order=in_order)
    node_words = nodes.words()
    initial, final = _ends(source, header, number, begins, ends)
    if node_words is not None:
        starts_at_node = "pocketsphinx" in text[:1000].lower()
        words = list(map(node_words.__getitem__, (begins if starts_at_node else ends).tolist()))
        if node_words[final if starts_at_node else initial]:
            source.note("word on the outermost node left out: no link carries it")
    else:
        words = links.words() or [""] * links.count
    posteriors = links.numbers("p", default=math.nan)
    if posteriors is not None and np.isnan(posteriors).any():
        posteriors = None
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
            links.lines,
            posteriors,
            _parts(source, header, links, posteriors),
        ),
        None if times is None or np.isnan(times).any() else times,
    )
    if posteriors is not None:
        source.note("links carry posteriors, which were used in place of their scores")
    elif links.numbers("a") is None and links.numbers("l") is None:
        source.note("links carry no scores: all paths count alike")
    return lattice, header.get("UTTERANCE", "")


def _block(text: str, kind: str) -> tuple[int, int] | None:
    """Where all rows of a kind stand, if nothing else stands between them, as nearly always."""
    start = 0 if text.startswith(f"{kind}=") else text.find(f"\n{kind}=") + 1
    if not start and not text.startswith(f"{kind}="):
        return None
    end = text.find("\n", max(start, text.rfind(f"\n{kind}=") + 1))
    end = len(text) if end < 0 else end
    alone = text.count("\n", start, end) == text.count(f"\n{kind}=", start, end)
    return (start, end) if alone else None


def _header(source: Source, text: str, blocks: list[tuple[int, int] | None]) -> dict[str, str]:
    """All fields of lines that are neither nodes, links nor comments."""
    header: dict[str, str] = {}
    borders = [0, *(border for block in sorted(filter(None, blocks)) for border in block), len(text)]
    others = zip(borders[::2], borders[1::2], strict=True)
    for match in (found for begin, end in others for found in _OTHER_LINE.finditer(text, begin, end)):
        fields = _fields(match[0])
        if not fields:
            if match[0].strip():
                at = text.count("\n", 0, match.start()) + 1
                raise source.error(at, f"not a line of a lattice: {match[0].strip()[:40]!r}")
            continue
        if "SUBLAT" in fields:
            at = text.count("\n", 0, match.start()) + 1
            raise source.error(at, "lattices with sub-lattices are not read", "expand it first (HLRescore)")
        header.update(fields)
    return header


class _LineNumbers(Sequence[int]):
    """The line of each node or link, counted only when an error asks for one."""

    def __init__(self, text: str, kind: str, count: int) -> None:
        self._text, self._kind, self._count = text, kind, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        rows = re.finditer(rf"^{self._kind}=", self._text, re.MULTILINE)
        if isinstance(index, slice):
            return [self._text.count("\n", 0, match.start()) + 1 for match in rows][index]
        row = next(islice(rows, index, None))
        return self._text.count("\n", 0, row.start()) + 1


@dataclass(frozen=True, slots=True)
class _Columns:
    """The fields of all nodes or of all links, by key."""

    source: Source
    count: int
    lines: Sequence[int]
    by_key: Mapping[str, Sequence[str | None]]
    joined: Mapping[str, str]  # where every line has the same fields: the values of each, with blanks between
    known: dict[tuple[str, float], NDArray[np.float64] | None] = field(default_factory=dict)

    def column(self, key: str) -> Sequence[str | None] | None:
        if key in self.joined:
            return self.joined[key].split(" ")
        return self.by_key.get(key)

    def required(self, key: str) -> Sequence[str]:
        column = self.column(key) or (None,) * self.count
        if None in column:
            raise self.source.error(self.lines[column.index(None)], f"the field {key}= is missing")
        return column  # type: ignore[return-value]  # no None is in it, as was just checked

    def in_order(self, key: str) -> bool:
        """Whether the lines are numbered from 0 on."""
        return self.joined.get(key) == " ".join(map(str, range(self.count)))

    def plain_numbers(self, key: str) -> NDArray[np.float64] | None:
        """The numbers of a field in which nothing but numbers stands, or None: then look at it closely."""
        plain = self.joined.get(key)
        if plain is None or plain.encode().translate(None, b"0123456789+-.eE "):
            return None
        try:
            found = np.fromstring(plain, sep=" ")
        except ValueError:  # something is no number after all
            return None
        return found if len(found) == self.count and np.isfinite(found).all() else None

    def numbers(self, key: str, default: float = 0.0) -> NDArray[np.float64] | None:
        """The numbers of a field, or None if no line has it."""
        if (key, default) not in self.known:
            plain = self.plain_numbers(key)
            self.known[key, default] = self._numbers(key, default) if plain is None else plain
        return self.known[key, default]

    def _numbers(self, key: str, default: float) -> NDArray[np.float64] | None:
        column = self.column(key)
        if column is None:
            return None
        try:
            values = np.array([default if value is None else float(value) for value in column])
        except ValueError as problem:
            row = next(row for row, value in enumerate(column) if value is not None and not _is_number(value))
            what = f"{key}={(column[row] or '')[:40]} is not a number"
            raise self.source.error(self.lines[row], what) from problem
        wrong = [row for row in np.flatnonzero(~np.isfinite(values)).tolist() if column[row] is not None]
        if wrong:
            raise self.source.error(self.lines[wrong[0]], f"{key}={column[wrong[0]]} is not finite")
        return values

    def words(self) -> list[str] | None:
        """The words, silence as the empty string, or None if no line has one."""
        column = self.column("W")
        if column is None:
            return None
        words = ["" if word is None or word in SILENT else word for word in column]
        words = ["_".join(word.split()) if not word.isalpha() else word for word in words]
        if words:
            self.source.check("word_characters", max(map(len, words)))
        return words


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _columns(
    source: Source, text: str, kind: str, block: tuple[int, int] | None, header: Mapping[str, str]
) -> _Columns:
    """Split all rows of a kind; nearly always they look alike, and are split together."""
    key, what = ("N", "nodes") if kind == "I" else ("L", "links")
    count = text.count(f"\n{kind}=") + text.startswith(f"{kind}=")
    declared = _whole(source, header, key)
    source.check("lattice_states" if kind == "I" else "lattice_arcs", max(count, declared))
    if declared != count:
        raise source.error(
            None, f"the header says {key}={declared}, {count} {what} are there", "is it cut off?"
        )
    if kind == "I" and not count:
        raise source.error(None, "no node lines (I=...): an empty lattice")
    lines = _LineNumbers(text, kind, count)
    joined = _joined(text[slice(*block)], count) if block else None
    if joined is not None:
        return _Columns(source, count, lines, {}, joined)
    by_key: dict[str, list[str | None]] = {}
    for row, match in enumerate(re.finditer(rf"^{kind}=.*", text, re.MULTILINE)):
        for name, value in _fields(match[0]).items():
            if name not in by_key:
                source.check("attributes", len(by_key) + 1)
                by_key[name] = [None] * count
            by_key[name][row] = value
    return _Columns(source, count, lines, by_key, {})


def _joined(rows: str, count: int) -> dict[str, str] | None:
    """The values of each field of these rows, with blanks between; None unless all rows have the same fields."""
    if '"' in rows or "\\" in rows:  # quoted and escaped values are taken one by one
        return None
    cells = rows.split()
    keys = [cell.partition("=")[0] for cell in rows.partition("\n")[0].split()]
    if len(cells) != count * len(keys) or len(set(keys)) < len(keys) or not all(map(str.isalnum, keys)):
        return None
    joined = {}
    for place, key in enumerate(keys):
        column = " ".join(cells[place :: len(keys)])
        sign = f"{key}="
        # Every value begins with its sign, and has it nowhere else.
        if not column.startswith(sign) or not column.count(sign) == column.count(f" {sign}") + 1 == count:
            return None
        joined[_SHORT.get(key, key)] = column.replace(sign, "")
    return joined


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


def _node_numbers(
    source: Source, links: _Columns, key: str, number: Mapping[str, int], *, in_order: bool
) -> NDArray[np.int64]:
    plain = links.joined.get(key) if in_order else None
    # Ten times as fast as by name. What has other signs than digits, or is out of range, is looked at closely.
    if plain is not None and not plain.encode().translate(None, b"0123456789 "):
        found = np.fromstring(plain, dtype=np.int64, sep=" ")
        if len(found) == links.count and found.size and found.min() >= 0 and found.max() < len(number):
            return found
    names = links.required(key)
    try:
        return np.array([number[name] for name in names], dtype=np.int64)
    except KeyError as problem:
        row = names.index(problem.args[0])
        raise source.error(
            links.lines[row], f"{key}={names[row]} names a node that does not exist"
        ) from problem


def _ends(
    source: Source,
    header: Mapping[str, str],
    number: Mapping[str, int],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> tuple[int, int]:
    """The first and the last node: as the header says, else the only ones without links in or out."""
    sides = (("start", "initial", ends), ("end", "final", begins))
    found = []
    for key, word, used in sides:
        if key in header:
            if header[key] not in number:
                raise source.error(None, f"{key}={header[key]} names a node that does not exist")
            found.append(number[header[key]])
            continue
        candidates = np.setdiff1d(np.arange(len(number)), used).tolist()
        if len(candidates) != 1:
            raise source.error(
                None, f"{len(candidates)} nodes could be the {word} one", f"give {key}= in the header"
            )
        found.append(candidates[0])
    return found[0], found[1]


def _parts(
    source: Source, header: Mapping[str, str], links: _Columns, posteriors: NDArray[np.float64] | None
) -> ArcScores:
    """The scores apart, as natural logarithms without the header's scales."""
    setting = _settings(source, header)
    logs = []
    for key in ("a", "l"):
        values = links.numbers(key)
        if values is not None:
            with np.errstate(
                all="ignore"
            ):  # what is not finite has been refused, or is refused with its line
                values = np.log(values) if setting["base"] == 0 else values * math.log(setting["base"])
        logs.append(values)
    certain = None if posteriors is None else np.log(np.maximum(posteriors, SMALLEST_POSTERIOR))
    # What galloon wrote says how much of either is in its scores, which stand whole in `l`.
    acoustic, language = (finite(header.get(key, "")) for key in ("acused", "lmused"))
    return ArcScores(
        logs[0],
        logs[1],
        certain,
        setting["acscale"] if acoustic is None else acoustic,
        setting["lmscale"] if language is None else language,
        setting["wdpenalty"],
    )


def _settings(source: Source, header: Mapping[str, str]) -> dict[str, float]:
    setting = {"acscale": 1.0, "lmscale": 1.0, "prscale": 1.0, "wdpenalty": 0.0, "base": math.e}
    for key in setting.keys() & header.keys():
        value = finite(header[key])
        if value is None:
            raise source.error(None, f"{key}={header[key]} in the header is not a finite number")
        setting[key] = value
    if setting["base"] < 0 or setting["base"] == 1:
        raise source.error(None, f"base={setting['base']} in the header cannot be a base of logarithms")
    return setting


def _link_scores(
    source: Source, header: Mapping[str, str], links: _Columns, words: list[str]
) -> NDArray[np.float64]:
    setting = _settings(source, header)
    base = setting["base"]
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
