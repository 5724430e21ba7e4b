"""Layouts that nobody tuned for: `python -m bench.layouts --data FOLDER`.

The true lines of real pages, with what engines really read in them, are set anew: in two and three columns with
heads and page numbers, with notes in the margins, around tables, in boxes over two columns. Then each engine cuts
its page in a way of its own: it drops, merges and splits lines, reads across columns or blocks in another order,
invents lines, shifts its boxes, sees the page rotated. Printed is the word error rate on the lines that are found,
and on the true ones, with the same learner.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from random import Random

import click
import numpy as np

from bench.documents import FIVE, Reader, pages_of, placed_in_true_lines
from galloon.learners.documents.document import Box, Line, Page
from galloon.learners.documents.matched import MatchedLine
from galloon.learners.documents.matching import match
from galloon.learners.evaluation.error_rate import ErrorCounts, word_errors
from galloon.learners.observation import Word
from galloon.learners.text.normalizers import normalizer

WIDTH, HEIGHT, TOP, PITCH, TALL = 1600.0, 2300.0, 160.0, 40.0, 24.0
NOTES = ("of the whale", "and of ships", "see chapter 12", "in the year 1851", "a letter of the captain")


@dataclass(frozen=True, slots=True)
class Printed:
    """A true line, where it stands on the new page, and the words that each engine has in it, with their boxes."""

    text: str
    box: Box
    block: int
    said: Mapping[str, tuple[Word, ...]]


def lines_of(
    folders: Sequence[Path], engines: Sequence[str]
) -> Iterator[tuple[str, dict[str, tuple[Word, ...]]]]:
    """True lines of running text and what engines read there, words from 0 to 1 across the line."""
    for folder in folders:
        for text, said in placed_in_true_lines(folder, pages_of(folder, engines)):
            if len(text) > 12 and said:
                yield text, said


def columns(count: int, rows: int, notes: int = 0, table: bool = False) -> list[tuple[Box, int, str]]:
    """Boxes of a page in reading order, with the number of their block, and a text where it is not from a book.

    A head, columns, a table between them, notes in the margin beside them, and the number of the page.
    """
    left, gutter = (320.0 if notes else 100.0), 44.0
    width = (WIDTH - 100.0 - left - gutter * (count - 1)) / count
    found = [
        (Box(left, 80, left + 260, 80 + TALL), 0, "THE HARBOUR GAZETTE"),
        (Box(1300, 80, 1500, 80 + TALL), 0, "Vol. XII"),
    ]
    parts = (
        [(TOP, rows)] if not table else [(TOP, rows // 2), (TOP + (rows // 2 + 8) * PITCH, rows - rows // 2)]
    )
    block = 1
    for number, (top, height) in enumerate(parts):
        if number:
            for row in range(6):
                y = top - (7 - row) * PITCH
                found.append(
                    (
                        Box(left, y, WIDTH - 100, y + TALL),
                        block,
                        f"Row{row} || Pier {row + 3} || {row}7,50 || 18{row}1",
                    )
                )
            block += 1
        for column in range(count):
            x = left + column * (width + gutter)
            for row in range(height):
                y = top + row * PITCH
                found.append((Box(x, y, x + width, y + TALL), block, ""))
            block += 1
    for number in range(notes):
        y = TOP + (3 + number * rows // max(1, notes)) * PITCH
        found.append((Box(60, y, 270, y + 18), block, NOTES[number % len(NOTES)]))
        block += 1
    return [*found, (Box(780, 2220, 830, 2220 + TALL), block, "117")]


def with_box() -> list[tuple[Box, int, str]]:
    """Three columns, of which the second and third begin below a box of running text that spans both."""
    found = columns(3, 40)
    width = (WIDTH - 200.0 - 88.0) / 3
    edge, until = 100 + width + 22, TOP + 14 * PITCH
    kept = [entry for entry in found if entry[0].left < edge or entry[0].top > until or entry[1] == 0]
    boxed = [
        (Box(edge + 22, TOP + row * PITCH, WIDTH - 100, TOP + row * PITCH + TALL), 90, "")
        for row in range(12)
    ]
    first = [entry for entry in kept if entry[1] < 2]
    return [*first, *boxed, *(entry for entry in kept if entry[1] >= 2)]


LAYOUTS: Mapping[str, Callable[[], list[tuple[Box, int, str]]]] = {
    "one column": lambda: columns(1, 40),
    "two columns": lambda: columns(2, 45),
    "three columns": lambda: columns(3, 45),
    "notes in the margin": lambda: columns(1, 40, notes=5),
    "two columns, notes": lambda: columns(2, 40, notes=4),
    "table between columns": lambda: columns(2, 36, table=True),
    "a box over two of three": with_box,
}


def printed(
    layout: Sequence[tuple[Box, int, str]],
    source: Iterator[tuple[str, dict[str, tuple[Word, ...]]]],
    engines: Sequence[str],
) -> list[Printed]:
    """The page, filled with lines of the source; heads, cells and numbers are read without error."""
    found = []
    for box, block, given in layout:
        text, said = (given, {}) if given else next(source)
        if given:
            cells = given.split(" || ")
            words = (
                [
                    word
                    for number, cell in enumerate(cells)
                    for word in _spread(
                        cell, number / len(cells), (number + 0.8 * len(cell) / 14) / len(cells)
                    )
                ]
                if len(cells) > 1
                else _spread(given, 0.0, 1.0)
            )
            text, said = given.replace(" || ", " "), dict.fromkeys(engines, tuple(words))
        placed = {
            engine: tuple(
                replace(
                    word,
                    start=box.left + (word.start or 0) * box.width,
                    end=box.left + (word.end or 0) * box.width,
                    top=box.top,
                    bottom=box.bottom,
                )
                for word in words
            )
            for engine, words in said.items()
        }
        found.append(Printed(text, box, block, placed))
    return found


def _spread(text: str, low: float, high: float) -> list[Word]:
    step, at, words = (high - low) / max(1, len(text)), 0, []
    for part in text.split():
        words.append(Word(part, 0.95, low + at * step, low + (at + len(part)) * step))
        at += len(part) + 1
    return words


def seen(page: Sequence[Printed], engine: str, random: Random, habit: str, degrees: float) -> Page:
    """What one engine makes of the page: its own lines, in its own order, a little off."""
    rows = [
        (line, list(line.said[engine])) for line in page if engine in line.said and random.random() > 0.03
    ]
    if habit == "across":  # what stands side by side is one line, from left to right
        rows.sort(key=lambda row: (round(row[0].box.top / PITCH), row[0].box.left))
    elif habit == "backwards":  # blocks from the last to the first
        rows.sort(key=lambda row: -row[0].block)
    elif habit == "by left edge":
        rows.sort(key=lambda row: (round(row[0].box.left / 60), row[0].box.top))
    lines: list[list[Word]] = []
    before: Printed | None = None
    for line, words in rows:
        same_row = before is not None and abs(before.box.top - line.box.top) < TALL / 2
        if lines and ((habit == "across" and same_row) or random.random() < 0.03):
            lines[-1] += words  # merged
        elif len(words) > 4 and random.random() < 0.06:
            cut = random.randrange(2, len(words) - 1)
            lines += [words[:cut], words[cut:]]
        else:
            lines.append(words)
        before = line
    for _ in range(random.randrange(4)):  # specks
        x, y = random.uniform(50, 1500), random.uniform(100, 2200)
        lines.insert(random.randrange(len(lines) + 1), [Word("~,;", 0.3, x, x + 30, y, y + 9)])
    turn, dx, dy = np.radians(degrees + random.gauss(0, 0.05)), random.gauss(0, 3), random.gauss(0, 3)
    done = []
    for number, words in enumerate(lines):
        moved = tuple(_turned(word, turn, dx, dy) for word in words)
        box = Box.around(Box(w.start or 0, w.top or 0, w.end or 0, w.bottom or 0) for w in moved)
        done.append(Line(str(number), moved, box))
    return Page(tuple(done), WIDTH, HEIGHT)


def _turned(word: Word, turn: float, dx: float, dy: float) -> Word:
    across = ((word.start or 0) + (word.end or 0)) / 2
    down = ((word.top or 0) + (word.bottom or 0)) / 2
    x = across + turn * -(down - HEIGHT / 2) + dx
    y = down + turn * (across - WIDTH / 2) + dy
    half, tall = ((word.end or 0) - (word.start or 0)) / 2, ((word.bottom or 0) - (word.top or 0)) / 2
    tall += abs(turn) * half
    return replace(word, start=x - half, end=x + half, top=y - tall, bottom=y + tall)


HABITS = ("", "backwards", "across", "by left edge", "")


def measured(name: str, folders: Sequence[Path], engines: Sequence[str], count: int) -> tuple[float, float]:
    """Error rates on found lines and on true ones, over so many pages."""
    source = cycle(list(lines_of(folders, engines)))
    normal, found, true = normalizer("basic"), ErrorCounts(), ErrorCounts()
    reader, true_reader = Reader(tuple(engines)), Reader(tuple(engines))
    for number in range(count):
        random = Random(number)
        page = printed(LAYOUTS[name](), source, engines)
        turn = random.choice((-1.8, -0.9, 0.0, 1.2, 2.0))
        pages = {
            engine: seen(page, engine, random, HABITS[(place + number) % len(HABITS)], turn)
            for place, engine in enumerate(engines)
        }
        reference = normal(" ".join(line.text for line in page))
        found += word_errors(reference, normal(reader.text(match(pages).lines)))
        told = [MatchedLine(str(place), dict(line.said)) for place, line in enumerate(page) if line.said]
        true += word_errors(reference, normal(true_reader.text(told)))
    return found.rate, true.rate


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--pages", "count", default=5, show_default=True, help="Pages of each layout.")
@click.option("--layout", "only", multiple=True, type=click.Choice(list(LAYOUTS)))
def main(data: Path, count: int, only: tuple[str, ...]) -> None:
    """Gaps between found and true lines on layouts that were made up."""
    folders = sorted((data / "pages").iterdir())
    for name in only or LAYOUTS:
        for engines in (FIVE, FIVE[:3]):
            found, true = measured(name, folders, engines, count)
            gap = f"on true lines {true:.2f}, gap {found - true:.2f}"
            print(f"{name}, {len(engines)} engines: WER {found:.2f}, {gap}", flush=True)


if __name__ == "__main__":
    main()
