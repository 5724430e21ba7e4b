"""Every gain as the rational kernel that it is: U(x, y) = sum over all paths of x o T o W o T^-1 o y.

`rational_utility` computes a gain through OpenFst. It shares no code with the definition nor with the
compiled gains, and the tests hold the three against each other.
"""

from collections.abc import Sequence

from galloon.learners.errors import InvalidInput
from galloon.learners.gains.count_gain import CountGain
from galloon.learners.gains.gain import Gain
from galloon.learners.gains.pattern_trie import NULL_TOKEN
from galloon.learners.gains.slot_match import SlotMatch
from tests.reference.counting import (
    Alphabet,
    counting_transducer,
    kernel_value,
    slot_transducer,
    weighting_of,
    weighting_of_all,
)


def rational_utility(gain: Gain, output: Sequence[str], target: Sequence[str]) -> float:
    """The gain of an output, computed by composing weighted transducers."""
    if isinstance(gain, SlotMatch):
        alphabet = Alphabet.of(output, target)
        counting = slot_transducer(alphabet, len(target))
        return kernel_value(alphabet.string(output), alphabet.string(target), counting)
    if not isinstance(gain, CountGain):
        raise InvalidInput(f"the gain {gain.name!r} is not a rational kernel")
    patterns = gain.weights or {}
    alphabet = Alphabet.of(output, target, *patterns)
    counting = counting_transducer(alphabet, gain.lengths, gain.discount, gain.max_gap)
    weighting = (
        weighting_of_all(alphabet, None if gain.count_nulls else NULL_TOKEN)
        if gain.weights is None
        else weighting_of(alphabet, {pattern: gain.weight(pattern) for pattern in patterns})
    )
    return kernel_value(alphabet.string(output), alphabet.string(target), counting, weighting)
