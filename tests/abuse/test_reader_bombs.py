"""Files that are small to send and huge to read are refused by name; `make fault` measures what each costs."""

import pytest

from tests.abuse.reader_bombs import BOMBS, ReaderBomb, outcome
from tests.abuse.words import has_internal_text


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.name)
def test_a_file_that_unfolds_is_refused_in_a_sentence(bomb: ReaderBomb):
    """With the default limits; what is legal is read."""
    said = outcome(bomb, bomb.make())
    assert bool(said) == bomb.refused, said
    assert not has_internal_text(said), said
