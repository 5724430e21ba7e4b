"""Broken files into every reader: `python -m tests.clients.formats.fuzz --count 10000` per format.

Only a `ClientError` may come out, within two seconds of CPU, in bounded memory (the process is given a
limit), and what is read must also be writable. Prints a table, or one JSON object; the status is 1 if
anything else happened.
"""

import argparse
import io
import json
import random
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from galloon.clients.api.errors import ClientError
from galloon.clients.formats.registry import FORMATS, Format, detect
from galloon.clients.formats.result import ReadResult
from galloon.clients.formats.source import source_of_bytes
from galloon.clients.formats.utterances import utterances_of
from galloon.clients.formats.writers import WRITERS
from galloon.learners.observation import Utterance
from tests.clients.formats.goldens import Golden, goldens
from tests.clients.formats.mutation import mutate

SECONDS_PER_FILE = 2.0
ADDRESS_SPACE_BYTES = 3 << 30


class Hang(BaseException):
    """A reader took too long. Not an Exception, so that no reader can swallow it."""


def broken_copies(entry: Format, count: int, seed: int) -> Iterator[tuple[Golden, bytes]]:
    """Mutated goldens of one format, the same for the same seed."""
    own = [golden for golden in goldens() if golden.format is entry]
    inputs = [(golden, golden.plain_bytes()) for golden in own]
    inputs += [(golden, golden.path.read_bytes()) for golden in own if golden.path.suffix == ".gz"]
    draw = random.Random(f"{entry.name}-{seed}")
    for _ in range(count):
        golden, data = draw.choice(inputs)
        yield golden, mutate(data, draw)


def read_broken(golden: Golden, data: bytes) -> bool:
    """Read one broken copy by name and by detection, and write what came out. False if it was refused."""
    accepted = False
    for by_detection in (False, True):
        try:
            source = source_of_bytes(str(golden.path), data, folder=golden.path.parent)
            entry = detect(source) if by_detection else golden.format
            if by_detection and entry is golden.format:
                continue
            _write_all(entry.read(source))
            accepted = accepted or not by_detection
        except ClientError:
            pass
    return accepted


def _write_all(result: ReadResult) -> None:
    utterances = [Utterance(key, (output,)) for key, output in result.outputs.items()]
    for writer in WRITERS:
        written = "".join(writer.lines(utterances)).encode()
        if writer.name == "utterances":
            again = list(utterances_of(io.BytesIO(written), "written", None))
            assert [entry.id for entry in again] == [entry.id for entry in utterances]


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise Hang

    previous = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def _fuzz(entry: Format, count: int, seed: int) -> dict[str, float]:
    accepted = failures = 0
    slowest = 0.0
    started = time.process_time()
    for number, (golden, data) in enumerate(broken_copies(entry, count, seed)):
        before = time.process_time()
        try:
            with _time_limit(SECONDS_PER_FILE):
                accepted += read_broken(golden, data)
        except (Exception, Hang):
            failures += 1
            if failures <= 3:
                print(f"{entry.name}, mutation {number} of {golden.name}:", file=sys.stderr)
                traceback.print_exc()
        slowest = max(slowest, time.process_time() - before)
    return {
        "files": count,
        "accepted": accepted,
        "refused": count - accepted - failures,
        "failures": failures,
        "slowest_s": round(slowest, 4),
        "seconds": round(time.process_time() - started, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="files per format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=[entry.name for entry in FORMATS], help="this one only")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("error")
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES))
    report = {}
    for entry in FORMATS:
        if options.format in (None, entry.name):
            report[entry.name] = _fuzz(entry, options.count, options.seed)
            if not options.json:
                print(
                    entry.name, *(f"{key}={value}" for key, value in report[entry.name].items()), flush=True
                )
    if options.json:
        print(json.dumps(report))
    return 1 if any(row["failures"] for row in report.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
