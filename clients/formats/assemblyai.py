"""JSON of AssemblyAI's transcripts: `read_assemblyai`. Times are milliseconds.

`utterances` have speakers, if asked for (`speaker_labels`); else `words` are cut into turns.
"""

import re

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.turns import Turns
from galloon.clients.formats.words import split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Word

NAME = "assemblyai"


def sniff_assemblyai(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"(audio_url|acoustic_model|language_model)"\s*:', sample.text)
        and re.search(r'"status"\s*:\s*"', sample.text)
    )


def read_assemblyai(source: Source) -> ReadResult:
    """Each utterance, or each turn, under its place in the file."""
    document = load_json(source)
    status = document["status"].text()
    if status not in {None, "completed"}:
        why = document["error"].text() or "it is not finished"
        raise source.error(
            None, f"the transcript's status is {status!r}: {why[:80]}", "fetch it when it is completed"
        )
    if not any(key in document for key in ("words", "utterances", "text")):
        raise document.wrong('an object with "utterances" or "words"')
    lines = Lines(source, timed=True)
    for utterance in document["utterances"].items():
        words = [word for entry in utterance["words"].items() for word in _word(entry, source)]
        words = words or list(split_text(utterance["text"].text() or "", source))
        if words:
            place = Place(
                start=_seconds(utterance["start"]),
                end=_seconds(utterance["end"]),
                speaker=utterance["speaker"].name(""),
                channel=utterance["channel"].name(""),
            )
            output = ExpertOutput(source.stem, tuple(words), utterance["confidence"].number())
            lines.add(str(len(lines)), output, place=place)
    if not len(lines):
        turns = Turns(lines, source)
        for entry in document["words"].items():
            turns.add(_word(entry, source), entry["speaker"].name(""), entry["channel"].name(""))
        turns.end()
    if not len(lines) and (text := document["text"].text()):
        lines.add("0", ExpertOutput(source.stem, split_text(text, source)))
    return lines.result(NAME)


def _word(entry: Node, source: Source) -> list[Word]:
    return spoken_words(
        entry["text"].text() or "",
        source,
        confidence=entry["confidence"].number(),
        start=_seconds(entry["start"]),
        end=_seconds(entry["end"]),
    )


def _seconds(node: Node) -> float | None:
    milliseconds = node.number()
    return None if milliseconds is None else milliseconds / 1000
