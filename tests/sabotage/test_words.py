"""A defect of the daemon is told to the client as a defect, without its words."""

from galloon.daemon.errors import Internal, refusal
from tests.abuse.words import has_internal_text


def test_a_defect_says_nothing_of_the_inside():
    """Whatever an exception says stays in the log."""
    refused = refusal(KeyError("/site-packages/secret.py"))
    assert isinstance(refused, Internal)
    assert not has_internal_text(str(refused))
