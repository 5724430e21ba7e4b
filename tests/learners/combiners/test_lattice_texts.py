"""An engine's lattice decides what it says: alone, untaught, taught, over restarts."""

from dataclasses import replace

import numpy as np
import pytest

from galloon.learners import state
from galloon.learners.combiners.carry_over import carry_over
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.combiners.text import STATE_VERSION, TextCombiner
from galloon.learners.combiners.text_round import TextRound
from galloon.learners.errors import DamagedState, InvalidInput
from galloon.learners.observation import ArcScores, ExpertOutput, Lattice, Utterance, Word

SLOTS = ("the", "old", "grey", "whale")


def lattice(*slots, acoustic=None):
    """A confusion network: of each slot its words with their probabilities."""
    rows = [
        (place, word, probability) for place, slot in enumerate(slots) for word, probability in slot.items()
    ]
    parts = None if acoustic is None else ArcScores(np.array(acoustic, dtype=np.float64), acoustic_scale=0.1)
    return Lattice(
        len(slots) + 1,
        0,
        (len(slots),),
        np.array([row[0] for row in rows], dtype=np.int32),
        np.array([row[0] + 1 for row in rows], dtype=np.int32),
        tuple(row[1] for row in rows),
        np.log([row[2] for row in rows]),
        parts=parts,
    )


def heard(text, graph, name="a", **more):
    words = tuple(Word(word, 0.5, float(i), i + 0.9) for i, word in enumerate(text.split()))
    return ExpertOutput(name, words, lattice=graph, **more)


def combiner(engines=("a",), **fields):
    return TextCombiner(CombinerSpec(engines, **{"normalizer": "basic", **fields}))


# Most paths say nothing first.
DOUBTFUL = lattice({"Call": 0.4, "": 0.6}, {"me": 1.0}, {"Ishmael": 0.7, "fish": 0.3})


def test_a_lattice_alone_is_answered_with_its_words_of_least_risk():
    choice = combiner().choose(Utterance("1", (heard("call me fish", DOUBTFUL),)), 0)
    assert choice.text == "me Ishmael"
    assert combiner().choose(Utterance("1", (heard("call me fish", None),)), 0).text == "call me fish"


def test_the_engines_own_words_keep_their_form_and_place_where_they_are_confirmed():
    choice = combiner().choose(Utterance("1", (heard("Me FISH", DOUBTFUL),)), 0)
    assert choice.text == "Me Ishmael"


def test_characters_are_decoded_too():
    graph = lattice({"cal": 0.4, "call": 0.6}, {"me": 1.0})
    choice = combiner(unit="char").choose(Utterance("1", (heard("cal me", graph),)), 0)
    assert choice.text == "call me"


def taught(made, count, start=0):
    """The lattice is sure and wrong, the engine's own words are right: these are learned to be better."""
    draws = np.random.default_rng(start)
    for number in range(start, start + count):
        truth = " ".join(draws.permutation(SLOTS)[:3])
        wrong = lattice(*({word: 0.3, word + "x": 0.7} for word in truth.split()))
        choice = made.choose(Utterance(str(number), (heard(truth, wrong),)), number)
        made.observe(choice.memory, choice.view)
        made.learn(choice.memory, TrueText(truth))
        yield truth, choice


def test_an_engine_whose_lattice_is_worse_than_its_words_gets_its_words_back():
    rounds = list(taught(combiner(), 30))
    assert all(choice.text != truth for truth, choice in rounds[:1])
    assert all(choice.text == truth for truth, choice in rounds[-10:])


def test_scales_are_part_of_the_state_and_of_the_memory():
    made = combiner()
    list(taught(made, 12))
    again = combiner()
    again.restore(made.to_bytes())
    assert again.digest() == made.digest()
    for (_, one), (_, other) in zip(taught(made, 12, 12), taught(again, 12, 12), strict=True):
        assert one.memory == other.memory
    assert again.digest() == made.digest()
    described = made.statistics().extra["lattice_scales"]["a"]
    assert described["own_words"] == 1.0


def test_a_state_without_scales_is_one_of_an_engine_without_lattices():
    made = combiner()
    list(taught(made, 12))
    found = state.unpack(made.to_bytes(), "text_combiner", STATE_VERSION)
    older = {name: array for name, array in found.arrays.items() if not name.startswith("scales.")}
    again = combiner()
    again.restore(state.pack("text_combiner", STATE_VERSION, found.meta, older))
    assert again.statistics().extra["lattice_scales"] == {}
    plain = combiner()
    choice = plain.choose(Utterance("1", (heard("call me", None),)), 0)
    plain.learn(choice.memory, TrueText("call me"))
    assert not [
        name for name in state.unpack(plain.to_bytes(), "text_combiner", 1).arrays if "scales" in name
    ]


def test_scales_stay_with_engines_that_stay():
    made = combiner(("z", "a"))
    list(taught(made, 30))
    grown = carry_over(made, replace(made.spec, engines=("a", "new")))
    assert grown.statistics().extra["lattice_scales"].keys() == {"a"}


@pytest.mark.parametrize(
    "forged",
    [[2, [["a"]], [0] * 8], [0, [["a"]], [1] * 8], [0, [["a"]], [0] * 7], [0, [[1]], [0] * 8], [0, "a"], 7],
)
def test_forged_decodings_are_refused(forged):
    choice = combiner().choose(Utterance("1", (heard("call me fish", DOUBTFUL),)), 0)
    played = TextRound.from_bytes(choice.memory, ("a",), 3)
    assert played.decoded["a"].at(1) == ("call", "me", "fish")

    class Forged:
        grid, texts, numbers = forged if isinstance(forged, list) and len(forged) == 3 else (forged, [], [])

    with pytest.raises(DamagedState):
        TextRound.from_bytes(replace(played, decoded={"a": Forged}).to_bytes(("a",)), ("a",), 3)


def test_acoustic_scores_are_weighed_against_language():
    """At the file's scale the first word wins, at a tenth of the acoustic score the second."""
    graph = lattice({"whale": 0.9, "wale": 0.1}, acoustic=[-90.0, -10.0])
    graph = replace(graph, parts=replace(graph.parts, acoustic_scale=1e-6))
    assert combiner().choose(Utterance("1", (heard("whale", graph),)), 0).text == "wale"


def test_lattices_of_any_legal_size_are_bounded():
    """A hundred thousand arcs, long and wide; cycles and odd numbers are refused by name."""
    for states, width in ((20_001, 5), (1_001, 100)):
        sources = np.repeat(np.arange(states - 1), width).astype(np.int32)
        words = tuple(f"w{place % width}" for place in range(len(sources)))
        scores = -0.01 * (np.arange(len(sources)) % width)
        graph = Lattice(states, 0, (states - 1,), sources, sources + 1, words, scores)
        choice = combiner().choose(Utterance("1", (heard("w0 w1", graph),)), 0)
        assert choice.text.startswith("w0 w1")
    loop = replace(graph, targets=np.where(sources == 5, 2, sources + 1).astype(np.int32))
    odd = replace(graph, log_scores=np.where(sources == 5, np.nan, graph.log_scores))
    acoustic = replace(graph, parts=ArcScores(np.where(sources == 5, np.inf, 1.0)))
    for wrong, words in ((loop, "has a cycle"), (odd, "not a finite number"), (acoustic, "finite acoustic")):
        with pytest.raises(InvalidInput, match=words):
            combiner().choose(Utterance("1", (heard("w0", wrong),)), 0)
