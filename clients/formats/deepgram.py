"""JSON of Deepgram's transcription: `read_deepgram`.

`results.utterances` are segments with speakers, if asked for (`utterances=true`); else each of
`results.channels` has alternatives, whose words are cut into turns. `punctuated_word` is the word as it is
written.
"""

import re

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.turns import Turns
from galloon.clients.formats.words import split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Word

NAME = "deepgram"


def sniff_deepgram(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"results"\s*:\s*\{', sample.text) and re.search(r'"channels"\s*:\s*\[', sample.text)
    )


def read_deepgram(source: Source) -> ReadResult:
    """Each utterance, or each turn of each channel, under its place in the file."""
    results = load_json(source)["results"]
    lines = Lines(source, timed=True)
    channels = list(results["channels"].items())
    if not channels and "utterances" not in results:
        raise results.wrong('an object with "channels"')
    for utterance in results["utterances"].items():
        words = [word for entry in utterance["words"].items() for word in _word(entry, source)]
        words = words or list(split_text(utterance["transcript"].text() or "", source))
        channel = utterance["channel"].name("") if len(channels) > 1 else ""
        place = Place(
            start=utterance["start"].number(),
            end=utterance["end"].number(),
            speaker=utterance["speaker"].name(""),
            channel=channel,
        )
        if words:
            output = ExpertOutput(source.stem, tuple(words), utterance["confidence"].number())
            lines.add(utterance["id"].name(str(len(lines))), output, place=place)
    if not len(lines):
        for number, channel_node in enumerate(channels):
            _channel(channel_node, str(number) if len(channels) > 1 else "", lines, source)
    return lines.result(NAME)


def _channel(channel: Node, name: str, lines: Lines, source: Source) -> None:
    alternatives = list(channel["alternatives"].items())
    if not alternatives:
        return
    if len(alternatives) > 1:
        source.note("further alternatives of a channel not used")
    turns = Turns(lines, source)
    for entry in alternatives[0]["words"].items():
        turns.add(_word(entry, source), entry["speaker"].name(""), name)
    turns.end()
    text = alternatives[0]["transcript"].text() or ""
    if "words" not in alternatives[0] and text.strip():
        output = ExpertOutput(source.stem, split_text(text, source))
        lines.add(str(len(lines)), output, place=Place(channel=name))


def _word(entry: Node, source: Source) -> list[Word]:
    return spoken_words(
        entry.first("punctuated_word", "word").text() or "",
        source,
        confidence=entry["confidence"].number(),
        start=entry["start"].number(),
        end=entry["end"].number(),
    )
