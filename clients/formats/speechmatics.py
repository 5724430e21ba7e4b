"""Speechmatics' json-v2: `read_speechmatics`.

`results` are words and punctuation, each with alternatives, of which the first is taken; a mark belongs to the
word that it `attaches_to`. Speakers are S1, S2 and so on, UU where unknown.
"""

import re

from galloon.clients.formats.result import Lines, ReadResult
from galloon.clients.formats.safe_json import load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.turns import Turns
from galloon.clients.formats.words import spoken_words

NAME = "speechmatics"
_UNKNOWN = "UU"


def sniff_speechmatics(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"results"\s*:\s*\[', sample.text)
        and re.search(r'"type"\s*:\s*"(word|punctuation|entity|speaker_change)"', sample.text)
        and '"alternatives"' in sample.text
    )


def read_speechmatics(source: Source) -> ReadResult:
    """Each turn under its place in the file."""
    document = load_json(source)
    if "results" not in document:
        raise document.wrong('an object with "results"')
    lines = Lines(source, timed=True)
    turns = Turns(lines, source)
    before, glued = "", False  # marks of the word to come; whether it is joined to the one before
    for result in document["results"].items():
        said = next(iter(result["alternatives"].items()), None)
        if said is None:
            continue  # a change of speaker or channel, which the words tell too
        content = said["content"].text() or ""
        if result["type"].text() == "punctuation":
            attached = result["attaches_to"].text() or "previous"
            if attached in {"previous", "both"}:
                turns.punctuate(content)
                glued = attached == "both"
                continue
            if attached == "next":
                before += "".join(content.split())
                continue
        speaker = said["speaker"].name("")
        if glued:  # as in well-known
            turns.punctuate(content)
            glued = False
            continue
        words = spoken_words(
            before + content,
            source,
            confidence=said["confidence"].number(),
            start=result["start_time"].number(),
            end=result["end_time"].number(),
        )
        before = ""
        turns.add(words, "" if speaker == _UNKNOWN else speaker, result["channel"].name(""))
    turns.end()
    return lines.result(NAME)
