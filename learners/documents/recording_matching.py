"""One recording, as several recognisers cut and heard it, brought together piece by piece: `match_recording`.

Pieces are those of the recogniser that agrees best with the others, ended at its silences and segments. The words
of the others are aligned to its own by their letters, in stretches of a minute or two that end where engines agree
on three words in a row, at about the same time where times are known. So the work grows with the length of the
recording, and an hour of speech is no longer one line.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from rapidfuzz.distance import Indel, Levenshtein

from galloon.learners.documents.document import Page
from galloon.learners.documents.failures import sift
from galloon.learners.documents.matched import MatchedLine, MatchedPage
from galloon.learners.documents.resemblance import bag, contained, letters_of
from galloon.learners.observation import Word

_RULE = "basic-speech"
_STRETCH = 250  # words of the leading engine after which a stretch may end
_SAME_TIME_S = 12.0  # by how much times of the same word may differ where one engine gives those of segments
_PAUSE_S, _SHORT_PIECE, _LONG_PIECE = 0.35, 6, 40  # seconds; words


@dataclass(frozen=True, slots=True)
class _Heard:
    """The words of one engine in a row."""

    words: tuple[Word, ...]
    letters: tuple[str, ...]
    times: tuple[float | None, ...]  # middles
    borders: frozenset[int]  # places of words that begin a segment
    speakers: tuple[str, ...]


def match_recording(pages: Mapping[str, Page]) -> MatchedPage:
    """The pieces of the recording in order of time; each channel by itself."""
    sifted = sift(pages)
    channels = sorted({line.channel for page in sifted.pages.values() for line in page.lines})
    lines: list[MatchedLine] = []
    for channel in channels or [""]:
        heard = {engine: _heard(page, channel) for engine, page in sifted.pages.items()}
        heard = {engine: found for engine, found in heard.items() if found.words}
        lines += _pieces(heard, channel) if heard else []
    if len(channels) > 1:
        lines.sort(key=lambda line: line.start or 0.0)
    numbered = tuple(replace(line, id=str(number)) for number, line in enumerate(lines, 1))
    name = next((page.name for page in pages.values() if page.name), "")
    return MatchedPage(numbered, timed=True, name=name, absent=sifted.absent, notes=sifted.notes)


def _heard(page: Page, channel: str) -> _Heard:
    words: list[Word] = []
    borders: set[int] = set()
    speakers: list[str] = []
    for line in page.lines:
        if line.channel not in {channel, ""}:
            continue
        borders.add(len(words))
        words += _timed(line.words, line.start, line.end)
        speakers += [line.speaker] * len(line.words)
    letters = tuple(letters_of([word], _RULE) for word in words)
    times = tuple(
        None if word.start is None or word.end is None else (word.start + word.end) / 2 for word in words
    )
    return _Heard(tuple(words), letters, times, frozenset(borders), tuple(speakers))


def _timed(words: Sequence[Word], start: float | None, end: float | None) -> list[Word]:
    """The words; where only their segment has times, each gets its share of it, by letters."""
    if start is None or end is None or any(word.start is not None for word in words):
        return list(words)
    total = sum(len(word.text) + 1 for word in words)
    reached = [0, *accumulate(len(word.text) + 1 for word in words)]
    step = (end - start) / max(1, total)
    return [
        Word(word.text, word.confidence, start + low * step, start + high * step)
        for word, low, high in zip(words, reached, reached[1:], strict=False)
    ]


def _pieces(heard: Mapping[str, _Heard], channel: str) -> list[MatchedLine]:
    leader = _leader(heard)
    lead = heard[leader]
    owners = {engine: _aligned(lead, found) for engine, found in heard.items() if engine != leader}
    starts = _cuts(lead, owners)
    piece_of = [0] * len(lead.words)
    for number, (low, high) in enumerate(zip(starts, [*starts[1:], len(lead.words)], strict=True)):
        piece_of[low:high] = [number] * (high - low)
    said: list[dict[str, list[int]]] = [{} for _ in starts]
    for place, number in enumerate(piece_of):
        said[number].setdefault(leader, []).append(place)
    for engine, owner in owners.items():
        for place, at in enumerate(owner):
            said[piece_of[at]].setdefault(engine, []).append(place)
    return [_line(heard, spoken, channel) for spoken in said]


def _leader(heard: Mapping[str, _Heard]) -> str:
    """The engine whose words are most in the others'; times, then names, where two are alike."""
    bags = {engine: bag("".join(found.letters), 5) for engine, found in heard.items()}

    def agreement(engine: str) -> float:
        return sum(
            contained(bags[engine], other) + contained(other, bags[engine])
            for name, other in bags.items()
            if name != engine
        )

    return max(heard, key=lambda engine: (round(agreement(engine), 3), any(heard[engine].times), engine))


