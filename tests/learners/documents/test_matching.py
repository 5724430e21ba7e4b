"""What happens to a page when engines cut, order, miss or invent lines."""

import random
from dataclasses import replace

import pytest

from galloon.learners.documents.document import Box, Line, Page
from galloon.learners.documents.matched import Unmatchable
from galloon.learners.documents.matching import match
from galloon.learners.observation import Word
from tests.learners.documents.pages import (
    LEFT,
    OTHER,
    PITCH,
    TEXT,
    TOP,
    columns,
    line,
    page,
    recording,
    texts,
    without_places,
)


@pytest.mark.parametrize("missed", [0, 4, 9])
def test_a_line_that_one_engine_missed_is_absent_there_and_shifts_nothing(missed):
    short = page()
    short = replace(short, lines=tuple(old for n, old in enumerate(short.lines) if n != missed))
    matched = match({"a": page(), "b": short, "c": page()})
    assert texts(matched, "a") == list(TEXT)
    assert [("b" in entry.said) for entry in matched.lines] == [n != missed for n in range(len(TEXT))]
    assert texts(matched, "b") == ["" if n == missed else text for n, text in enumerate(TEXT)]


def test_words_of_merged_and_split_lines_find_their_lines():
    whole = page()
    merged = replace(whole.lines[0], words=whole.lines[0].words + whole.lines[1].words)
    halves = [
        replace(whole.lines[2], words=part) for part in (whole.lines[2].words[:5], whole.lines[2].words[5:])
    ]
    halves = [replace(half, box=None) for half in halves]
    cut = replace(whole, lines=(merged, *halves, *whole.lines[3:]))
    assert texts(match({"a": page(), "b": cut, "c": page()}), "b") == list(TEXT)


@pytest.mark.parametrize("order", ["swapped", "rows", "across"])
def test_columns_that_one_engine_reads_otherwise_are_read_as_most_and_geometry_say(order):
    matched = match({"odd": columns(order=order), "a": columns(), "b": columns()})
    assert texts(matched, "a") == list(TEXT)
    assert texts(matched, "odd") == list(TEXT)


def test_an_order_can_be_asked_for():
    pages = {"odd": columns(order="swapped"), "a": columns(), "b": columns()}
    assert texts(match(pages, order_from="odd"), "a") == [*TEXT[5:], *TEXT[:5]]


@pytest.mark.parametrize("size", [(500.0, 700.0), (None, None)], ids=["told", "not told"])
def test_skew_and_another_resolution_do_no_harm(size):
    leaning, half = page(slope=0.03), page(slope=0.03)
    half = Page(
        tuple(
            replace(
                old,
                words=tuple(
                    replace(w, start=w.start / 2, end=w.end / 2, top=w.top / 2, bottom=w.bottom / 2)
                    for w in old.words
                ),
                box=None,
            )
            for old in half.lines
        ),
        *size,
    )
    matched = match({"a": leaning, "b": half})
    assert texts(matched, "a") == texts(matched, "b") == list(TEXT)


def test_an_engine_without_boxes_is_matched_by_what_it_says_in_whatever_order():
    plain = without_places(columns(order="swapped"))
    paragraph = Page((Line("p", tuple(word for old in plain.lines for word in old.words)),))
    for given in (plain, paragraph):
        matched = match({"a": columns(), "b": columns(), "plain": given})
        assert texts(matched, "plain") == list(TEXT)


def test_without_any_boxes_lines_are_matched_by_what_they_say():
    short = without_places(page((*TEXT[:3], *TEXT[4:])))
    matched = match({"a": without_places(page()), "b": short})
    assert texts(matched, "a") == list(TEXT)
    assert texts(matched, "b") == [text if n != 3 else "" for n, text in enumerate(TEXT)]


def test_an_invented_line_is_left_out_and_named():
    noisy = page()
    noisy = replace(noisy, lines=(*noisy.lines, line("xqz jjw vvk zzq", 100, 700, 99)))
    matched = match({"a": noisy, "b": page(), "c": page()})
    assert texts(matched, "a") == list(TEXT)
    assert matched.left_out == {"a": ("xqz jjw vvk zzq",)}


def test_a_real_line_and_a_page_number_that_one_engine_alone_found_stay():
    alone = page((*TEXT, "strong moral principle to prevent me from deliberately stepping", "17"))
    matched = match({"a": alone, "b": page(), "c": page()})
    assert texts(matched)[-2:] == ["strong moral principle to prevent me from deliberately stepping", "17"]
    assert set(matched.lines[-1].said) == {"a"}


def test_a_page_of_another_document_is_refused_and_named():
    with pytest.raises(Unmatchable, match="b: next to nothing") as problem:
        match({"a": page(), "b": page(OTHER), "c": page()})
    assert problem.value.engine == "b"
    with pytest.raises(Unmatchable):
        match({"a": without_places(page()), "b": without_places(page(OTHER))})


