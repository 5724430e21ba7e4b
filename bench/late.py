"""Lines that are combined first and corrected afterwards, in random order, with a restart in between.

Against the same lines corrected one by one as they are combined: the error rate of both learners on lines that
follow, and how many corrections the books have counted. Lines are those of the OCR sample, again and again in
other orders under other ids, until there are enough; the last quarter of the sample follows. `python -m bench
late` plays few, `python -m bench.late --lines 8000` the whole measure.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import click

from bench.progressive import FIRST_FIVE
from bench.servers import daemon
from galloon.clients.api.client import Client
from galloon.clients.api.stream import CombineStream
from galloon.clients.replay.material import Input, read_material
from galloon.clients.samples import ocr_sample
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.evaluation.error_rate import ErrorCounts, word_errors
from galloon.learners.observation import Utterance
from galloon.learners.text.normalizers import normalizer

FEW = 1000
NORMALIZER = "basic"
SPEC = CombinerSpec(FIRST_FIVE, normalizer=NORMALIZER)
AT_ONCE = "store.commit_delay_s=0"  # feedback that nobody else waits with is not held back for others
AHEAD = 32  # requests on their way
COUNTED_S = 600.0  # until the books have counted everything


def figures() -> dict[str, dict[str, float]]:
    return measured(FEW)


def measured(count: int, following: int | None = None) -> dict[str, dict[str, float]]:
    sample = read_material(ocr_sample(), FIRST_FIVE, most=Input.BEST).utterances
    border = 3 * len(sample) // 4
    lines, last = list(islice(_again_and_again(sample[:border]), count)), sample[border:][:following]
    shuffled = Random(2).sample(lines, len(lines))
    with tempfile.TemporaryDirectory() as folder:
        with daemon(Path(folder), AT_ONCE) as server:
            asyncio.run(_first(server.address, lines, shuffled[: count // 2]))
        with daemon(Path(folder), AT_ONCE) as server:
            return asyncio.run(_then(server.address, shuffled[count // 2 :], last))


def _again_and_again(sample: Sequence[Utterance]) -> Iterator[Utterance]:
    turn = 0
    while True:
        for line in Random(turn).sample(sample, len(sample)):
            yield replace(line, id=f"{turn}/{line.id}")
        turn += 1


async def _first(address: str, lines: Sequence[Utterance], half: Sequence[Utterance]) -> None:
    """One learner is taught at once; the other combines all, then is taught a half."""
    async with Client(address) as client:
        async with client.stream("at-once", create=SPEC) as stream:
            for line in lines:
                await stream.choose(_asked(line))
                await stream.learn(line.id, TrueText(line.target or ""))
        async with client.stream("late", create=SPEC) as stream:
            async for _ in stream.choose_each(map(_asked, lines)):
                pass
            await _teach(stream, half)


async def _then(
    address: str, half: Sequence[Utterance], following: Sequence[Utterance]
) -> dict[str, dict[str, float]]:
    async with Client(address) as client:
        async with client.stream("late") as stream:
            await _teach(stream, half)
        found = {name: await _judged(client, name, following) for name in ("at-once", "late")}
    found["late"]["wer_more"] = round(found["late"]["wer"] - found["at-once"]["wer"], 3)
    return found


async def _teach(stream: CombineStream, lines: Sequence[Utterance]) -> None:
    for start in range(0, len(lines), AHEAD):
        some = lines[start : start + AHEAD]
        sent = [await stream.send_feedback(line.id, TrueText(line.target or "")) for line in some]
        await asyncio.gather(*sent)


async def _judged(client: Client, name: str, following: Sequence[Utterance]) -> dict[str, float]:
    """Lessons, corrections that the books count, and the error rate on lines that are not taught."""
    learner = await client.get_learner(name)
    assert learner.statistics is not None
    lessons, counts, normalize = learner.statistics.lessons, ErrorCounts(), normalizer(NORMALIZER)
    words = await _counted_words(client, name)
    async with client.stream(name) as stream:
        for line in following:
            choice = await stream.choose(_asked(line))
            counts += word_errors(normalize(line.target or ""), normalize(choice.text))
    return {
        "lessons": lessons,
        "words_in_the_books": words,
        "wer": round(100.0 * counts.errors / counts.reference_length, 3),
    }


async def _counted_words(client: Client, name: str) -> int:
    """True words that the books have compared, once they stand still."""
    before = -1
    for _ in range(round(COUNTED_S)):
        statistics = (await client.get_learner(name)).statistics
        assert statistics is not None
        rate = statistics.error_rates.get("galloon")
        if rate is not None and rate.words == before:
            return rate.words
        before = -1 if rate is None else rate.words
        await asyncio.sleep(1.0)
    return before


def _asked(line: Utterance) -> Utterance:
    return replace(line, target=None)


@click.command()
@click.option("--lines", type=click.IntRange(min=16), default=FEW, show_default=True)
def main(lines: int) -> None:
    """Print the figures."""
    for what, numbers in measured(lines).items():
        click.echo(f"{what}: " + "  ".join(f"{name} {value:g}" for name, value in numbers.items()))


if __name__ == "__main__":
    main()
