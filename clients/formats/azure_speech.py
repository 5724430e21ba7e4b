"""JSON of Azure's speech service: `read_azure_speech`.

Three shapes: the recogniser's detailed answers (`NBest`, one object per utterance), batch transcription
(`recognizedPhrases`), and fast transcription (`phrases`, in milliseconds). Times are ticks of 100 ns, or
ISO 8601 durations. Words come in lexical form; where the displayed text has as many, its spelling is taken.
"""

import re
from dataclasses import replace

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json_sequence
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import finite, split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Hypothesis, Word

NAME = "azure"
TICKS_PER_SECOND = 10_000_000
_ISO = re.compile(r"PT(?:([\d.]{1,20})H)?(?:([\d.]{1,20})M)?(?:([\d.]{1,20})S)?")


def sniff_azure_speech(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"(RecognitionStatus|recognizedPhrases|NBest|combinedPhrases)"\s*:', sample.text)
    )


def read_azure_speech(source: Source) -> ReadResult:
    """Each phrase under its place in the file, with its alternatives as n-best list."""
    lines = Lines(source, timed=True)
    place = 0
    for document in load_json_sequence(source):
        phrases = _phrases(document)
        several = len({phrase["channel"].name("") for phrase in phrases}) > 1
        for phrase in phrases:
            _add_phrase(lines, str(place), phrase, source, several_channels=several)
            place += 1
    return lines.result(NAME)


def _phrases(document: Node) -> list[Node]:
    for key in ("recognizedPhrases", "phrases"):
        if key in document:
            return list(document[key].items())
    if any(key in document for key in ("NBest", "DisplayText", "RecognitionStatus")):
        return [document]
    raise document.wrong('an object with "NBest", "recognizedPhrases" or "phrases"')


def _add_phrase(lines: Lines, line_id: str, phrase: Node, source: Source, *, several_channels: bool) -> None:
    status = phrase.first("RecognitionStatus", "recognitionStatus").text()
    if status not in {None, "Success"}:
        source.note(f"phrase of status {status[:40] if status else ''} left out")
        return
    alternatives = list(phrase.first("NBest", "nBest").items())
    # Fast transcription has no alternatives: the phrase itself is the only one.
    entries = alternatives or [phrase]
    nbest = tuple(Hypothesis(_words(entry, source)) for entry in entries)
    confidence = entries[0].first("Confidence", "confidence").number()
    if nbest[0].words:
        output = ExpertOutput(source.stem, nbest[0].words, confidence, nbest if len(nbest) > 1 else ())
        start, length = _seconds(phrase, "offset"), _seconds(phrase, "duration")
        place = Place(
            start=start,
            end=None if start is None or length is None else start + length,
            speaker=phrase.first("speaker", "SpeakerId", "speakerId").name(""),
            channel=phrase["channel"].name("") if several_channels else "",
        )
        lines.add(line_id, output, place=place)
    else:
        source.note("phrase without words left out")


def _words(entry: Node, source: Source) -> tuple[Word, ...]:
    words: list[Word] = []
    for said in entry.first("DisplayWords", "displayWords", "Words", "words").items():
        start = _seconds(said, "offset")
        length = _seconds(said, "duration")
        if start is None or length is None:
            source.note("word without times")
        words += spoken_words(
            said.first("DisplayText", "displayText", "Word", "word", "text").text() or "",
            source,
            confidence=said.first("Confidence", "confidence").number(),
            start=start,
            end=None if start is None or length is None else start + length,
        )
    text = entry.first("Display", "display", "text", "DisplayText", "Lexical", "lexical").text() or ""
    spelled = split_text(text, source)
    if not words:
        return spelled
    if len(spelled) == len(words):
        return tuple(replace(old, text=new.text) for old, new in zip(words, spelled, strict=True))
    if spelled:
        source.note("words differ from the displayed text, which has no times: the words were used")
    return tuple(words)


def _seconds(said: Node, what: str) -> float | None:
    """`offset` or `duration` in whichever unit is there."""
    ticks = said.first(f"{what}InTicks", what.capitalize())
    if isinstance(ticks.value, str) and not ticks.value[:1].isdigit():
        return _iso_seconds(ticks)
    if (number := ticks.number()) is not None:
        return number / TICKS_PER_SECOND
    if (number := said[f"{what}Milliseconds"].number()) is not None:
        return number / 1000
    return _iso_seconds(said[what])


def _iso_seconds(node: Node) -> float | None:
    text = node.text()
    if text is None:
        return None
    match = _ISO.fullmatch(text)
    parts = [finite(part) if part else 0.0 for part in match.groups()] if match else [None]
    if any(part is None for part in parts):
        raise node.wrong('a duration such as "PT1.59S"')
    hours, minutes, seconds = (part or 0.0 for part in parts)
    return hours * 3600 + minutes * 60 + seconds
