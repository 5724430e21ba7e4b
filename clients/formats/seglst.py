"""SegLST, the segments of the CHiME challenges and of meeteval, as JSON: `read_seglst`.

A list of objects with `words`, `speaker`, `session_id`, `start_time` and `end_time` in seconds. Several
sessions are several recordings.
"""

import re

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import Node, load_json
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text
from galloon.learners.observation import ExpertOutput

NAME = "seglst"


def sniff_seglst(sample: Sample) -> bool:
    return sample.text.lstrip()[:1] == "[" and bool(
        re.search(r'"session_id"\s*:', sample.text) and re.search(r'"words"\s*:\s*"', sample.text)
    )


def read_seglst(source: Source) -> ReadResult:
    """The segments of each session in order of time; a session is a recording."""
    sessions: dict[str, list[Node]] = {}
    for segment in load_json(source).items():
        sessions.setdefault(segment["session_id"].name(""), []).append(segment)
    lines = Lines(source, timed=True)
    for session, segments in sessions.items():
        lines.new_page(session)
        for segment in sorted(segments, key=lambda entry: entry["start_time"].number() or 0.0):
            words = split_text(segment["words"].text() or "", source)
            if not words:
                source.note("segment without words left out")
                continue
            place = Place(
                start=segment["start_time"].number(),
                end=segment["end_time"].number(),
                speaker=segment["speaker"].name(""),
            )
            lines.add(str(len(lines)), ExpertOutput(source.stem, words), place=place)
    return lines.result(NAME)
