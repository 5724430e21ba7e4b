"""STM, the segments of NIST's scoring tools: `read_stm`.

    file channel speaker begin end [<labels>] text

Lines that start with `;;` are comments. Segments to be left out of scoring (`ignore_time_segment_in_scoring`)
have no words.
"""

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import SILENT, finite, split_text
from galloon.learners.observation import ExpertOutput

NAME = "stm"
IGNORED = "ignore_time_segment_in_scoring"
_BETWEEN = "inter_segment_gap"  # the speaker of what is nobody's speech


def sniff_stm(sample: Sample) -> bool:
    rows = [line.split(None, 5) for line in sample.lines if not line.startswith(";;")]
    return bool(rows) and all(_times(row) is not None for row in rows) and any(len(row) > 5 for row in rows)


def read_stm(source: Source) -> ReadResult:
    """The segments of each file in order of time; a file is a recording."""
    found: dict[str, list[tuple[float, float, str, str, str, int]]] = {}
    count = 0
    for at, row in source.rows():
        if not row.strip() or row.startswith(";;"):
            continue
        cells = row.split(None, 5)
        times = _times(cells)
        if times is None:
            raise source.error(at, f"not a segment: {row[:40]!r}", "file channel speaker begin end text")
        text = cells[5] if len(cells) > 5 else ""
        if text.startswith("<"):  # labels such as <o,f0,male>
            text = text.partition(">")[2]
        count += 1
        source.check("lines", count, at)
        found.setdefault(cells[0], []).append((*times, cells[1], cells[2], text, at))
    lines = Lines(source, timed=True)
    for file, segments in found.items():
        lines.new_page(file)
        channels = {segment[2] for segment in segments}
        for start, end, channel, speaker, text, at in sorted(segments, key=lambda segment: segment[:2]):
            said = text.replace("{", " ").replace("}", " ")
            words = tuple(
                word
                for word in split_text(said, source, at)
                if word.text not in SILENT and word.text.lower() != IGNORED
            )
            if not words or speaker.lower() == _BETWEEN:
                source.note("segment without words left out", at)
                continue
            place = Place(start=start, end=end, speaker=speaker, channel=channel if len(channels) > 1 else "")
            lines.add(str(len(lines)), ExpertOutput(source.stem, words), at, place)
    return lines.result(NAME)


def _times(cells: list[str]) -> tuple[float, float] | None:
    """Begin and end of a segment, if these are the cells of one."""
    if len(cells) < 5:
        return None
    begin, end = finite(cells[3]), finite(cells[4])
    return None if begin is None or end is None or end < begin else (begin, end)
