"""Books, days of speech, folders of pages: `python -m bench.long_documents --data FOLDER`.

The folder is that of `bench.documents`. Its pages, one after the other, make a book, its recordings one of hours:
matched and combined by the default learner in this process, with processor time and the largest memory after each
part, so that it can be seen that time grows with the length and memory does not. `--folder PAGES` copies pages
into a folder for each of three engines and combines them by the command: pages a second of processor time.
"""

import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from time import process_time

import click

from bench.documents import FIVE, SPEECH, Reader, pages_of
from galloon.learners.documents.cutting import cut_recording
from galloon.learners.documents.document import Line, Page
from galloon.learners.documents.matching import match
from galloon.learners.observation import Word


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def shifted(page: Page, seconds: float) -> Page:
    """The recording, so many seconds later."""

    def later(time: float | None) -> float | None:
        return None if time is None else time + seconds

    def moved(word: Word) -> Word:
        return replace(word, start=later(word.start), end=later(word.end))

    lines = (
        replace(line, start=later(line.start), end=later(line.end), words=tuple(map(moved, line.words)))
        for line in page.lines
    )
    return replace(page, lines=tuple(lines))


def length_of(pages: Mapping[str, Page]) -> float:
    ends = [line.end or 0.0 for page in pages.values() for line in page.lines]
    return max(
        ends + [word.end or 0.0 for page in pages.values() for line in page.lines for word in line.words]
    )


def long_recording(folder: Path, hours: float) -> dict[str, Page]:
    """The recordings one after the other, again and again, as one."""
    whole: dict[str, list[Line]] = {engine: [] for engine in SPEECH}
    at = 0.0
    known = [pages_of(each, SPEECH) for each in sorted(folder.iterdir())]
    for pages in cycle(known):
        if at >= hours * 3600:
            break
        for engine, page in pages.items():
            whole[engine] += shifted(page, at).lines
        at += length_of(pages) + 1.0
    return {engine: Page(tuple(lines), timed=True) for engine, lines in whole.items()}


def book(folder: Path, pages: int) -> Iterator[dict[str, Page]]:
    return (pages_of(each, FIVE) for each in islice(cycle(sorted(folder.iterdir())), pages))


def measure(title: str, unit: str, parts: Iterator[tuple[float, Mapping[str, Page]]], every: float) -> None:
    """`parts` are pieces with their length; prints time and memory after each `every` of it."""
    reader, done, shown = None, 0.0, every
    start = last = process_time()
    for length, said in parts:
        reader = reader or Reader(tuple(said))
        reader.text(match(said).lines)
        done += length
        if done >= shown - 1e-6:
            now = process_time()
            print(f"{title}: {done:.0f} {unit}s, {(now - last) / every:.3f} s a {unit}, {megabytes():.0f} MB")
            last, shown = now, shown + every
    print(f"{title}: {done:.0f} {unit}s in {process_time() - start:.1f} s of the processor")


def combine_folder(data: Path, pages: int) -> None:
    """The command on folders of three engines."""
    engines = FIVE[:3]
    with tempfile.TemporaryDirectory() as scratch:
        sources = sorted((data / "pages").iterdir())
        for number, folder in enumerate(islice(cycle(sources), pages)):
            for engine in engines:
                found = next(folder.glob(f"{engine}.*"))
                place = Path(scratch) / engine / f"p{number:04}{''.join(found.suffixes)}"
                place.parent.mkdir(exist_ok=True)
                shutil.copy(found, place)
        inputs = [f"{engine}={scratch}/{engine}" for engine in engines]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "galloon", "combine", *inputs, "-o", f"{scratch}/out/"]
        subprocess.run(command, check=False)  # our own command
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        written = len(list(Path(f"{scratch}/out").glob("*.txt")))
        print(f"{written} of {pages} pages written, {spent / pages:.3f} s of the processor a page")
        print(f"two free cores: {2 * pages / spent:.1f} pages a second")


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True)
@click.option("--pages", default=500, show_default=True, help="Pages of the book.")
@click.option("--hours", default=3.0, show_default=True, help="Hours of the recording.")
@click.option("--folder", default=200, show_default=True, help="Pages of the folders.")
def main(data: Path, pages: int, hours: float, folder: int) -> None:
    """Time and memory of long documents."""
    if hours:
        talk = long_recording(data / "recordings", hours)
        parts = [(length_of(part) / 60, part) for part in cut_recording(talk)]
        reached = [0.0, *(length for length, _ in parts)]
        lengths = ((b - a, part) for a, (b, part) in zip(reached, parts, strict=False))
        measure("recording", "minute", lengths, 30.0)
    if pages:
        measure("book", "page", ((1.0, said) for said in book(data / "pages", pages)), max(1.0, pages / 5))
    if folder:
        combine_folder(data, folder)


if __name__ == "__main__":
    main()
