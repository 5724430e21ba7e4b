"""NIST's `rover` (Debian package sctk) and galloon on the same files: error rate, and utterances a second.

Rover is called, not imitated: a CTM file for each engine in, a vote by frequency out. Both get texts normalised
the same way. Galloon does more: it aligns, chooses, and learns from the true text of each utterance before the
next one. Both are timed in turn by the processor time of their one process, which a busy machine disturbs least:
rover with its start and its files (some milliseconds), galloon from words in memory. Galloon through the daemon by
the clock as well, every lesson acknowledged.
Rover's error rate depends on the order of its files, and on whether a tie between a word and nothing goes to the
word (`-a 0.99 -c 0.5`): from 4.57 to 5.11 on the five OCR engines. Timed is the order of the file, by frequency;
beside it the mean over several orders, and galloon's vote, which depends on none.
Run: `python -m bench rover`.
"""

import asyncio
import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import process_time

from bench.progressive import FIRST_FIVE, progressive, scored
from bench.robustness import vote
from galloon.clients.commands.learner_options import spec_for
from galloon.clients.commands.local_daemon import reached
from galloon.clients.replay.material import Input, Material, normalizer_for, read_material
from galloon.clients.replay.play import play
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.text.normalizers import normalizer

DEBIAN = Path("/usr/lib/sctk/bin/rover")
NULL = "@"  # rover's own sign: the engine said nothing
PAIRS = 5
ORDERS = 6  # of rover's files


def figures() -> dict[str, dict[str, float]]:
    """By file: rates in percent, speeds in utterances a second; a ratio above 1 says that galloon is faster."""
    return {
        "rover and galloon, OCR, 5 engines": compare(
            read_material(ocr_sample(), FIRST_FIVE, most=Input.BEST)
        ),
        "rover and galloon, OCR, 7 engines": compare(read_material(ocr_sample(), most=Input.BEST)),
        "rover and galloon, ASR, 5 engines": compare(read_material(asr_sample(), most=Input.BEST)),
    }


def compare(material: Material, algorithm: str = "tied") -> dict[str, float]:
    """Both on the same utterances, timed in turn."""
    spec = spec_for({"algorithm": algorithm}, material.experts, material.utterances)
    with TemporaryDirectory() as folder:
        rover = Rover(material, Path(folder))
        progressive(material, spec)  # so that nothing is compiled or read from disk for the first time
        pairs = [(rover.run(), _cpu_s(lambda: progressive(material, spec))) for _ in range(PAIRS)]
        voted = scored("rover", material, rover.texts())
        orders = [_in_order(material, seed, Path(folder)) for seed in range(ORDERS)]
    learned = scored("galloon", material, progressive(material, spec).texts)
    served_s = _served(material, spec)
    count = len(material.utterances)
    return {
        "rover_wer": round(voted.wer, 2),
        "rover_wer_over_orders": round(mean(orders), 2),
        "vote_wer": round(vote(material).wer, 2),
        "galloon_wer": round(learned.wer, 2),
        "rover_per_s": round(count / min(rover_s for rover_s, _ in pairs)),
        "galloon_per_s": round(count / min(galloon_s for _, galloon_s in pairs)),
        "ratio": round(median(rover_s / galloon_s for rover_s, galloon_s in pairs), 2),
        "least": round(min(rover_s / galloon_s for rover_s, galloon_s in pairs), 2),
        "most": round(max(rover_s / galloon_s for rover_s, galloon_s in pairs), 2),
        "galloon_daemon_per_s": round(count / served_s),
    }


def _in_order(material: Material, seed: int, folder: Path) -> float:
    """Rover's error rate with its files in a random order."""
    places = random.Random(seed).sample(range(len(material.experts)), len(material.experts))
    lines = tuple(replace(u, said=tuple(u.outputs[j] for j in places)) for u in material.utterances)
    shuffled = replace(material, utterances=lines, experts=tuple(material.experts[j] for j in places))
    rover = Rover(shuffled, folder)
    rover.run()
    return scored("rover", material, rover.texts()).wer


def rover_program() -> str:
    """Where Debian or the user's path has it."""
    found = shutil.which("rover") or (str(DEBIAN) if DEBIAN.exists() else None)
    if found is None:
        raise SystemExit("rover is not installed: apt-get install sctk")
    return found


class Rover:
    """The engines' files in rover's format, and its answer."""

    def __init__(self, material: Material, folder: Path) -> None:
        self._folder, self._count = folder, len(material.utterances)
        self._numbers: dict[
            str, int
        ] = {}  # rover gives a meaning to ( ) { } / ; and others: words become numbers
        rule = normalizer(normalizer_for(material.utterances))
        self._inputs = []
        for column, name in enumerate(material.experts):
            lines = []
            for number, utterance in enumerate(material.utterances):
                words = rule.tokens([word.text for word in utterance.outputs[column].words])
                tokens = [f"w{self._numbers.setdefault(word, len(self._numbers))}" for word in words] or [
                    NULL
                ]
                lines += [f"u{number:06d} 1 {at}.00 0.50 {token} 1.0" for at, token in enumerate(tokens)]
            self._inputs.append(folder / f"{name}.ctm")
            self._inputs[-1].write_text("\n".join(lines) + "\n")

    def run(self) -> float:
        """Vote by frequency; the seconds of processor that it took."""
        command = [rover_program(), *(part for path in self._inputs for part in ("-h", str(path), "ctm"))]
        command += ["-o", str(self._folder / "out.ctm"), "-m", "avgconf", "-a", "1.0", "-c", "0.0", "-f", "0"]
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = getrusage(RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def texts(self) -> list[str]:
        words = list(self._numbers)
        found: list[list[str]] = [[] for _ in range(self._count)]
        for line in (self._folder / "out.ctm").read_text().splitlines():
            utterance, _, _, _, token, *_ = line.split()
            if token != NULL:
                found[int(utterance[1:])].append(words[int(token[1:])])
        return [" ".join(tokens) for tokens in found]


def _cpu_s(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def _served(material: Material, spec: CombinerSpec) -> float:
    """Seconds of the same through a daemon."""

    async def run() -> float:
        async with connect() as client:
            return (await play(client, "bench", material.utterances, spec)).seconds

    with reached(None) as connect:
        return asyncio.run(run())
