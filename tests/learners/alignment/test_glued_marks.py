"""Blanks that an engine leaves out after marks."""

import pytest

from galloon.learners.alignment.glued_marks import cut_after_marks, glued_marks
from galloon.learners.observation import ExpertOutput, Word


@pytest.mark.parametrize(
    ("said", "cut"),
    [
        ("storms.But even", "storms. But even"),
        ("case,he would not,perhaps,", "case, he would not, perhaps,"),
        ("the U.S. e.g. 3,000 and 12:30", "the U.S. e.g. 3,000 and 12:30"),
        ("Yes!No?maybe", "Yes! No? maybe"),
        ("alas !", "alas !"),
    ],
)
def test_words_are_cut_after_marks_and_no_letter_changes(said: str, cut: str) -> None:
    output = ExpertOutput("a", tuple(map(Word, said.split())))
    assert cut_after_marks(output).text == cut
    borders = len(cut) - len(said)
    assert glued_marks([output]) == ({"a": borders} if borders else {})


def test_pieces_share_the_place_and_the_confidence_of_their_word() -> None:
    word = Word("case,he", confidence=0.5, start=10.0, end=17.0)
    pieces = cut_after_marks(ExpertOutput("a", (word,))).words
    assert [(piece.text, piece.confidence, piece.start, piece.end) for piece in pieces] == [
        ("case,", 0.5, 10.0, 15.0),
        ("he", 0.5, 15.0, 17.0),
    ]