def test_engines_that_found_nothing_or_noise_are_absent_and_the_reason_is_told():
    noise = Page(tuple(line("_ ,. |l ~i ;; -_ ii . ,' _l", 100, 120 + 34 * n, n) for n in range(10)))
    matched = match({"a": page(), "b": page(), "empty": Page(()), "noise": noise})
    assert set(matched.absent) == {"empty", "noise"}
    assert all(set(entry.said) == {"a", "b"} for entry in matched.lines)


def test_one_engine_alone_keeps_everything():
    assert texts(match({"a": page()})) == list(TEXT)
    assert match({"a": Page(())}).lines == ()


def test_text_from_right_to_left_keeps_its_words_in_order():
    words = "שלום עולם זה מבחן של שורה ארוכה מאוד".split()
    rows = []
    for number in range(6):
        right, found = 900.0, []
        for word in words:
            left = right - 10.0 * len(word)
            found.append(Word(word, None, left, right, 100.0 + 34 * number, 120.0 + 34 * number))
            right = left - 10
        rows.append(
            Line(str(number), tuple(found), Box(right, 100.0 + 34 * number, 900.0, 120.0 + 34 * number))
        )
    matched = match({"a": Page(tuple(rows)), "b": Page(tuple(rows))})
    assert texts(matched, "a") == [" ".join(words)] * 6


SPEECH = [
    "He declared that a whale must be near.",
    "Soon that peculiar odor, sometimes to a great distance given forth by the living sperm whale,",
    "was palpable to all the watch. Man the mastheads. Call all hands.",
    "Nothing, nothing sir, was the sound hailing down in reply.",
]


def test_three_segmentations_of_a_recording_come_together():
    flat = " ".join(SPEECH).split()
    windows = [" ".join(flat[at : at + 11]) for at in range(0, len(flat), 11)]
    lower = [text.lower().replace(",", "").replace(".", "") for text in SPEECH]
    matched = match({"a": recording(SPEECH), "b": recording(windows, 0.0), "c": recording([" ".join(lower)])})
    assert matched.timed
    for engine, said in {"a": flat, "b": flat, "c": " ".join(lower).split()}.items():
        assert " ".join(texts(matched, engine)).split() == said
    assert all(set(entry.said) == {"a", "b", "c"} for entry in matched.lines)
    assert all(entry.confidence == 1.0 for entry in matched.lines)
    assert [entry.start for entry in matched.lines] == sorted(entry.start for entry in matched.lines)


def test_an_engine_that_loops_says_its_phrase_once():
    looping = [*SPEECH[:2], "call all hands " * 20, *SPEECH[3:]]
    matched = match({"a": recording(SPEECH), "b": recording(looping), "c": recording(SPEECH)})
    assert any("b repeats a phrase 20 times" in note for note in matched.notes)
    assert " ".join(texts(matched, "b")).count("call all hands") == 1


def test_a_long_recording_is_matched_piece_by_piece():
    long = [f"{text} number {n}" for n in range(200) for text in SPEECH]
    matched = match(
        {"a": recording(long), "b": recording([" ".join(long[at : at + 3]) for at in range(0, 800, 3)])}
    )
    assert max(len(words) for entry in matched.lines for words in entry.said.values()) < 100
    assert " ".join(texts(matched, "a")) == " ".join(texts(matched, "b")) == " ".join(long)
    assert min(entry.confidence for entry in matched.lines) == 1.0


def test_a_narrow_gutter_is_seen_though_two_of_three_engines_read_across_it():
    """No line leaves the same gap free as the next one, but there is a strip that all of them do."""
    rng = random.Random(4)
    written = [" ".join("".join(rng.choices("abcdefgh", k=7)) for _ in range(8)) for _ in range(40)]

    def set_line(text: str, left: float, number: int) -> Line:
        at = [left + 76.0 * place for place in range(8)]  # blanks of six pixels
        top = TOP + PITCH * (number % 20)
        words = [Word(word, 0.9, x, x + 70, top, top + 20) for word, x in zip(text.split(), at, strict=True)]
        return Line(f"l{number}", tuple(words), Box(left, top, at[-1] + 70, top + 20))

    # The right column begins here and there a little later, as if its first letters were round or cut off.
    lines = [set_line(text, LEFT + (n >= 20) * (602 + 13 + 5 * (n % 3)), n) for n, text in enumerate(written)]
    across = tuple(
        replace(a, words=a.words + b.words, box=Box.around([a.box, b.box]))
        for a, b in zip(lines[:20], lines[20:], strict=True)
    )
    seen = {
        name: Page(found, 1600.0, 1400.0)
        for name, found in zip("abc", (across, tuple(lines), across), strict=True)
    }
    matched = match(seen)
    assert texts(matched, "b") == written
    assert texts(matched, "a") == written
