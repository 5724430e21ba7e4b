"""How long words may be, by arithmetic before any two are compared: `check_letters`."""

from collections.abc import Sequence

from galloon.learners.alignment.settings import AlignmentSettings
from galloon.learners.errors import BudgetExceeded

ADVICE = "cut the utterance into shorter ones, or use the unit char"


def check_letters(vocabulary: Sequence[str], settings: AlignmentSettings) -> None:
    """Refuse words whose comparison would take too long: its cost grows with the square of their letters."""
    lengths = list(map(len, vocabulary))
    longest = max(lengths, default=0)
    if longest > settings.letter_limit:
        raise BudgetExceeded("letters of one word", longest, settings.letter_limit, ADVICE)
    if longest * longest * len(lengths) > settings.letter_steps:
        steps = sum(length * length for length in lengths)
        if steps > settings.letter_steps:
            raise BudgetExceeded("letters of all words, squared", steps, settings.letter_steps, ADVICE)
