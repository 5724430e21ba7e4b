"""The utterances of a file as a learner will see them: `read_material`, and the normaliser that fits them.

Every utterance has its engines in the same order. An engine that is not among its outputs is absent there: it did
not run, and is not played. What the learner must not see stays with us: the target and all labels that it was not
given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from pathlib import Path

from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.formats.notes import Note, NoteBook
from galloon.clients.formats.utterances import read_utterances
from galloon.learners.observation import ExpertOutput, Utterance

SPEECH = "asr"  # value of the label `kind` that speech recognisers' files carry
KIND = "kind"
LISTED = 16  # names of engines in an error


class Input(StrEnum):
    """How much of an engine's output is sent."""

    BEST = "1best"
    NBEST = "nbest"
    LATTICE = "lattice"


@dataclass(frozen=True, slots=True)
class Material:
    """Utterances, the engines that speak in them, and what the reader could not use."""

    utterances: tuple[Utterance, ...]
    experts: tuple[str, ...]
    notes: tuple[Note, ...] = ()

    @property
    def label_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for utterance in self.utterances for name in utterance.labels))


def read_material(
    path: Path, experts: tuple[str, ...] = (), limit: int | None = None, most: Input = Input.LATTICE
) -> Material:
    """Read a file; `experts` are a subset in an order of its own, `limit` bounds the utterances."""
    notes = NoteBook()
    found = islice(read_utterances(path, notes=notes, lattices=most is Input.LATTICE), limit)
    utterances = list(found)
    if not utterances:
        raise FormatError(str(path), None, "there are no utterances in it")
    if all(utterance.target is None for utterance in utterances):
        raise FormatError(
            str(path), None, 'no utterance has a true text ("target")', "combine it without: galloon combine"
        )
    chosen, names = same_experts(utterances, experts, most)
    spoken = tuple(utterance for utterance in chosen if utterance.outputs)
    for _ in range(len(chosen) - len(spoken)):
        notes.add("utterance left out in which none of these engines ran")
    return Material(spoken, names, notes.notes())


def same_experts(
    utterances: Iterable[Utterance], experts: tuple[str, ...] = (), most: Input = Input.LATTICE
) -> tuple[tuple[Utterance, ...], tuple[str, ...]]:
    """The utterances with what these experts said (default: all, in the order of their appearance)."""
    utterances = tuple(utterances)
    known = dict.fromkeys(output.name for entry in utterances for output in entry.outputs)
    for name in experts:
        if name not in known:
            raise WrongUsage(f"no engine is called {name!r}; the file has {shortened(tuple(known))}")
    if len(set(experts)) != len(experts):
        raise WrongUsage(f"an expert is named twice: {', '.join(experts)}")
    chosen = experts or tuple(known)
    return tuple(with_experts(entry, chosen, most) for entry in utterances), chosen


def with_experts(utterance: Utterance, experts: tuple[str, ...], most: Input = Input.LATTICE) -> Utterance:
    """The utterance with what these experts said, in their order."""
    return replace(utterance, said=_outputs(utterance, _seats(experts), most))


def shortened(names: tuple[str, ...]) -> str:
    """The names, or the first of hundreds."""
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")


def shown_to_learner(utterance: Utterance, name: str, labels: tuple[str, ...]) -> Utterance:
    """What goes to the daemon, under this name."""
    seen = {label: utterance.labels[label] for label in labels if label in utterance.labels}
    return Utterance(name, utterance.outputs, None, seen)


def normalizer_for(utterances: Iterable[Utterance]) -> str:
    """Punctuation and case are part of a page, but not of speech."""
    kinds = {utterance.labels.get(KIND) for utterance in utterances}
    return "basic-speech" if kinds == {SPEECH} else "basic"


@lru_cache(maxsize=8)
def _seats(experts: tuple[str, ...]) -> Mapping[str, int]:
    return {name: seat for seat, name in enumerate(experts)}


def _outputs(utterance: Utterance, seats: Mapping[str, int], most: Input) -> tuple[ExpertOutput, ...]:
    said = [_cut(output, most) for output in utterance.outputs if output.name in seats]
    return tuple(sorted(said, key=lambda output: seats[output.name]))


def _cut(output: ExpertOutput, most: Input) -> ExpertOutput:
    match most:
        case Input.BEST:
            return replace(output, nbest=(), lattice=None)
        case Input.NBEST:
            return replace(output, lattice=None)
        case Input.LATTICE:
            return output
