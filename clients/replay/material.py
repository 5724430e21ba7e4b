"""The utterances of a file as a learner will see them: `read_material`, and the normaliser that fits them.

Every utterance gets the same experts in the same order; one that an engine said nothing of gets an empty output,
because the daemon wants to hear of every expert. What the learner must not see stays with us: the target and all
labels that it was not given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path

from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.formats.notes import Note, NoteBook
from galloon.clients.formats.utterances import read_utterances
from galloon.learners.observation import ExpertOutput, Utterance

SPEECH = "asr"  # value of the label `kind` that speech recognisers' files carry
KIND = "kind"


class Input(StrEnum):
    """How much of an engine's output is sent."""

    BEST = "1best"
    NBEST = "nbest"
    LATTICE = "lattice"


@dataclass(frozen=True, slots=True)
class Material:
    """Utterances with the same experts each, and what the reader could not use."""

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
    return Material(*same_experts(utterances, experts, most), notes.notes())


def same_experts(
    utterances: Iterable[Utterance], experts: tuple[str, ...] = (), most: Input = Input.LATTICE
) -> tuple[tuple[Utterance, ...], tuple[str, ...]]:
    """The utterances, each with exactly these experts (default: all, in the order of their appearance)."""
    utterances = tuple(utterances)
    known = tuple(dict.fromkeys(output.name for entry in utterances for output in entry.outputs))
    for name in experts:
        if name not in known:
            raise WrongUsage(f"no engine is called {name!r}; the file has {', '.join(known)}")
    if len(set(experts)) != len(experts):
        raise WrongUsage(f"an expert is named twice: {', '.join(experts)}")
    chosen = experts or known
    return tuple(with_experts(entry, chosen, most) for entry in utterances), chosen


def with_experts(utterance: Utterance, experts: tuple[str, ...], most: Input = Input.LATTICE) -> Utterance:
    """The utterance with exactly these experts."""
    return replace(utterance, said=_outputs(utterance, experts, most))


def shown_to_learner(utterance: Utterance, name: str, labels: tuple[str, ...]) -> Utterance:
    """What goes to the daemon, under this name."""
    seen = {label: utterance.labels[label] for label in labels if label in utterance.labels}
    return Utterance(name, utterance.outputs, None, seen)


def normalizer_for(utterances: Iterable[Utterance]) -> str:
    """Punctuation and case are part of a page, but not of speech."""
    kinds = {utterance.labels.get(KIND) for utterance in utterances}
    return "basic-speech" if kinds == {SPEECH} else "basic"


def _outputs(utterance: Utterance, experts: tuple[str, ...], most: Input) -> tuple[ExpertOutput, ...]:
    said: Mapping[str, ExpertOutput] = {output.name: output for output in utterance.outputs}
    return tuple(_cut(said[name], most) if name in said else ExpertOutput(name, ()) for name in experts)


def _cut(output: ExpertOutput, most: Input) -> ExpertOutput:
    match most:
        case Input.BEST:
            return replace(output, nbest=(), lattice=None)
        case Input.NBEST:
            return replace(output, lattice=None)
        case Input.LATTICE:
            return output
