"""JSON of Whisper, faster-whisper, WhisperX, whisper.cpp and OpenAI's service: `read_whisper`.

All have segments; words, their times and their scores are optional and may be missing for single words
(WhisperX cannot align numerals). A word's confidence is `probability` (Whisper), `score` (WhisperX) or
`confidence` (whisper-timestamped); a segment's is the exponential of `avg_logprob`. whisper.cpp calls segments
`transcription`, counts milliseconds, and with `-ojf` lists tokens, which are pieces of words.
"""

import math
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text, spoken_words
from galloon.learners.observation import ExpertOutput, Word

NAME = "whisper"
_MARK = re.compile(r"\[_[A-Z]{2,5}_[^\]]{0,20}\]|<\|[^|<>]{0,20}\|>")  # whisper.cpp's tokens that are no text


def sniff_whisper(sample: Sample) -> bool:
    text = sample.text
    if not sample.is_json:
        return False
    if re.search(r'"(avg_logprob|no_speech_prob|word_segments|transcription)"\s*:', text):
        return True
    return bool(
        re.search(r'"segments"\s*:\s*\[\s*(\{\s*"(id|seek|start|end|text|words|type|speaker)"|\])', text)
    ) and ('"alternatives"' not in text)


def read_whisper(source: Source) -> ReadResult:
    """The words of each segment, under the segment's id, or its place in the list."""
    document = load_json(source)
    lines = Lines(source, timed=True)
    segments = document if isinstance(document.value, list) else document.first("segments", "transcription")
    # OpenAI's service lists words beside the segments rather than in them.
    loose = deque(() if isinstance(document.value, list) else document["words"].items())
    found = list(segments.items())
    for place, segment in enumerate(found):
        entries = segment["words"]
        if entries:
            words = _words(entries.items(), source)
        elif segment["tokens"] and "offsets" in segment:
            words = _words_of_tokens(segment["tokens"].items(), source)
        elif loose:
            words = _take(loose, segment, last=place == len(found) - 1, source=source)
            words = _as_written(words, segment["text"].text() or "")
        else:
            words = ()
        text = segment["text"].text() or ""
        if not words and text.strip():
            source.note("segment without words: its text was split")
            words = split_text(text, source)
        log_probability = segment["avg_logprob"].number()
        confidence = None if log_probability is None else math.exp(min(log_probability, 0.0))
        if words:
            name = segment["id"].name(str(place))
            lines.add(name, ExpertOutput(source.stem, words, confidence), place=_place(segment))
        else:
            source.note("segment without text left out")
    if not found:
        _whole_text(document, loose, lines, source)
    return lines.result(NAME)


def _place(segment: Node) -> Place:
    """When it was said and, where somebody has told the speakers apart (WhisperX), by whom."""
    offsets = segment["offsets"]  # whisper.cpp, in milliseconds
    if offsets:
        times = [offsets[key].number() for key in ("from", "to")]
        start, end = (None if time is None else time / 1000 for time in times)
    else:
        start, end = segment["start"].number(), segment["end"].number()
    return Place(start=start, end=end, speaker=segment["speaker"].name(""))


def _whole_text(document: Node, loose: Iterable[Node], lines: Lines, source: Source) -> None:
    if isinstance(document.value, list):
        return
    words = _words(loose, source) or split_text(document["text"].text() or "", source)
    if words:
        lines.add("0", ExpertOutput(source.stem, words))
    elif not any(key in document for key in ("segments", "transcription", "text", "words")):
        raise source.error(None, "neither segments, words nor text are there", "is this Whisper's JSON?")


def _words(entries: Iterable[Node], source: Source) -> tuple[Word, ...]:
    words: list[Word] = []
    for entry in entries:
        start, end = entry["start"].number(), entry["end"].number()
        confidence = entry.first("probability", "score", "confidence").number()
        if start is None or end is None:
            source.note("word without times")
        if confidence is None:
            source.note("word without a score")
        text = entry.first("word", "text").text() or ""
        words += spoken_words(text, source, confidence=confidence, start=start, end=end)
    return tuple(words)


def _words_of_tokens(tokens: Iterable[Node], source: Source) -> tuple[Word, ...]:
    """whisper.cpp's tokens: a word begins with a blank, and is as sure as the least sure of its tokens."""
    words: list[Word] = []
    pieces: list[tuple[str, Node]] = []
    for token in [*tokens, None]:
        text = " " if token is None else token["text"].text() or ""
        if pieces and text[:1].isspace():
            sure = [p for _, piece in pieces if (p := piece["p"].number()) is not None]
            begin, end = pieces[0][1]["offsets"]["from"].number(), pieces[-1][1]["offsets"]["to"].number()
            words += spoken_words(
                "".join(piece for piece, _ in pieces),
                source,
                confidence=min(sure, default=None),
                start=None if begin is None else begin / 1000,
                end=None if end is None else end / 1000,
            )
            pieces = []
        if token is not None and not _MARK.fullmatch(text) and text.strip():
            pieces.append((text, token))
    return tuple(words)


def _as_written(words: tuple[Word, ...], text: str) -> tuple[Word, ...]:
    """OpenAI's words come without the marks and capitals of the segment's text: taken from there if it fits."""
    written = text.split()
    if len(written) != len(words):
        return words
    same = all(_letters(new) == _letters(word.text) for word, new in zip(words, written, strict=True))
    return tuple(replace(word, text=new) for word, new in zip(words, written, strict=True)) if same else words


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _take(loose: deque[Node], segment: Node, *, last: bool, source: Source) -> tuple[Word, ...]:
    """Take off the words that start before the segment ends."""
    end = segment["end"].number()
    taken = []
    while loose:
        start = loose[0]["start"].number()
        if not last and end is not None and start is not None and start >= end:
            break
        taken.append(loose.popleft())
    return _words(taken, source)
