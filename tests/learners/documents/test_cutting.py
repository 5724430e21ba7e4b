"""Long lines are cut where engines agree: `learners.documents.cutting`."""

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.learners.documents.cutting import cut_points, pieces
from galloon.learners.observation import Utterance
from galloon.learners.unit import CHAR, WORD


def _heard(rng: random.Random, truth: list[str], rate: float) -> tuple[list[str], list[int]]:
    """What an engine makes of a text, and of which true word each of its words is."""
    words, origins = [], []
    for place, word in enumerate(truth):
        draw = rng.random()
        if draw < rate / 3:
            continue
        words.append(f"x{rng.randrange(50)}" if draw < 2 * rate / 3 else word)
        origins.append(place)
        if draw > 1 - rate / 3:
            words.append("uh")
            origins.append(place)
    return words, origins


def test_engines_are_cut_at_the_same_words() -> None:
    rng = random.Random(1)
    truth = [f"w{rng.randrange(400)}" for _ in range(9000)] * 2  # the second half repeats the first
    heard = [_heard(rng, truth, rate) for rate in (0.05, 0.2, 0.4)]
    cuts = cut_points([words for words, _ in heard], 500)
    assert len(cuts) > 20
    for cut in cuts[1:-1]:
        places = [origins[at] for (_, origins), at in zip(heard, cut, strict=True)]
        assert max(places) - min(places) <= 6, places


def test_an_engine_that_skips_much_is_found_again() -> None:
    rng = random.Random(2)
    truth = [f"w{rng.randrange(3000)}" for _ in range(6000)]
    cuts = cut_points([truth, truth[:1000] + truth[1300:], truth], 400)
    for whole, short, _ in cuts[3:-1]:
        assert truth[whole : whole + 3] == (truth[:1000] + truth[1300:])[short : short + 3] or whole < 1700


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.lists(st.sampled_from("a b c d e f g".split()), max_size=120), min_size=1, max_size=4),
    size=st.integers(4, 20),
)
def test_nothing_is_lost_and_pieces_are_short(texts: list[list[str]], size: int) -> None:
    cuts = cut_points(texts, size)
    for engine, words in enumerate(texts):
        bounds = [cut[engine] for cut in cuts]
        assert bounds == sorted(bounds)
        assert bounds[0] == 0
        assert bounds[-1] == len(words)
        assert max(b - a for a, b in pairwise(bounds)) <= 2 * size


def test_a_short_line_stays_whole() -> None:
    line = Utterance.of_texts("u", {"a": "one two", "b": "one too"})
    assert pieces(line, WORD) == [line]


def test_pieces_have_ids_of_their_own_and_fewer_words_where_tokens_are_characters() -> None:
    text = " ".join(f"w{n}" for n in range(3000))
    line = Utterance.of_texts("u", {"a": text, "b": text})
    found = pieces(line, WORD)
    assert [piece.id for piece in found][:2] == ["u", "u+2"]
    assert " ".join(piece.outputs[1].text for piece in found) == text
    assert len(pieces(line, CHAR)) > 2 * len(found)
