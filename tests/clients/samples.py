"""Small learners, utterances and lattices that several tests use."""

from pathlib import Path

from galloon.clients.samples import asr_sample
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance

EXPERTS = ("a", "b", "c")
BIGRAMS = CombinerSpec(
    engines=EXPERTS, algorithm="expanded_hedge", gain={"kind": "ngram", "order": 2}, window=4, seed=3
)
SCORED = CombinerSpec(
    engines=EXPERTS, algorithm="exp3_paths", gain={"kind": "arbitrary", "bound": 1.0}, window=8, seed=5
)
TRUTH = ("the", "cat", "sat")


def aligned(id_: str, slots: int = 3) -> Utterance:
    """Expert a is right, b errs in the second of three slots, c in the first."""
    columns = {"a": TRUTH, "b": ("the", "hat", "sat"), "c": ("a", "cat", "sat")}
    return Utterance.of_slots(id_, {name: (column * slots)[:slots] for name, column in columns.items()})


def truth(slots: int = 3) -> tuple[str, ...]:
    return (TRUTH * slots)[:slots]


def lattice_samples() -> tuple[Path, ...]:
    """The bundled pocketsphinx word lattices (HTK SLF, gzipped), in order of name."""
    return tuple(sorted(asr_sample().parent.glob("lattices/*/*.slf.gz")))
