"""Columns of which one row was read as one line, and pages whose head and foot stand in two parts."""

from galloon.learners.documents.reading_order import Placed, Voter, reading_order


def two_columns(rows: int, joined: int | None = None, step: float = 40.0) -> list[Placed]:
    """Two columns, row by row; one row may be a single line over both."""
    lines = []
    for row in range(rows):
        y = 200 + step * row
        if row == joined:
            lines.append(Placed(100, 1490, y, 24, 90))
        else:
            lines += [Placed(100, 780, y, 24, 45), Placed(825, 1500, y, 24, 45)]
    return lines


def test_a_row_that_was_read_across_does_not_cut_the_columns():
    lines = two_columns(20, joined=10)
    order = reading_order(lines, {})
    lefts = [number for number in order if lines[number].right < 800]
    assert order[: len(lefts)] == lefts


def test_a_heading_over_both_columns_does():
    """It stands apart from the text: what is above it is read before what is below."""
    above, below = (
        two_columns(10),
        [
            Placed(line.left, line.right, line.middle + 600, line.height, line.letters)
            for line in two_columns(10)
        ],
    )
    lines = [*above, Placed(300, 1300, 690, 30, 30), *below]
    order = reading_order(lines, {})
    assert {*order[:20]} == {*range(20)}
    assert order[20] == 20


def test_a_head_and_a_foot_in_two_parts_are_before_and_after_the_columns():
    head = [Placed(100, 400, 80, 24, 15), Placed(1300, 1500, 80, 24, 8)]
    foot = [Placed(100, 400, 1300, 24, 15), Placed(1300, 1500, 1300, 24, 8)]
    columns = two_columns(20)
    lines = [*head, *columns, *foot]
    order = reading_order(lines, {"one": Voter((0, 1, *range(2, 42, 2), *range(3, 42, 2), 42, 43), 0.9)})
    assert order[:2] == [0, 1]
    assert order[-2:] == [42, 43]
