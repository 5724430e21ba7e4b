"""Every number that bounds a reader, in one place: `ReadLimits`.

A file from elsewhere may be wrong or hostile. Each limit is checked before the memory or the time is spent,
and passing one is a `LimitExceeded` that names it. The defaults hold an hour of speech or a thick page.
"""

from dataclasses import dataclass, fields

MEBI = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What a reader accepts. All counts are of one file, unless said otherwise."""

    file_bytes: int = 64 * MEBI  # of a file that is read whole, also after decompression
    stream_bytes: int = 4096 * MEBI  # of an utterance file, which is read line by line, after decompression
    line_bytes: int = 4 * MEBI  # of one line of an utterance file, of Markdown, of subtitles
    json_bytes: int = 32 * MEBI  # of a JSON document; parsed, it may take twenty times as much
    xml_depth: int = 64  # open elements at once
    xml_elements: int = 300_000  # empty ones take four bytes, and unpack from hardly any
    attributes: int = 256  # of one XML element, or kinds of field in a lattice
    json_depth: int = 32  # open objects and arrays at once
    json_values: int = 1_000_000  # objects, arrays and what stands in them; of an utterance file, in one line
    lines: int = 200_000  # text lines, segments or utterances that a file other than JSON lines may hold
    words: int = 2_000_000  # in all lines together, alternatives included; of an utterance file, in one line
    word_characters: int = 4_096  # of one word
    nbest: int = 10_000  # alternatives of one line
    lattice_states: int = 250_000
    lattice_arcs: int = 500_000
    notes: int = 100  # kinds of remark that a reader keeps; further ones are counted only

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise ValueError(f"{field.name} must be at least 1")


DEFAULT_LIMITS = ReadLimits()
