"""Short versions of `python -m bench update` and `python -m bench late`, through a real daemon."""

from bench import late, update
from bench.progressive import FIRST_FIVE
from galloon.clients.replay.material import Input, read_material
from galloon.clients.samples import ocr_sample


def test_a_learner_that_was_changed_is_one_that_had_it_so_from_the_start():
    material = read_material(ocr_sample(), FIRST_FIVE, limit=24, most=Input.BEST)
    before, *changes = update.measured(material, (8, 14, 18)).values()
    assert before["wer"] == before["wer_from_start"]
    for change in changes:
        assert change["rebuilt_equals_from_start"] == 1
        assert change["wer_rebuilt"] == change["wer_from_start"]
    assert [change["carried_without_history"] for change in changes] == [1, 1, 0]


def test_late_corrections_are_all_learned_and_counted():
    found = late.measured(40, following=20)
    assert found["at-once"]["lessons"] == found["late"]["lessons"] == 40
    assert found["at-once"]["words_in_the_books"] == found["late"]["words_in_the_books"] > 0
