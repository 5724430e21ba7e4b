"""Error rates on real text, line by line from a cold start: predict, then learn. And how fast that is.

`figures` plays the bundled samples as users do by default: percent of errors by engine set, unit and setting, and
utterances a second with alignment and learning. `python -m bench.text FILE` plays one file and shows engines,
votes and galloon, split by label and by halves.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import click

from galloon.clients.formats.utterances import read_utterances
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.learners.alignment import align, majority_vote, slot_text
from galloon.learners.combiner import TrueText
from galloon.learners.scoring.error_rate import ErrorCounts, char_errors, word_errors
from galloon.learners.scoring.normalizers import normalizer
from galloon.learners.spec import CombinerSpec
from galloon.learners.text_combiner import TextCombiner
from galloon.learners.utterance import Utterance

OCR = ("tess_eng", "tess_deu", "tess_bin", "rapidocr", "tess_legacy", "ocrad", "gocr")
ASR = ("moonshine_base", "moonshine_tiny", "ps_dom", "ps_gen", "ps_fast")
SPLITS = ("domain", "source")


@dataclass(frozen=True, slots=True)
class Run:
    """One file played through: errors of every text by split, and the CPU seconds that galloon took."""

    errors: Mapping[str, Mapping[str, ErrorCounts]] = field(default_factory=dict)  # by split, by name
    utterances: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Galloon's errors in percent."""
        return self.errors["all"]["galloon"].rate


def figures() -> dict[str, dict[str, float]]:
    """Percent of errors (WER; CER for characters), and utterances a second of CPU time."""
    ocr, asr = list(_utterances(ocr_sample())), list(_utterances(asr_sample()))
    five = OCR[:5]
    play(ocr[:50], five)
    return {
        "ocr, 5 engines": _row(play(ocr, five)),
        "ocr, 5 engines, domain given": _row(play(ocr, five, labels=("domain",))),
        "ocr, 7 engines": _row(play(ocr, OCR)),
        "ocr, 5 engines, characters": _row(play(ocr, five, unit="char")),
        "asr, 5 engines": _row(play(asr, ASR)),
        "ocr, told which shown tokens are right": _row(play(ocr, five, setting="semi")),
        "ocr, told how many shown tokens are right": _row(play(ocr, five, setting="bandit")),
    }


def play(
    utterances: Iterable[Utterance],
    experts: tuple[str, ...],
    unit: str = "word",
    labels: tuple[str, ...] = (),
    setting: str = "",
    baselines: bool = False,
) -> Run:
    """Every utterance in order: choose, compare with the truth, learn."""
    rule = None
    errors: dict[str, dict[str, ErrorCounts]] = defaultdict(lambda: defaultdict(ErrorCounts))
    count = word_errors if unit == "word" else char_errors
    combiner, seconds, number = None, 0.0, 0
    played = list(utterances)
    for number, utterance in enumerate(played):
        by_name = {output.name: output for output in utterance.outputs}
        shown = replace(utterance, outputs=tuple(by_name[name] for name in experts))
        if combiner is None or rule is None:
            rule = normalizer("basic-speech" if utterance.labels.get("kind") == "asr" else "basic")
            combiner = TextCombiner(
                CombinerSpec(
                    experts=experts,
                    unit=unit,
                    normalizer=rule.name,
                    labels=labels,
                    setting=setting,
                    decide="sample" if setting else "best",
                )
            )
        start = time.process_time()
        decision = combiner.choose(shown, number)
        combiner.learn(decision.memory, TrueText(utterance.target or ""))
        seconds += time.process_time() - start
        texts = {"galloon": decision.text}
        if baselines:
            network = align(shown, unit, rule)
            vote = [network.vocabulary[token] for token in majority_vote(network).tokens]
            texts["vote"] = slot_text(vote, unit)
            texts |= {output.name: rule(output.text) for output in shown.outputs}
        target = rule(utterance.target or "")
        half = f"half {1 + 2 * number // len(played)}"
        for split in ("all", half, *(f"{s} {utterance.labels.get(s)}" for s in SPLITS)):
            for name, text in texts.items():
                errors[split][name] += count(target, text)
    return Run(errors, number + 1, seconds)


def _row(run: Run) -> dict[str, float]:
    return {
        "errors": round(run.rate, 3),
        "first_half": round(run.errors["half 1"]["galloon"].rate, 3),
        "second_half": round(run.errors["half 2"]["galloon"].rate, 3),
        "utterances_per_s": round(run.utterances / run.seconds),
    }


def _utterances(path) -> Iterator[Utterance]:
    return read_utterances(path, lattices=False)


@click.command()
@click.argument("file", type=click.Path(exists=True))
@click.option("--experts", help="Engines, with commas between them; all of the first line by default.")
@click.option("--unit", type=click.Choice(["word", "char"]), default="word")
@click.option("--context", multiple=True, help="A label that the learner may look at.")
@click.option("--setting", type=click.Choice(["full", "semi", "bandit"]), default="full")
def main(file: str, experts: str | None, unit: str, context: tuple[str, ...], setting: str) -> None:
    """Play FILE and show error rates in percent, over all and by parts."""
    utterances = list(_utterances(file))
    names = tuple(experts.split(",")) if experts else tuple(o.name for o in utterances[0].outputs)
    told = "" if setting == "full" else setting
    run = play(utterances, names, unit, context, told, baselines=True)
    for split, by_name in sorted(run.errors.items()):
        rates = "  ".join(f"{name} {counts.rate:.2f}" for name, counts in by_name.items())
        print(f"{split:28} {rates}")
    print(f"{run.utterances / run.seconds:.0f} utterances a second of CPU time")


if __name__ == "__main__":
    main()
