"""Texts to score, from files of any kind: `read_references`, `read_hypotheses`; `paired` brings them together.

A reference is a text file (a line a line), an utterance file (its true texts), JSON lines with "id" and "text" as
`galloon combine --json` prints them, or any engine's format. A hypothesis is the same; an utterance file holds one
for each of its engines. Lines are joined by their ids where these agree, else by their order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from galloon.clients.api.errors import FormatError
from galloon.clients.formats import plain_text
from galloon.clients.formats.encoding import check_encoding
from galloon.clients.formats.gathering import EngineInput
from galloon.clients.formats.registry import detect
from galloon.clients.formats.safe_json import parse
from galloon.clients.formats.sample import Sample, sample_of_file
from galloon.clients.formats.source import open_source, stem_of
from galloon.clients.formats.utterances import read_utterances, sniff_combined, sniff_utterances


@dataclass(frozen=True, slots=True)
class Texts:
    """What one system wrote, line by line."""

    name: str
    file: str
    lines: Mapping[str, str]  # by id, in the order of the file


def holds_engines(path: Path) -> bool:
    """Whether a file brings true texts and hypotheses alike."""
    sample = sample_of_file(path)
    check_encoding(sample.data, str(path))
    return sniff_utterances(sample)


def read_references(path: Path) -> Texts:
    """The true texts of a file."""
    sample = sample_of_file(path)
    if sniff_utterances(sample):
        targets = {entry.id: entry.target for entry in read_utterances(path, lattices=False)}
        known = {key: text for key, text in targets.items() if text is not None}
        if not known:
            raise FormatError(str(path), None, 'no utterance has a true text ("target")')
        return Texts("truth", str(path), known)
    return Texts("truth", str(path), _lines(path, sample))


def read_hypotheses(text: str) -> list[Texts]:
    """The systems of a file, given as [NAME=]PATH."""
    given = EngineInput.parse(text)
    sample = sample_of_file(given.path)
    if not sniff_utterances(sample):
        return [Texts(given.expert or stem_of(str(given.path)), str(given.path), _lines(given.path, sample))]
    systems: dict[str, dict[str, str]] = {}
    for entry in read_utterances(given.path, lattices=False):
        for output in entry.outputs:
            systems.setdefault(output.name, {})[entry.id] = output.text
    prefix = f"{given.expert}/" if given.expert else ""
    return [Texts(prefix + name, str(given.path), lines) for name, lines in systems.items()]


def paired(references: Texts, system: Texts) -> list[str]:
    """The system's text for each reference, in the order of the references."""
    if not references.lines.keys() - system.lines.keys():
        return [system.lines[key] for key in references.lines]
    if len(references.lines) == len(system.lines):
        return list(system.lines.values())
    missing = next(key for key in references.lines if key not in system.lines)
    raise FormatError(
        system.file,
        None,
        f"{system.name} has {len(system.lines):,} lines for {len(references.lines):,} of {references.file}, "
        f"and none has the id {missing!r}",
        "give as many lines, or the same ids",
    )


def _lines(path: Path, sample: Sample) -> Mapping[str, str]:
    several = "\n" in sample.text.strip()  # one JSON object with a text may be an engine's file
    if sniff_combined(sample) or (
        several and sample.is_json and '"text"' in sample.text and '"id"' in sample.text
    ):
        return _json_lines(path)
    source = open_source(path)
    plain = path.name.removesuffix(".gz").endswith(".txt") or detect(source).name == plain_text.NAME
    if plain:  # every line, also an empty one: there the system said nothing
        return {str(at): line for at, line in source.rows()}
    return {key: output.text for key, output in detect(source).read(source).outputs.items()}


def _json_lines(path: Path) -> Mapping[str, str]:
    source = open_source(path)
    lines: dict[str, str] = {}
    for at, line in source.rows():
        if not line.strip():
            continue
        record = parse(line, source, at)
        match record:
            case {"id": str(key), "text": str(text)} if key not in lines:
                lines[key] = text
            case {"id": str(key), "text": str()}:
                raise source.error(at, f"the id {key!r} was used before")
            case _:
                raise source.error(
                    at, 'a line is an object with "id" and "text"', "as galloon combine --json prints"
                )
    return lines


def names_differ(systems: Sequence[Texts]) -> list[Texts]:
    """The systems with a number added to names that come again."""
    seen: dict[str, int] = {}
    result = []
    for system in systems:
        seen[system.name] = seen.get(system.name, 0) + 1
        again = seen[system.name]
        name = system.name if again == 1 else f"{system.name}~{again}"
        result.append(Texts(name, system.file, system.lines))
    return result
