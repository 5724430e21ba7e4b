"""The bench of absent engines: with a third of the outputs missing galloon is better than the vote and the
best engine.
"""

from bench.absence import compared, with_absent
from bench.progressive import FIRST_FIVE
from galloon.clients.replay.material import Input, read_material
from galloon.clients.samples import ocr_sample


def test_galloon_makes_do_without_engines_that_do_not_answer():
    material = with_absent(read_material(ocr_sample(), FIRST_FIVE, 120, Input.BEST))
    assert all(1 <= len(utterance.outputs) <= 5 for utterance in material.utterances)
    found = compared(material)
    assert found["absent"] < min(found["vote"], found["best_engine"])
