"""Lattices as text for OpenFst, an acceptor in the log or tropical semiring: `write_fst_text`, `write_symbols`.

Labels are numbers of one table for all lattices of a folder, 0 for nothing; costs are negative natural logarithms.
`fstcompile --acceptor` compiles it, and `read_openfst_text` reads it with the table beside it.
"""

from collections.abc import Mapping

from galloon.learners.observation import Lattice

NOTHING = "<eps>"


def write_fst_text(lattice: Lattice, numbers: dict[str, int]) -> str:
    """The lattice as AT&T text; words that are not yet in the table get the next number."""
    rows = [
        f"{begin}\t{end}\t{numbers.setdefault(word, len(numbers) + 1) if word else 0}\t{0.0 - score!r}"
        for begin, end, word, score in zip(
            lattice.sources.tolist(),
            lattice.targets.tolist(),
            lattice.words,
            lattice.log_scores.tolist(),
            strict=True,
        )
    ]
    # The state that is named first is the initial one.
    rows.sort(key=lambda row: not row.startswith(f"{lattice.initial}\t"))
    return "".join(f"{row}\n" for row in (*rows, *map(str, lattice.finals)))


def write_symbols(numbers: Mapping[str, int]) -> str:
    """The table as OpenFst and Kaldi have it."""
    return "".join(f"{word}\t{number}\n" for word, number in ((NOTHING, 0), *numbers.items()))
