"""A filter that never forgets an id and seldom takes a new one for known."""

from random import Random

from galloon.daemon.learner.id_filter import IdFilter


def keys(count: int, seed: int) -> list[int]:
    draw = Random(seed)
    return [draw.getrandbits(64) - 2**63 for _ in range(count)]


def test_many_at_once_are_known_as_one_by_one():
    known = keys(30_000, 1)
    one, all_at_once = IdFilter(), IdFilter()
    for key in known:
        one.add(key)
    all_at_once.add_all(known[:777])
    all_at_once.add_all(known[777:])
    all_at_once.add_all([])
    assert one._blocks == all_at_once._blocks
    assert one._room == all_at_once._room
    assert all(all_at_once.may_know(key) for key in known)


def test_of_a_hundred_new_ids_one_is_looked_for_in_vain():
    made = IdFilter()
    made.add_all(keys(200_000, 1))
    assert sum(made.may_know(key) for key in keys(20_000, 2)) < 300
    assert made.size <= 200_000 * 5


def test_before_all_are_known_any_may_be():
    assert IdFilter(complete=False).may_know(1)
    assert not IdFilter().may_know(1)
