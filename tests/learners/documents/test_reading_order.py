"""Reading order: columns, notes in the margin, and what stands above columns."""

from galloon.learners.documents.reading_order import Placed, Voter, reading_order


def columns(count: int, rows: int, top: float = 200.0) -> list[Placed]:
    width = 1500 / count
    return [
        Placed(x * width, x * width + width - 40, top + 30.0 * y, 24.0, 30)
        for x in range(count)
        for y in range(rows)
    ]


def test_the_first_of_many_columns_is_no_note_in_the_margin():
    for count in (2, 3, 4, 5, 6):
        lines = columns(count, 20)
        assert reading_order(lines, {}) == list(range(len(lines)))


def test_short_notes_beside_the_text_are_read_after_it():
    text = [Placed(420.0, 1520.0, 200.0 + 30 * y, 24.0, 60) for y in range(30)]
    notes = [Placed(120.0, 340.0, 260.0 + 24 * y, 17.0, 12) for y in (0, 1, 14, 15)]
    assert reading_order([*notes, *text], {}) == [*range(4, 34), 0, 1, 2, 3]


def test_what_stands_off_above_columns_is_their_head_unless_engines_say_that_it_is_the_pages():
    """A heading over each of two columns, or the head of the page in two parts: places look alike."""
    headings = [Placed(200.0 + 750 * x, 500.0 + 750 * x, 100.0, 30.0, 12) for x in (0, 1)]
    lines = [*headings, *columns(2, 20)]
    rows_first = list(range(42))
    by_columns = [0, *range(2, 22), 1, *range(22, 42)]
    assert reading_order(lines, {}) == rows_first
    assert reading_order(lines, {"a": Voter(tuple(by_columns), 0.9)}) == by_columns
    assert reading_order(lines, {"a": Voter(tuple(rows_first), 0.9)}) == rows_first
