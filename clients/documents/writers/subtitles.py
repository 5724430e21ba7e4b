"""Subtitles: `write_srt`, `write_vtt`. Pieces of speech are cut into cues of two lines and a few seconds."""

from collections.abc import Iterator
from dataclasses import dataclass

from galloon.clients.documents.combined import CombinedDocument, CombinedLine, CombinedWord

_ROW, _ROWS, _LONGEST_S = (
    42,
    2,
    7.0,
)  # letters a row, rows a cue, and how long one is shown: as broadcasters do


@dataclass(frozen=True, slots=True)
class _Cue:
    start: float
    end: float
    rows: tuple[str, ...]
    speaker: str


def write_srt(document: CombinedDocument) -> str:
    """SubRip; who speaks stands before the text, as WhisperX writes it."""
    blocks = []
    for number, cue in enumerate(_cues(document), 1):
        rows = [f"[{_name(cue.speaker)}]: {cue.rows[0]}", *cue.rows[1:]] if cue.speaker else cue.rows
        text = "\n".join(rows)
        blocks.append(f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{text}\n")
    return "\n".join(blocks)


def write_vtt(document: CombinedDocument) -> str:
    """WebVTT; who speaks is a voice span."""
    blocks = ["WEBVTT\n"]
    for cue in _cues(document):
        text = "\n".join(_plain(row) for row in cue.rows)
        voice = f"<v {_plain(cue.speaker)}>" if cue.speaker else ""
        blocks.append(f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{voice}{text}\n")
    return "\n".join(blocks)


def _name(speaker: str) -> str:
    return " ".join(speaker.replace("[", "(").replace("]", ")").split())


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clock(seconds: float, mark: str) -> str:
    milliseconds = max(0, round(seconds * 1000))
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{mark}{rest % 1000:03}"


def _cues(document: CombinedDocument) -> Iterator[_Cue]:
    reached = 0.0
    for page in document.pages:
        for line in page.lines:
            for words in _chunks(line):
                start = max(reached, _known(words[0].start, line.start, reached))
                end = max(start + 0.001, _known(words[-1].end, line.end, start))
                reached = end
                yield _Cue(start, end, _rows(words), line.speaker)


def _known(*times: float | None) -> float:
    return next((time for time in times if time is not None), 0.0)


def _chunks(line: CombinedLine) -> Iterator[list[CombinedWord]]:
    """Words of a piece that fit into one cue."""
    chunk: list[CombinedWord] = []
    for word in line.words:
        longer = [*chunk, word]
        first = chunk[0].start if chunk else None
        late = first is not None and word.end is not None and word.end - first > _LONGEST_S
        if chunk and (late or len(_rows(longer)) > _ROWS):
            yield chunk
            longer = [word]
        chunk = longer
    if chunk:
        yield chunk


def _rows(words: list[CombinedWord]) -> tuple[str, ...]:
    rows: list[str] = []
    for word in words:
        if rows and len(rows[-1]) + 1 + len(word.text) <= _ROW:
            rows[-1] = f"{rows[-1]} {word.text}"
        else:
            rows.append(word.text)
    return tuple(rows)
