"""The numbers of the alignment, in one place, with what each is for.

Costs are in thousandths of the cost of two tokens that have nothing in common. None is fitted to any data:
error rates of the votes and the oracle hardly move over wide ranges around each (gap 600 to 1500, lowest
substitution 0 to 600).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from galloon.learners.errors import InvalidInput
from galloon.learners.kernels.word_slots import AlignmentCosts

ANCHORS_NEEDED = 3  # least number of common words of two engines for fitting one's times to the other's


@dataclass(frozen=True, slots=True)
class AlignmentSettings:
    """How outputs become slots."""

    # A token against null. As dear as two unrelated tokens, as in the word error rate: so two experts that
    # differ share a slot and are alternatives, instead of standing in two slots side by side.
    gap_cost: int = 1000
    # Two different tokens, from one edit in a long word to nothing in common. The step from equal (0) to
    # nearly equal keeps equal tokens in one slot: slots are there for counting them.
    like_cost: int = 300
    unlike_cost: int = 1000
    # A blank against a letter (unit char): as dear as two gaps, so that blanks face blanks.
    blank_cost: int = 2000
    # On top, for tokens that do not overlap in time, where both engines' clocks are known to agree. Small:
    # text decides, times only choose between places that fit about as well.
    time_cost: int = 200
    # Steps of the exact dynamic programme (cells times moves) up to which it is used; beyond, profiles. For
    # three experts that is 24 words each; with more, what lies between common beginnings and ends is often
    # short enough.
    exact_steps: int = 1 << 17
    # Rounds of re-aligning each expert against the others, at most.
    refinement_passes: int = 4
    # First half-width of the band around the diagonal in long lines; doubled until provably wide enough, as
    # far as `effort` allows: cells times experts over all pairwise alignments (a second or two).
    band: int = 24
    effort: int = 1 << 29
    # Nobody's words are cut at others' blanks: an engine that splits words would split them for all. If asked
    # for, a token that one expert has glued together from up to so many words is cut at the others' blanks if at
    # least so many percent of its letters are theirs. 0 words leaves every token whole.
    glued_words: int = 0
    likeness_percent: int = 90
    # Arcs of a lattice that are less probable than this are left out: of 1,300 some 300 stay, with 99 % of what
    # is probable.
    least_arc_posterior: float = 0.001
    # How many units of log score one unit of unlikeness to the slots is worth when arcs are put into slots.
    lattice_trust: float = 2.0
    # An alternative less probable than this is not offered, nor more than so many of one expert in a slot.
    least_posterior: float = 0.01
    alternatives: int = 2
    # Arcs of a lattice, (arcs plus states) times slots, and different tokens times the slots' different
    # tokens, at most.
    lattice_arcs: int = 200_000
    # Cells of all passes of decoding one lattice by its risk, a hundred times what one of an utterance takes and a
    # third of a second: what is larger says the engine's own words.
    risk_cells: int = 1 << 24
    lattice_steps: int = 1 << 26
    lattice_pairs: int = 1 << 22
    # Slots of one utterance at most: time and memory grow with the square of the length.
    slot_limit: int = 4096
    expert_limit: int = 64
    # Letters of one word, and the sum of their squares over all different words: words are compared letter by
    # letter, and these keep the comparisons of one utterance below about a second and 100 MB.
    letter_limit: int = 1024
    letter_steps: int = 1 << 26
    vocabulary_limit: int = 2048  # different tokens of one utterance: costs are a table of all pairs
    # Some of the above as kernels take them, made once.
    costs: tuple[int, ...] = field(init=False, repr=False, compare=False)  # the fields of `AlignmentCosts`
    unlike_bounds: NDArray[np.int64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.like_cost <= self.unlike_cost <= 2 * self.gap_cost:
            raise InvalidInput(
                "alignment costs must keep 0 <= like_cost <= unlike_cost <= 2 gap_cost, else no two "
                f"different tokens ever share a slot: {self.like_cost}, {self.unlike_cost}, {self.gap_cost}"
            )
        costs = AlignmentCosts(
            gap=self.gap_cost,
            like=self.like_cost,
            unlike=self.unlike_cost,
            time=self.time_cost,
            exact_steps=self.exact_steps,
            passes=self.refinement_passes,
            band=self.band,
            effort=self.effort,
            anchors_needed=ANCHORS_NEEDED,
            likeness_percent=self.likeness_percent,
            glued_words=self.glued_words,
        )
        object.__setattr__(self, "costs", tuple(costs))
        object.__setattr__(self, "unlike_bounds", np.array([costs.like, costs.unlike], dtype=np.int64))


DEFAULT_SETTINGS = AlignmentSettings()
