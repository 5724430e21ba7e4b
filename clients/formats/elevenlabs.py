"""JSON of ElevenLabs' Scribe: `read_elevenlabs`.

`words` are words, the blanks between them, and events such as laughter, which are left out. A recording of
several channels has `transcripts`, one for each. A word's confidence is the exponential of its `logprob`.
"""

import math
import re

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.turns import Turns
from galloon.clients.formats.words import split_text, spoken_words
from galloon.learners.observation import ExpertOutput

NAME = "elevenlabs"


def sniff_elevenlabs(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"(language_probability|speaker_id)"\s*:', sample.text)
        and re.search(r'"(words|text)"\s*:', sample.text)
    )


def read_elevenlabs(source: Source) -> ReadResult:
    """Each turn under its place in the file."""
    document = load_json(source)
    lines = Lines(source, timed=True)
    transcripts = list(document["transcripts"].items())
    if not transcripts and "words" not in document and "text" not in document:
        raise document.wrong('an object with "words"')
    for number, transcript in enumerate(transcripts or [document]):
        channel = transcript["channel_index"].name(str(number)) if transcripts else ""
        _transcript(transcript, channel, lines, source)
    return lines.result(NAME)


def _transcript(transcript: Node, channel: str, lines: Lines, source: Source) -> None:
    turns = Turns(lines, source)
    for entry in transcript["words"].items():
        kind = entry["type"].text()
        if kind == "spacing":
            continue
        if kind == "audio_event":
            source.note("sound that is not speech left out")
            continue
        log_probability = entry["logprob"].number()
        words = spoken_words(
            entry["text"].text() or "",
            source,
            confidence=None if log_probability is None else math.exp(min(0.0, log_probability)),
            start=entry["start"].number(),
            end=entry["end"].number(),
        )
        turns.add(words, entry["speaker_id"].name(""), channel)
    turns.end()
    text = transcript["text"].text() or ""
    if "words" not in transcript and text.strip():
        lines.add(str(len(lines)), ExpertOutput(source.stem, split_text(text, source)))
