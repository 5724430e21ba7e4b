"""Whatever is in a file, a reader either reads it or says what is wrong."""

import pytest

from galloon.clients.formats.registry import FORMATS, Format
from tests.clients.formats.fuzz import broken_copies, read_broken


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.name)
def test_broken_files_are_read_or_refused_with_a_sentence(entry: Format):
    """Of 200 broken copies none brings out anything but a ClientError; what is read can be written again."""
    refused = sum(not read_broken(golden, data) for golden, data in broken_copies(entry, 200, seed=7))
    assert 0 < refused < 200  # the damage is real, yet not so great that nothing gets past the first check


def test_the_same_seed_gives_the_same_damage():
    """A failure can be found again."""
    first, second = (list(broken_copies(FORMATS[0], 5, seed=3)) for _ in range(2))
    assert first == second
