"""Nobody's first utterance waits for a compiler."""

from dataclasses import replace

import numpy as np
from numba.core.dispatcher import Dispatcher

from galloon.learners.alignment import VOTES, align, align_target, derive, heard_alternatives
from galloon.learners.kernels import (
    clock,
    exact_alignment,
    lattice,
    profile_alignment,
    slot_search,
    split_glued,
    target,
    token_distance,
    votes,
    word_slots,
)
from galloon.learners.observation import ExpertOutput, Lattice, Utterance, Word
from galloon.learners.unit import CHAR, WORD

MODULES = (
    clock,
    exact_alignment,
    profile_alignment,
    lattice,
    split_glued,
    slot_search,
    target,
    token_distance,
    votes,
    word_slots,
)


def signatures():
    return {
        f"{module.__name__}.{name}": len(kernel.signatures)
        for module in MODULES
        for name, kernel in vars(module).items()
        if isinstance(kernel, Dispatcher)
    }


def test_after_the_warm_up_no_call_compiles_anything():
    """Types and layouts of the arrays are those that the warm-up has shown to the compiler."""
    for module in MODULES:
        module.warm_up()
    before = signatures()
    graph = Lattice(
        3,
        0,
        (2,),
        np.array([0, 0, 1], dtype=np.int64),
        np.frombuffer(np.array([1, 1, 2], dtype=np.int32).tobytes(), dtype=np.int32),
        ("we", "be", ""),
        np.zeros(3),
        np.array([0.0, 1.0, 2.0]),
    )
    timed = tuple(Word(w, 0.5, float(i), i + 1.0) for i, w in enumerate("that we had a ship".split()))
    late = tuple(Word(w, None, float(i), i + 1.0) for i, w in enumerate("hat be had ship".split()))
    experts = (
        ExpertOutput("a", timed, lattice=graph),
        ExpertOutput("b", late),
        ExpertOutput("c", tuple(Word(w) for w in "thatwe had aship".split())),
        ExpertOutput("d", tuple(Word(w) for w in "cat see mad whip".split())),
        ExpertOutput("e", tuple(Word(w) for w in "fat knee sad drip of old and more".split())),
    )
    for unit in (WORD, CHAR):
        for some in (experts, experts[:2], experts[2:]):
            utterance = Utterance("u", some, "that we had a shop")
            network = align(utterance, unit)
            more = derive(heard_alternatives(network, utterance.outputs, unit), VOTES, "agreement")
            align_target(more, utterance.target, unit)
            # Arrays made elsewhere may be laid out or protected otherwise.
            odd = replace(more, tokens=np.asfortranarray(more.tokens))
            odd.tokens.flags.writeable = False
            align_target(
                derive(replace(odd, experts=tuple(map(str, range(len(more.experts))))), VOTES), "a", unit
            )
    assert {name: count for name, count in signatures().items() if count != before[name]} == {}
