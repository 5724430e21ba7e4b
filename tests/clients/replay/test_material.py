"""What a learner sees of a file: the same experts each time, no truth, and only the labels it was given."""

from pathlib import Path

import pytest

from galloon.clients.api.errors import WrongUsage
from galloon.clients.replay.material import Input, normalizer_for, read_material, shown_to_learner
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.learners.observation import Utterance
from tests.clients.replays import record, write


def test_an_engine_without_an_output_is_absent(tmp_path: Path):
    """An empty output stays one: that engine ran and said nothing."""
    file = write(tmp_path / "u.jsonl", record(0, a="x", b="y"), record(1, c="z", b=""))
    material = read_material(file)
    assert material.experts == ("a", "b", "c")
    assert [{output.name: output.text for output in entry.outputs} for entry in material.utterances] == [
        {"a": "x", "b": "y"},
        {"b": "", "c": "z"},
    ]
    some = read_material(file, ("c", "a"))
    assert some.experts == ("c", "a")
    assert [[output.name for output in entry.outputs] for entry in some.utterances] == [["a"], ["c"]]
    only = read_material(file, ("a",))
    assert len(only.utterances) == 1
    assert "none of these engines ran" in str(only.notes[0])
    with pytest.raises(WrongUsage, match="has a, b, c"):
        read_material(file, ("d",))


def test_the_learner_sees_no_truth_and_no_other_label():
    utterance = Utterance("u", (), "the truth", {"domain": "fax", "source": "secret"})
    seen = shown_to_learner(utterance, "u@7", ("domain", "speaker"))
    assert (seen.id, seen.target, seen.labels) == ("u@7", None, {"domain": "fax"})


@pytest.mark.parametrize(("sample", "name"), [(ocr_sample, "basic"), (asr_sample, "basic-speech")])
def test_the_normaliser_fits_the_kind(sample, name: str):
    assert normalizer_for(read_material(sample(), limit=5).utterances) == name


def test_how_much_of_an_engine_is_sent():
    def sent(most: Input) -> tuple[bool, bool]:
        outputs = [o for u in read_material(asr_sample(), limit=70, most=most).utterances for o in u.outputs]
        return any(o.nbest for o in outputs), any(o.lattice for o in outputs)

    assert [sent(most) for most in Input] == [(False, False), (True, False), (True, True)]
