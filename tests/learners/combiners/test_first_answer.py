"""The default learner before anybody has corrected anything, on lines of the samples."""

from dataclasses import replace
from itertools import islice

import pytest

from galloon.clients.formats.utterances import read_utterances
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import ExpertOutput, Utterance, Word

LINES = 60


def lines_of(path, count=LINES) -> list[Utterance]:
    """What engines said, without lattices and targets."""
    return [
        Utterance(u.id, tuple(replace(o, nbest=(), lattice=None) for o in u.outputs))
        for u in islice(read_utterances(path, lattices=False), count)
    ]


def untaught(lines: list[Utterance], engines: tuple[str, ...], **options: str) -> list[str]:
    combiner, texts = build(CombinerSpec(engines, normalizer="basic", options=options)), []
    for number, line in enumerate(lines):
        choice = combiner.choose(line, number)
        combiner.observe(choice.memory, choice.view)
        texts.append(choice.text)
    return texts


@pytest.mark.parametrize("sample", [ocr_sample, asr_sample])
def test_answers_do_not_depend_on_the_order_in_which_engines_are_listed(sample):
    lines = lines_of(sample())
    engines = tuple(output.name for output in lines[0].outputs)
    turned = [replace(line, said=line.outputs[::-1]) for line in lines]
    assert untaught(lines, engines) == untaught(turned, engines[::-1])


def test_an_engine_that_is_named_as_trusted_is_believed_from_the_first_line():
    said = {"good": "the whale", "poor": "a wail", "poorer": "a wail"}
    line = Utterance.of_texts("line", said)
    assert untaught([line], tuple(said), trusted="good") == ["the whale"]
    assert untaught([line], tuple(said)) == ["a wail"]


def test_an_engine_that_loops_changes_no_line_of_others_that_it_loops_in():
    lines = lines_of(ocr_sample(), 20)
    engines = tuple(output.name for output in lines[0].outputs)
    loop = tuple(Word(word) for word in "thanks for watching".split() * 9)
    more = [replace(line, said=(*line.outputs, ExpertOutput("loop", loop))) for line in lines]
    assert untaught(more, (*engines, "loop")) == untaught(lines, engines)
