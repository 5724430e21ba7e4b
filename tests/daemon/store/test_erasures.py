"""The list of what was erased is read again, whatever is in an id."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from galloon.daemon.store.erasures import Erasure, ErasureList


@given(ids=st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8), min_size=1, max_size=3))
def test_a_list_is_read_again_whatever_is_in_an_id(ids, tmp_path_factory):
    """Some characters end a line for Python alone: a daemon that cannot read its list does not start."""
    path = tmp_path_factory.mktemp("erasures") / "erased.jsonl"
    erasures = [Erasure("a", 1.0, tuple(ids)), Erasure("a", 2.0, ("\u2028", "\x85", "\x1c", "\n"))]
    known = ErasureList(path)
    for erasure in erasures:
        known.add(erasure)
    again = ErasureList(path)
    assert again.of("a") == erasures
    again.finish(erasures[0])
    assert not ErasureList(path).is_finished(erasures[1])
    assert ErasureList(path).is_finished(erasures[0])


def test_a_line_that_a_crash_cut_short_is_passed_over(tmp_path: Path):
    path = tmp_path / "erased.jsonl"
    ErasureList(path).add(Erasure("a", 1.0, ("x",)))
    with path.open("a") as file:
        file.write('{"learner": "a", "ti')
    assert len(ErasureList(path).of("a")) == 1
