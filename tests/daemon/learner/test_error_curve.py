"""Error counts in blocks: bounded, and at every moment the sums of what was entered and not removed."""

import json
from random import Random

from galloon.daemon.learner.error_curve import MOST_BLOCKS, ErrorCurve, Rates, added
from galloon.learners.evaluation.error_rate import ErrorCounts

NAMES = ("a", "b", "galloon")


def counted(drawn: Random) -> dict[str, Rates]:
    """One correction in which not everybody took part."""
    length = drawn.randint(1, 9)
    own = drawn.randint(0, 3)
    spoke = [name for name in NAMES if name == "galloon" or drawn.random() < 0.7]
    return {
        name: Rates(ErrorCounts(drawn.randint(0, 3), 0, 0, length), ErrorCounts(0, 1, 0, 40), own, own, 1)
        for name in spoke
    }


def total(curve: ErrorCurve) -> dict[str, Rates]:
    sums: dict[str, Rates] = {}
    for block in curve.blocks:
        sums = added(sums, block.sums)
    return {name: rates for name, rates in sums.items() if rates != Rates()}


def test_blocks_are_the_sums_of_the_corrections_between_their_places():
    """Against the obvious way: all corrections in a list, added up again for each block."""
    drawn, curve = Random(1), ErrorCurve()
    entered: dict[int, dict[str, Rates]] = {}
    for place in range(3, 3_000, 3):
        entered[place] = counted(drawn)
        curve = curve.entered(entered[place], place)
        if drawn.random() < 0.2:  # a correction is withdrawn, wherever it stands
            gone = drawn.choice(list(entered))
            curve = curve.removed(entered.pop(gone), gone)
        assert len(curve.blocks) <= MOST_BLOCKS
    assert curve.stride == 8
    first = 0
    for block in curve.blocks:
        sums: dict[str, Rates] = {}
        for place, rates in entered.items():
            if first < place <= block.last:
                sums = added(sums, rates)
        assert {name: rates for name, rates in block.sums.items() if rates != Rates()} == sums
        first = block.last
    assert {block.corrections for block in curve.blocks[:-1]} == {curve.stride}
    assert ErrorCurve.from_json(json.loads(json.dumps(curve.to_json()))) == curve


def test_what_is_removed_twice_over_leaves_nothing():
    drawn, curve = Random(2), ErrorCurve()
    corrections = {place: counted(drawn) for place in range(1, 400)}
    for place, rates in corrections.items():
        curve = curve.entered(rates, place)
    for place, rates in corrections.items():
        curve = curve.removed(rates, place)
    assert total(curve) == {}
    assert curve.removed(corrections[1], 10_000) is curve, "a place that was never entered"
