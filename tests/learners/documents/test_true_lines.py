"""The true text of a page, line by line: no word goes to the wrong side of a line's end."""

import pytest

from galloon.learners.documents.true_lines import true_lines

PRINTED = (
    "2 And the children of Israel encamped before the sea",
    "3 For Pharaoh will say of the children, They are entangled",
    "in the land, the wilderness hath shut them",
    "in. 4 And I will harden Pharaoh's heart, that he shall",
    "follow after them; and I will be honoured upon Pharaoh",
)
PAGE = "\n".join(PRINTED)


def test_lines_as_they_are_printed_get_their_own_text():
    assert true_lines(PRINTED, PAGE) == list(PRINTED)


@pytest.mark.parametrize("line", range(5))
def test_a_line_that_nobody_read_leaves_the_others_as_they_are(line):
    left = [text for number, text in enumerate(PRINTED) if number != line]
    assert true_lines(left, PAGE) == left


def test_the_end_of_a_line_is_where_the_letters_of_both_lines_fit_best():
    read = list(PRINTED)
    read[2] = "m the land, tbe wilderness hath shut tbem"
    read[3] = "im. 4 And 1 will liarden Pharaoh's heart, that he shall"
    assert true_lines(read, PAGE) == list(PRINTED)


def test_a_first_word_that_was_misread_is_not_lost():
    read = list(PRINTED)
    read[4] = "foliow aftev them; and I will be honoured upon Pharaoh"
    assert true_lines(read, PAGE) == list(PRINTED)


def test_lines_in_another_order_get_their_own_text():
    assert true_lines(PRINTED[::-1], PAGE) == list(PRINTED[::-1])


def test_a_line_whose_end_belongs_to_a_text_that_was_left_out_is_not_taught():
    """The true text lacks half a line: that engines wrote it is no reason to teach that nothing stands there."""
    cut = PAGE.replace(" before the sea", "").replace("They are entangled\n", "\n")
    found = true_lines(PRINTED, cut)
    assert found[0] is None
    assert found[2:] == list(PRINTED[2:])


def test_a_speck_at_the_end_of_a_line_is_taught_as_nothing():
    read = list(PRINTED)
    read[1] += " ."
    assert true_lines(read, PAGE) == list(PRINTED)


def test_two_readings_of_the_same_place_share_it_or_go_without():
    found = true_lines((*PRINTED, PRINTED[2]), PAGE)
    assert found[:2] == list(PRINTED[:2])
    assert found[3:5] == list(PRINTED[3:5])
    assert sum(text == PRINTED[2] for text in found) == 1


@pytest.mark.parametrize("target", ["", "\n\f \n", "nothing of this is on the page at all"])
def test_another_text_teaches_nothing(target):
    assert true_lines(PRINTED, target) == [None] * 5


def test_nothing_and_marks_alone():
    assert true_lines([], PAGE) == []
    assert true_lines(["", "---", "x"], PAGE) == [None] * 3