def _aligned(lead: _Heard, other: _Heard) -> list[int]:
    """For each word of another engine the place of the leader's word that it belongs to."""
    owner: list[int] = []
    at_lead = at_other = 0
    drift = 0.0  # of the other engine's clock
    while at_other < len(other.words):
        end_lead, end_other = _stretch_end(lead, other, at_lead, at_other, drift)
        owner += _aligned_stretch(lead.letters[at_lead:end_lead], other.letters[at_other:end_other], at_lead)
        at_lead, at_other = end_lead, end_other
        if at_lead < len(lead.words) and at_other < len(other.words):
            drift = (other.times[at_other] or 0.0) - (lead.times[at_lead] or 0.0)
    return owner


def _stretch_end(lead: _Heard, other: _Heard, at_lead: int, at_other: int, drift: float) -> tuple[int, int]:
    """Where the stretch from here ends in both: before three words that both have, or at the end of both.

    The three must be at the same time; where none are for long, clocks run apart, and words alone must do.
    """
    for place in range(at_lead + _STRETCH, len(lead.words) - 2):
        walked = place - at_lead
        if walked > 20 * _STRETCH:
            return place, _by_time(lead, other, place, at_other)
        want = lead.letters[place : place + 3]
        if sum(map(len, want)) <= 8:
            continue
        low, high = at_other + 1, min(len(other.words) - 2, at_other + 2 * walked + _STRETCH)
        found = [
            there
            for there in range(low, high)
            if other.letters[there] == want[0]
            and other.letters[there : there + 3] == want
            and (walked > 2 * _STRETCH or _same_time(lead.times[place], other.times[there], drift))
        ]
        if len(found) == 1:
            return place, found[0]
    return len(lead.words), len(other.words)


def _by_time(lead: _Heard, other: _Heard, place: int, at_other: int) -> int:
    """Where engines agree on nothing for long: the first word of the other that comes later, or as far on."""
    time = lead.times[place] if place < len(lead.times) else None
    for there in range(at_other + 1, len(other.words)):
        later = other.times[there]
        if time is not None and later is not None and later >= time:
            return there
    return len(other.words)


def _same_time(first: float | None, second: float | None, drift: float) -> bool:
    return first is None or second is None or abs(second - first - drift) < _SAME_TIME_S


def _aligned_stretch(lead: Sequence[str], other: Sequence[str], first: int) -> list[int]:
    if not lead:
        return [max(0, first - 1)] * len(other)
    of_letter = [place for place, word in enumerate(lead) for _ in word] or [0]
    place_of = [0] * sum(map(len, other))
    for code in Levenshtein.opcodes("".join(lead), "".join(other)):
        for step in range(code.dest_end - code.dest_start):
            at = min(code.src_start + step, max(code.src_start, code.src_end - 1), len(of_letter) - 1)
            place_of[code.dest_start + step] = of_letter[at]
    owner, reached, last = [], 0, 0
    for word in other:
        votes = place_of[reached : reached + len(word)]
        reached += len(word)
        last = max(last, Counter(votes).most_common(1)[0][0] if votes else last)
        owner.append(first + last)
    return owner


def _cuts(lead: _Heard, owners: Mapping[str, Sequence[int]]) -> list[int]:
    """Where pieces begin: at segments and silences, and in long ones where no engine's word straddles the cut."""
    straddled: Counter[int] = Counter()
    for owner in owners.values():
        straddled.update(after for before, after in pairwise(owner) if before == after)
    starts = [0]
    for place in range(1, len(lead.words)):
        size = place - starts[-1]
        end, start = lead.words[place - 1].end, lead.words[place].start
        pause = 0.0 if end is None or start is None else start - end
        ended = place in lead.borders or pause >= _PAUSE_S
        long = size >= _LONG_PIECE and (not straddled[place] or size >= 2 * _LONG_PIECE)
        changed = lead.speakers[place] != lead.speakers[place - 1]
        if long or changed or (ended and size >= _SHORT_PIECE):
            starts.append(place)
    return starts if lead.words else []


def _line(heard: Mapping[str, _Heard], spoken: Mapping[str, Sequence[int]], channel: str) -> MatchedLine:
    said = {
        engine: tuple(heard[engine].words[place] for place in places) for engine, places in spoken.items()
    }
    said = {engine: said[engine] for engine in heard if engine in said}
    letters = [letters_of(words, _RULE) for words in said.values()]
    pairs = [(a, b) for place, a in enumerate(letters) for b in letters[:place]]
    alike = [Indel.normalized_similarity(a, b) for a, b in pairs]
    leading = [words for words in said.values() if words[0].start is not None and words[-1].end is not None]
    speakers = Counter(
        heard[engine].speakers[place]
        for engine, places in spoken.items()
        for place in places
        if heard[engine].speakers[place]
    )
    return MatchedLine(
        "",
        said,
        start=min((words[0].start or 0.0 for words in leading[:1]), default=None),
        end=max((words[-1].end or 0.0 for words in leading[:1]), default=None),
        speaker=speakers.most_common(1)[0][0] if speakers else "",
        channel=channel,
        confidence=sum(alike) / len(alike) if alike else 1.0,
    )
