"""Whole pages and recordings: `python -m bench.documents --data FOLDER`.

The folder holds `pages/` and `recordings/`, a folder a document with what engines made of it and `truth.txt`. Word
error rates over whole documents in reading order, with the default learner in this process: on the lines that are
found, and for pages also on the true lines (words by the boxes of `truth.json`), so that the cost of finding them
can be read off.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import click
import numpy as np

from galloon.clients.formats.registry import read_file
from galloon.clients.formats.utterances import read_utterances
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import Choice, TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.documents.document import Page
from galloon.learners.documents.layout import Layout, lay_out
from galloon.learners.documents.matched import MatchedLine
from galloon.learners.documents.matching import match
from galloon.learners.documents.true_lines import true_lines as lines_of_text
from galloon.learners.evaluation.error_rate import ErrorCounts, word_errors
from galloon.learners.observation import Utterance, Word
from galloon.learners.text.normalizers import normalizer

FIVE = ("tess_eng", "tess_deu", "tess_bin", "rapidocr", "tess_legacy")
SETS = {"5 engines": FIVE, "7 engines": (*FIVE, "ocrad", "gocr"), "3 Tesseracts": FIVE[:3]}
SPEECH = ("moonshine_base", "moonshine_tiny", "pocketsphinx")
ENDINGS = (".tsv", ".hocr", ".alto.xml", ".page.xml", ".whisper.json", ".vosk.json", ".txt")


def pages_of(folder: Path, engines: Iterable[str]) -> dict[str, Page]:
    """What each engine made of a document; an empty file is a page without lines."""
    found = {}
    for engine in engines:
        path = next(folder / f"{engine}{end}" for end in ENDINGS if (folder / f"{engine}{end}").exists())
        found[engine] = read_file(path).pages[0] if path.stat().st_size else Page(())
    return found


def true_lines(folder: Path, pages: Mapping[str, Page]) -> list[MatchedLine]:
    """The printed lines, each with the words of engines with boxes that stand in it."""
    layout, names, _, said = _in_true_lines(folder, pages)
    return [
        MatchedLine(
            str(number), {names[e]: tuple(layout.words[row] for row in rows) for e, rows in spoken.items()}
        )
        for number, spoken in enumerate(said)
    ]


def placed_in_true_lines(
    folder: Path, pages: Mapping[str, Page]
) -> Iterator[tuple[str, dict[str, tuple[Word, ...]]]]:
    """The text of each printed line, and the words of each engine in it, from 0 to 1 across the line."""
    layout, names, told, said = _in_true_lines(folder, pages)
    for line, spoken in zip(told, said, strict=True):
        rows = [row for found in spoken.values() for row in found]
        if not rows:
            continue
        left, right = float(layout.left[rows].min()), float(layout.right[rows].max())
        width = max(1.0, right - left)
        yield (
            line["text"],
            {
                names[engine]: tuple(
                    Word(
                        layout.words[row].text,
                        layout.words[row].confidence,
                        float(layout.left[row] - left) / width,
                        float(layout.right[row] - left) / width,
                    )
                    for row in found
                )
                for engine, found in spoken.items()
            },
        )


def _in_true_lines(
    folder: Path, pages: Mapping[str, Page]
) -> tuple[Layout, list[str], list[Any], list[dict[int, list[int]]]]:
    """The words of engines with boxes, their names, the true lines, and the words in each, from left to right."""
    boxed = {engine: page for engine, page in pages.items() if page.has_boxes}
    told = json.loads((folder / "truth.json").read_text())
    layout = lay_out(list(boxed.values()))
    if not boxed:
        return layout, [], [], []
    boxes = np.array(
        [line["bbox"] for line in told["lines"]], dtype=float
    )  # of the page before it was skewed
    centre = np.array([((box.left + box.right) / 2, (box.top + box.bottom) / 2) for box in layout.boxes])
    middle = np.array([told["width"] / 2, told["height"] / 2])
    angles = [sign * np.radians(told["skew_degrees"]) for sign in (1, -1)]
    nearest, away = min(
        (_nearest(boxes, _turned(centre, middle, angle)) for angle in angles), key=lambda f: f[1].sum()
    )
    said: list[dict[int, list[int]]] = [{} for _ in boxes]
    for row, line in enumerate(nearest):
        if away[row] < boxes[line, 3] - boxes[line, 1]:
            said[line].setdefault(int(layout.engines[row]), []).append(row)
    for spoken in said:
        for rows in spoken.values():
            rows.sort(key=lambda row: layout.left[row])
    return layout, list(boxed), told["lines"], said


def _turned(points: np.ndarray, middle: np.ndarray, angle: float) -> np.ndarray:
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return (points - middle) @ turn.T + middle


def _nearest(boxes: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each point the box whose middle line is nearest, and how far it is."""
    down = np.abs((boxes[:, 1] + boxes[:, 3])[None] / 2 - points[:, 1:])
    across = np.maximum(boxes[None, :, 0] - points[:, :1], 0) + np.maximum(
        points[:, :1] - boxes[None, :, 2], 0
    )
    away = down + across
    return away.argmin(axis=1), away.min(axis=1)


