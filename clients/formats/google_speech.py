"""JSON of Google's Speech-to-Text, versions 1 and 2: `read_google_speech`.

`results` with `alternatives`, best first; only the first has words. Times are strings such as "1.300s"
(`startTime` in version 1, `startOffset` in 2) or, from the client libraries, seconds and nanos apart.
"""

import re

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import finite, split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Hypothesis, Word

NAME = "google"


def sniff_google_speech(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"results"\s*:\s*\[', sample.text)
        and re.search(r'"alternatives"\s*:\s*\[', sample.text)
        and re.search(r'"(transcript|words)"\s*:', sample.text)
    )


def read_google_speech(source: Source) -> ReadResult:
    """Each result under its place in the file, with its alternatives as n-best list."""
    document = load_json(source)
    if isinstance(document.value, dict) and "results" not in document and "response" in document:
        document = document["response"]  # a long-running operation that is done
    if "results" not in document:
        raise document.wrong('an object with "results"')
    lines = Lines(source, timed=True)
    spoken = _speakers(document)
    several = len({_channel(result) for result in document["results"].items()} - {"", "0"}) > 1
    for place, result in enumerate(document["results"].items()):
        alternatives = list(result["alternatives"].items())
        if not alternatives or not (alternatives[0]["transcript"].text() or "").strip():
            # With speaker labels the last result repeats all words under another name.
            source.note("result without a transcript left out")
            continue
        first = alternatives[0]
        words = _words(first, source) or split_text(first["transcript"].text() or "", source)
        nbest = tuple(
            Hypothesis(words if entry is first else split_text(entry["transcript"].text() or "", source))
            for entry in alternatives
        )
        confidence = first["confidence"].number()
        # The service writes 0.0 where it has no confidence.
        output = ExpertOutput(source.stem, words, confidence or None, nbest if len(nbest) > 1 else ())
        lines.add(str(place), output, place=_place(result, first, spoken, several_channels=several))
    return lines.result(NAME)


def _speakers(document: Node) -> dict[float, str]:
    """Who says the words that begin at these milliseconds; the last result may repeat all words for it."""
    found: dict[float, str] = {}
    for result in document["results"].items():
        for alternative in list(result["alternatives"].items())[:1]:
            for entry in alternative["words"].items():
                label = entry.first("speakerLabel", "speakerTag", "speaker_label", "speaker_tag").name("")
                start = _seconds(entry.first("startTime", "startOffset", "start_time", "start_offset"))
                if label not in {"", "0"}:
                    found[round(1000 * (start or 0.0))] = label
    return found


def _place(result: Node, alternative: Node, spoken: dict[float, str], *, several_channels: bool) -> Place:
    begins = [
        _seconds(entry.first("startTime", "startOffset", "start_time", "start_offset")) or 0.0
        for entry in alternative["words"].items()
    ]
    speaker = next((spoken[key] for begin in begins if (key := round(1000 * begin)) in spoken), "")
    channel = _channel(result) if several_channels else ""
    end = _seconds(result.first("resultEndTime", "resultEndOffset", "result_end_time", "result_end_offset"))
    return Place(
        start=begins[0] if begins else None,
        end=end,
        speaker=speaker,
        channel=channel,
    )


def _channel(result: Node) -> str:
    return result.first("channelTag", "channel_tag").name("")


def _words(alternative: Node, source: Source) -> tuple[Word, ...]:
    words: list[Word] = []
    for entry in alternative["words"].items():
        start = _seconds(entry.first("startTime", "startOffset", "start_time", "start_offset"))
        end = _seconds(entry.first("endTime", "endOffset", "end_time", "end_offset"))
        if start is None and end is not None and not words:
            start = 0.0  # version 2 leaves out an offset of zero
        if start is None or end is None:
            source.note("word without times")
        confidence = entry["confidence"].number()
        words += spoken_words(
            entry["word"].text() or "", source, confidence=confidence or None, start=start, end=end
        )
    return tuple(words)


def _seconds(node: Node) -> float | None:
    value = node.value
    if isinstance(value, dict):
        return (node["seconds"].number() or 0.0) + (node["nanos"].number() or 0.0) / 1e9
    if isinstance(value, str):
        seconds = finite(value.removesuffix("s"))
        if seconds is None:
            raise node.wrong('a duration such as "1.300s"')
        return seconds
    return node.number()
