"""The combined lattice out, read by galloon and by OpenFst: the same best path, the same posteriors."""

import math

import numpy as np
import pynini
import pytest
import pywrapfst
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.clients.formats.combined_lattice import LATTICE_FORMATS, LatticeWriter, lattice_of
from galloon.clients.formats.registry import detect, format_named
from galloon.clients.formats.source import open_source
from galloon.clients.formats.symbols import read_symbols
from galloon.codec.answer import Choice, SlotAlternative
from galloon.learners.kernels.lattice import posteriors

WORDS = st.sampled_from(["", "call", "me", "Ishmael", "1905", "well-known", 'a"b', "über", "<eps", "#x"])


@st.composite
def choices(draw):
    """Slots with up to four different tokens, whose probabilities sum to 1; the shown one has the most."""
    words, probabilities, others = [], [], []
    for slot in range(draw(st.integers(1, 4))):
        tokens = draw(st.lists(WORDS, min_size=1, max_size=4, unique=True))
        chances = sorted((draw(st.floats(0.05, 1.0)) for _ in tokens), reverse=True)
        chances = [chance / sum(chances) for chance in chances]
        words.append(tokens[0])
        probabilities.append(chances[0])
        others += [
            SlotAlternative(slot, token, ("a",), chance)
            for token, chance in zip(tokens[1:], chances[1:], strict=True)
        ]
    text = " ".join(filter(None, words))
    return Choice("u/1", 0, text, words, ["a"] * len(words), probabilities, 0.0, 0, alternatives=others)


def by_slot(lattice):
    """Probability by slot and word, from the file's scores alone."""
    finals = np.array(lattice.finals, dtype=np.int64)
    chances = posteriors(
        lattice.state_count, lattice.initial, finals, lattice.sources, lattice.targets, lattice.log_scores
    )
    rows = zip(lattice.sources.tolist(), lattice.words, chances.tolist(), strict=True)
    return {(slot, word): chance for slot, word, chance in rows}


def expected(choice):
    found = {
        (slot, word): p for slot, (word, p) in enumerate(zip(choice.words, choice.probabilities, strict=True))
    }
    return found | {(other.slot, other.token): other.probability for other in choice.alternatives}


def compiled(path, folder):
    """OpenFst's own reading of the text, in the log semiring."""
    compiler = pywrapfst.Compiler(arc_type="log64", acceptor=True)
    compiler.write(path.read_text())
    return compiler.compile(), read_symbols(folder / "words.txt")


@settings(deadline=None, max_examples=40)
@given(choice=choices())
def test_galloon_and_openfst_read_the_same_best_path_and_posteriors(choice, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    for form, ending in LATTICE_FORMATS.items():
        writer = LatticeWriter(folder / form, form)
        writer.add(choice.id, lattice_of(choice))
        writer.close()
        (path,) = (folder / form).glob(f"*{ending}")
        source = open_source(path)
        if form == "lattice":
            assert detect(source).name == "slf"
        reader = format_named("slf" if form == "lattice" else "openfst-text")
        ((_, output),) = reader.read(open_source(path)).outputs.items()
        found = by_slot(output.lattice)
        assert found == pytest.approx(expected(choice))
        top = {slot: max(p for (s, _), p in found.items() if s == slot) for slot, _ in found}
        if all(sum(p > 0.999 * top[slot] for (s, _), p in found.items() if s == slot) == 1 for slot in top):
            assert output.text == choice.text
    fst, symbols = compiled(path, folder / "openfst")
    ahead, behind = (
        [float(weight) for weight in pywrapfst.shortestdistance(fst, reverse=back)] for back in (False, True)
    )
    heard = {}
    for state in fst.states():
        for arc in fst.arcs(state):
            cost = ahead[state] + float(arc.weight) + behind[arc.nextstate] - behind[fst.start()]
            word = "" if arc.ilabel == 0 else symbols[str(arc.ilabel)]
            heard[state, word] = math.exp(-cost)
    assert heard == pytest.approx(expected(choice), rel=1e-5)
    tropical = pynini.Fst()
    for _ in fst.states():
        tropical.add_state()
    tropical.set_start(fst.start())
    for state in fst.states():
        tropical.set_final(state, float(fst.final(state)))
        for arc in fst.arcs(state):
            tropical.add_arc(state, pynini.Arc(arc.ilabel, arc.olabel, float(arc.weight), arc.nextstate))
    best = pynini.shortestpath(tropical).topsort()
    said = [arc.ilabel for state in best.states() for arc in best.arcs(state)]
    cost = float(pywrapfst.shortestdistance(best, reverse=True)[best.start()])
    assert cost == pytest.approx(-sum(math.log(p) for p in choice.probabilities), rel=1e-4, abs=1e-4)
    assert len(said) == len(choice.words)


def test_a_slot_without_a_probability_is_sure():
    choice = Choice("1", 0, "a b", ["a", "b"], ["x", "x"], [math.nan, 1.0], 0.0, 0)
    assert by_slot(lattice_of(choice)) == {(0, "a"): 1.0, (1, "b"): 1.0}
