"""JSON of Amazon Transcribe: `read_aws_transcribe`.

`results.items` are words and punctuation, numbers written as strings; punctuation has no times and belongs
to the word before it. With alternatives switched on, `results.segments` holds each segment's n-best list;
newer files list `results.audio_segments`, which name their items by id. Else items are cut into turns. Who
speaks stands in the items, or in `speaker_labels` by the times of words.
"""

import re
from dataclasses import replace

from galloon.clients.formats.result import NOWHERE, Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.turns import Turns
from galloon.clients.formats.words import split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Hypothesis, Word

NAME = "aws"


def sniff_aws_transcribe(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"results"\s*:\s*\{', sample.text) and re.search(r'"(transcripts|items)"\s*:', sample.text)
    )


def read_aws_transcribe(source: Source) -> ReadResult:
    """Each segment under its place in the file; without segments, the whole under the job's name."""
    document = load_json(source)
    results = document["results"]
    if not results:
        raise document.wrong('an object with "results"')
    lines = Lines(source, timed=True)
    who = _speakers(results)
    if list(results["segments"].items()):
        for place, segment in enumerate(results["segments"].items()):
            _add_segment(lines, str(place), segment, source, who)
        return lines.result(NAME)
    items = list(results["items"].items())
    parts = list(results["audio_segments"].items())
    if parts and all("id" in item for item in items):
        by_id = {item["id"].name(""): item for item in items}
        for place, part in enumerate(parts):
            named = [number.name("") for number in part["items"].items()]
            missing = [name for name in named if name not in by_id]
            if missing:
                raise part["items"].wrong(f"items that exist (not {missing[0][:20]})")
            words = _words([by_id[name] for name in named], source)
            place_ = Place(
                start=part["start_time"].number(),
                end=part["end_time"].number(),
                speaker=part["speaker_label"].name("") or _speaker(words, who),
            )
            _add(lines, part["id"].name(str(place)), words, source, place_)
        return lines.result(NAME)
    words = _words(items, source)
    if who:
        turns = Turns(lines, source)
        for word in words:
            turns.add([word], who.get(_at(word), ""))
        turns.end()
        return lines.result(NAME)
    if not words:
        for transcript in results["transcripts"].items():
            words += split_text(transcript["transcript"].text() or "", source)
    _add(lines, document["jobName"].name(source.stem), words, source, NOWHERE)
    return lines.result(NAME)


def _speakers(results: Node) -> dict[float, str]:
    """Who speaks at the times at which words begin, in milliseconds."""
    labels = [
        item for part in results["speaker_labels"]["segments"].items() for item in part["items"].items()
    ]
    labels += [item for item in results["items"].items() if "speaker_label" in item]
    return {
        round(1000 * start): item["speaker_label"].name("")
        for item in labels
        if (start := item["start_time"].number()) is not None
    }


def _at(word: Word) -> float:
    return round(1000 * (word.start or 0.0))


def _speaker(words: tuple[Word, ...], who: dict[float, str]) -> str:
    return who.get(_at(words[0]), "") if words else ""


def _add(lines: Lines, line_id: str, words: tuple[Word, ...], source: Source, place: Place) -> None:
    if words:
        lines.add(line_id, ExpertOutput(source.stem, words), place=place)
    else:
        source.note("segment without words left out")


def _add_segment(lines: Lines, line_id: str, segment: Node, source: Source, who: dict[float, str]) -> None:
    nbest = []
    for alternative in segment["alternatives"].items():
        words = _words(list(alternative["items"].items()), source)
        nbest.append(Hypothesis(words or split_text(alternative["transcript"].text() or "", source)))
    if nbest and nbest[0].words:
        output = ExpertOutput(source.stem, nbest[0].words, nbest=tuple(nbest) if len(nbest) > 1 else ())
        place = Place(
            start=segment["start_time"].number(),
            end=segment["end_time"].number(),
            speaker=_speaker(nbest[0].words, who),
        )
        lines.add(line_id, output, place=place)
    else:
        source.note("segment without words left out")


def _words(items: list[Node], source: Source) -> tuple[Word, ...]:
    words: list[Word] = []
    for item in items:
        said = item
        if "alternatives" in item:  # in the list of a whole file; in a segment the item itself says it
            alternatives = list(item["alternatives"].items())
            if not alternatives:
                source.note("item without content left out")
                continue
            if len(alternatives) > 1:
                source.note("alternative of a single word not used")
            said = alternatives[0]
        content = said["content"].text() or ""
        if item["type"].text() == "punctuation":
            if words:
                longer = words[-1].text + "".join(content.split())
                source.check("word_characters", len(longer))
                words[-1] = replace(words[-1], text=longer)
            else:
                source.note("punctuation before the first word left out")
            continue
        start, end = item["start_time"].number(), item["end_time"].number()
        if start is None or end is None:
            source.note("word without times")
        words += spoken_words(content, source, confidence=said["confidence"].number(), start=start, end=end)
    return tuple(words)