class Reader:
    """Lines through a fresh learner, taught only by `lessons` that come first and by `teach`.

    As `galloon combine` does it: it reads each page once before it answers, and recordings as they come.
    """

    def __init__(
        self, engines: tuple[str, ...], lessons: Iterable[Utterance] = (), rule: str = "none"
    ) -> None:
        self._engines = engines
        self._combiner = build(CombinerSpec(engines=engines, normalizer=rule, decide="best"))
        self._round = 0
        self._page: list[Choice] = []
        self._twice = rule != "basic-speech"
        for utterance in lessons:
            choice = self._combiner.choose(utterance, self._round)
            self._combiner.observe(choice.memory, choice.view)
            self._combiner.learn(choice.memory, TrueText(utterance.target or ""), choice.view)
            self._round += 1

    def teach(self, target: str) -> None:
        """The true text of the page that was read last."""
        found = lines_of_text([choice.text for choice in self._page], target)
        for choice, text in zip(self._page, found, strict=True):
            if text is not None:
                self._combiner.learn(choice.memory, TrueText(text), choice.view)

    def text(self, lines: Iterable[MatchedLine]) -> str:
        texts = []
        self._page = []
        said = [line for line in lines if line.said]
        for line in said if self._twice else ():
            self._choose(line)
        for line in said:
            choice = self._choose(line)
            texts.append(choice.text)
            self._page.append(choice)
        return " ".join(texts)

    def _choose(self, line: MatchedLine) -> Choice:
        choice = self._combiner.choose(line.utterance(line.id, self._engines), self._round)
        self._combiner.observe(choice.memory, choice.view)  # as a daemon does with every choice
        self._round += 1
        return choice


def measured(
    folders: list[Path],
    engines: tuple[str, ...],
    rule: str,
    *,
    truth_too: bool,
    reader: Reader | None = None,
) -> dict[str, float]:
    normal, found, true = normalizer(rule), ErrorCounts(), ErrorCounts()
    shown = "none" if rule == "basic" else rule  # as `galloon combine` does it
    reader, true_reader, seconds = reader or Reader(engines, rule=shown), Reader(engines), 0.0
    for folder in folders:
        pages = pages_of(folder, engines)
        start = process_time()
        matched = match(pages)
        seconds += process_time() - start
        reference = normal((folder / "truth.txt").read_text())
        found += word_errors(reference, normal(reader.text(matched.lines)))
        if truth_too:
            true += word_errors(reference, normal(true_reader.text(true_lines(folder, pages))))
    figures = {"WER": found.rate, "matching, s a document": seconds / len(folders)}
    if truth_too:
        figures |= {"WER on true lines": true.rate, "gap": found.rate - true.rate}
    return figures


def taught_on(path: Path, engines: tuple[str, ...]) -> Iterator[Utterance]:
    """The lines of an utterance file, of these engines alone."""
    for utterance in read_utterances(path):
        if utterance.target is not None:
            outputs = tuple(output for output in utterance.outputs if output.name in engines)
            yield Utterance(utterance.id, outputs, utterance.target)


def progressive(folders: list[Path], lessons: Path | None) -> None:
    """Pages in six orders, each taught after it is read: against the same order untaught, page by page."""
    normal = normalizer("basic")
    pages = {folder: match(pages_of(folder, FIVE)).lines for folder in folders}
    truths = {folder: (folder / "truth.txt").read_text() for folder in folders}
    orders = [folders, folders[::-1], *(Random(seed).sample(folders, len(folders)) for seed in range(4))]
    for number, order in enumerate(orders):
        start = taught_on(lessons, FIVE) if lessons else ()
        rule = "basic" if lessons else "none"
        reader, fresh = Reader(FIVE, start, rule), Reader(FIVE)
        total, untaught, worst = ErrorCounts(), ErrorCounts(), (-100.0, "")
        for folder in order:
            reference = normal(truths[folder])
            with_truths = word_errors(reference, normal(reader.text(pages[folder])))
            without = word_errors(reference, normal(fresh.text(pages[folder])))
            reader.teach(truths[folder])
            total, untaught = total + with_truths, untaught + without
            worst = max(worst, (with_truths.rate - without.rate, folder.name))
        print(
            f"order {number}: taught {total.rate:.2f}, untaught {untaught.rate:.2f}, "
            f"worst page {worst[0]:+.2f} ({worst[1]})",
            flush=True,
        )


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--json", "as_json", is_flag=True)
@click.option(
    "--progressive", "in_turn", is_flag=True, help="Five engines in six orders, taught page by page."
)
@click.option(
    "--lessons",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An utterance file with truths that five engines are taught on first.",
)
def main(data: Path, as_json: bool, in_turn: bool, lessons: Path | None) -> None:
    """Error rates of whole documents."""
    figures = {}
    pages, recordings = (sorted((data / kind).iterdir()) for kind in ("pages", "recordings"))
    if in_turn:
        progressive(pages, lessons)
        return
    if lessons:
        figures["5 engines, taught first"] = measured(
            pages, FIVE, "basic", truth_too=False, reader=Reader(FIVE, taught_on(lessons, FIVE), "basic")
        )
        print(json.dumps(figures))
        return
    for title, engines in SETS.items():
        print(f"measuring {title} ...", file=sys.stderr)
        figures[title] = measured(pages, engines, "basic", truth_too=True)
    figures["recordings"] = measured(recordings, SPEECH, "basic-speech", truth_too=False)
    if as_json:
        print(json.dumps(figures))
        return
    for title, numbers in figures.items():
        print(title, "  ".join(f"{name} {value:.2f}" for name, value in numbers.items()))


if __name__ == "__main__":
    main()
