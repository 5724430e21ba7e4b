"""What engines say of a known truth, in every form that a client can send; a function of the truth and the id.

`FORMS` has slots that are aligned already, plain texts, n-best lists, lattices, and texts with labels.
"""

from collections.abc import Callable
from random import Random

import numpy as np

from galloon.learners.observation import ExpertOutput, Hypothesis, Lattice, Utterance, Word

ENGINES = ("a", "b", "c")
WORDS = ("the", "a", "cat", "hat", "sat", "mat", "")
Truth = tuple[str, ...]  # a token of each slot, the empty one for null


def slots(id_: str, truth: Truth) -> Utterance:
    random = Random(f"offers {id_}")
    return Utterance.of_slots(id_, {name: _misheard(truth, random) for name in ENGINES})


def texts(id_: str, truth: Truth) -> Utterance:
    random = Random(f"texts {id_}")
    return Utterance(id_, tuple(ExpertOutput(name, _words(truth, random)) for name in ENGINES))


def labelled(id_: str, truth: Truth) -> Utterance:
    """Texts, with a label that most utterances have."""
    random = Random(f"labels {id_}")
    outputs = tuple(ExpertOutput(name, _words(truth, random), confidence=random.random()) for name in ENGINES)
    return Utterance(id_, outputs, labels={} if random.random() < 0.2 else {"page": random.choice("xyz")})


def nbest(id_: str, truth: Truth) -> Utterance:
    random = Random(f"n-best {id_}")
    outputs = []
    for name in ENGINES:
        lists = [_words(truth, random) for _ in range(random.randint(1, 3))]
        entries = tuple(Hypothesis(words, -1.0 * place) for place, words in enumerate(lists))
        outputs.append(ExpertOutput(name, lists[0], nbest=entries if name != ENGINES[-1] else ()))
    return Utterance(id_, tuple(outputs))


def lattices(id_: str, truth: Truth) -> Utterance:
    random = Random(f"lattices {id_}")
    outputs = []
    for name in ENGINES:
        words = _words(truth, random)
        lattice = _lattice([word.text for word in words], random) if words and name != ENGINES[-1] else None
        outputs.append(ExpertOutput(name, words, lattice=lattice))
    return Utterance(id_, tuple(outputs))


FORMS: dict[str, Callable[[str, Truth], Utterance]] = {
    form.__name__: form for form in (slots, texts, labelled, nbest, lattices)
}


def _misheard(truth: Truth, random: Random) -> Truth:
    return tuple(word if random.random() < 0.8 else random.choice(WORDS) for word in truth)


def _words(truth: Truth, random: Random) -> tuple[Word, ...]:
    return tuple(Word(word, round(random.random(), 3)) for word in _misheard(truth, random) if word)


def _lattice(words: list[str], random: Random) -> Lattice:
    """A chain of the words, another one beside some of them."""
    arcs = [(state, state + 1, word, -random.random()) for state, word in enumerate(words)]
    arcs += [
        (state, state + 1, random.choice(WORDS), -1.0 - random.random())
        for state in range(len(words))
        if random.random() < 0.5
    ]
    sources, targets, labels, scores = zip(*arcs, strict=True)
    return Lattice(
        len(words) + 1,
        0,
        (len(words),),
        np.array(sources, dtype=np.int32),
        np.array(targets, dtype=np.int32),
        tuple(labels),
        np.array(scores),
    )
