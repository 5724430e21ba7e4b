"""Vosk's JSON: `read_vosk`.

One object per utterance, as the recogniser prints them: alone, one after another, or in a list. Either
`result` with words and confidences, or `alternatives` (n-best) whose `confidence` is the recogniser's
unscaled score.
"""

import re

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import Node, load_json_sequence
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Hypothesis, Word

NAME = "vosk"


def sniff_vosk(sample: Sample) -> bool:
    text = sample.text
    return sample.is_json and bool(
        re.match(r'\s*\[?\s*\{\s*"(result|partial)"\s*:', text)
        or re.match(r'\s*\[?\s*\{\s*"alternatives"\s*:\s*\[\s*\{\s*"(confidence|result|text)"', text)
        or re.match(r'\s*\[?\s*\{\s*"text"\s*:\s*"[^"]*"\s*\}', text)
    )


def read_vosk(source: Source) -> ReadResult:
    """Each utterance under its place in the file."""
    lines = Lines(source, timed=True)
    for place, utterance in enumerate(load_json_sequence(source)):
        output = _output(utterance, source)
        if output is None:
            continue
        if output.words:
            lines.add(str(place), output)
        else:
            source.note("utterance without words left out")
    return lines.result(NAME)


def _output(utterance: Node, source: Source) -> ExpertOutput | None:
    if "partial" in utterance:
        source.note("partial result left out")
        return None
    if "alternatives" in utterance:
        nbest = tuple(
            Hypothesis(_words(entry, source), entry["confidence"].number())
            for entry in utterance["alternatives"].items()
        )
        return ExpertOutput(source.stem, nbest[0].words if nbest else (), nbest=nbest)
    if "result" not in utterance and "text" not in utterance:
        raise utterance.wrong('an object with "result", "alternatives" or "text"')
    return ExpertOutput(source.stem, _words(utterance, source))


def _words(said: Node, source: Source) -> tuple[Word, ...]:
    words: list[Word] = []
    for entry in said["result"].items():
        words += spoken_words(
            entry["word"].text() or "",
            source,
            confidence=entry["conf"].number(),
            start=entry["start"].number(),
            end=entry["end"].number(),
        )
    return tuple(words) or split_text(said["text"].text() or "", source)
