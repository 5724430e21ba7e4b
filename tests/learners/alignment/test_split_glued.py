"""Glued words come apart where others have a blank, and nothing else changes."""

import numpy as np
from hypothesis import given, settings

from galloon.learners.alignment import AlignmentSettings, align
from galloon.learners.unit import WORD
from tests.learners.alignment.outputs import columns, utterance, utterances
from tests.reference.alignment import edit_distance, glued_windows, most_frequent_other

WHOLE, CUT = AlignmentSettings(glued_words=0), AlignmentSettings(glued_words=32)


def test_glued_words_are_cut_at_the_others_blanks():
    assert columns(align(utterance("that we had", "that we had", "thatwehad"), WORD, "basic", CUT)) == [
        ("that",) * 3,
        ("we",) * 3,
        ("had",) * 3,
    ]


def test_misread_letters_stay_as_they_were_read():
    network = align(
        utterance("the forest and they shall", "the forest and they shall", "theforeslandthey shall"),
        WORD,
        "basic",
        CUT,
    )
    assert columns(network)[1] == ("forest", "forest", "foresl")
    assert columns(network)[2] == ("and", "and", "and")


def test_one_expert_with_a_blank_is_enough():
    """Engines lose blanks more often than they invent them."""
    network = align(utterance("white whale", "whitewhale", "whitewhale"), WORD, "basic", CUT)
    assert columns(network) == [("white",) * 3, ("whale",) * 3]


def test_words_that_are_merely_alike_stay_whole():
    heard = utterance("france is as", "france is as", "francis as")
    assert columns(align(heard, WORD, "basic", CUT)) == columns(align(heard, WORD, "basic", WHOLE))


def test_parts_are_as_sure_as_the_whole_was():
    network = align(utterance("we had", "we had", "wehad", confidences=[0.5, 0.5, 0.75]), WORD, "basic", CUT)
    np.testing.assert_array_equal(network.confidences[:, 2], [0.75, 0.75])


@given(heard=utterances())
@settings(deadline=None, max_examples=150)
def test_letters_and_slots_stay_and_every_cut_is_one_that_the_slow_twin_allows(heard):
    before, after = align(heard, WORD, "basic", WHOLE), align(heard, WORD, "basic", CUT)
    whole = [[before.vocabulary[t] for t in row] for row in before.tokens]
    cut = [[after.vocabulary[t] for t in row] for row in after.tokens]
    assert len(whole) == len(cut)
    assert after.vocabulary == ("", *sorted({t for row in cut for t in row} - {""}))
    for j in range(len(heard.outputs)):
        assert "".join(row[j] for row in whole) == "".join(row[j] for row in cut)
        for here, row in enumerate(whole):
            if not row[j]:
                continue
            allowed = glued_windows(whole, j, here, 0.9)
            if cut[here][j] == row[j]:
                # Left whole: no window is better than its own slot, or a cut would leave a part empty.
                own = most_frequent_other(row, j)
                unlikeness = edit_distance(row[j], own) / max(len(row[j]), len(own)) if own else 1.0
                assert all(
                    u >= unlikeness or _has_empty_part(whole, j, w, row[j]) for u, w in allowed
                ) or any(cut[i][j] for _, w in allowed for i in range(*w) if i != here)
            else:
                taken = {
                    i
                    for _, w in allowed
                    for i in range(*w)
                    if "".join(c[j] for c in cut[slice(*w)]) == row[j]
                }
                assert here in taken


def _has_empty_part(whole, j, window, token):
    """Fewer letters than parts leave a part without any; so may letters that were lost."""
    joined = "".join(most_frequent_other(row, j) for row in whole[slice(*window)])
    return edit_distance(token, joined) > 0
