"""One page, as several engines read it, brought together line by line: `match_page`.

Engines with boxes are matched by place (`lines`), those without by what they say (`placing`). Where nobody gives
boxes, the lines are those of the engine that agrees best with the others, and the rest is matched by what it says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

from galloon.learners.documents.cutting import cut_line, cut_pages
from galloon.learners.documents.document import Box, Line, Page
from galloon.learners.documents.failures import sift
from galloon.learners.documents.invented import invented
from galloon.learners.documents.layout import lay_out
from galloon.learners.documents.lines import find_lines
from galloon.learners.documents.matched import MatchedLine, MatchedPage, Unmatchable
from galloon.learners.documents.placing import place_words
from galloon.learners.documents.reading_order import Placed, Voter, reading_order
from galloon.learners.documents.resemblance import bag, contained, letters_of, most_typical
from galloon.learners.observation import Word

_BORDER = 2  # words
_PART = 70.0  # of 100: letters that are in another line


@dataclass(slots=True)
class _Draft:
    """A line while engines are added to it."""

    said: dict[str, tuple[Word, ...]] = field(default_factory=dict)
    order: dict[str, float] = field(default_factory=dict)  # where it stands in each engine's own reading
    places: dict[str, tuple[Box, ...]] = field(default_factory=dict)
    line_confidences: dict[str, float] = field(default_factory=dict)
    placed: Placed | None = None
    source: Line | None = None  # the engine's line that gives the region

    def letters(self) -> dict[str, str]:
        return {engine: letters_of(words) for engine, words in self.said.items()}

    def confidences(self) -> dict[str, float | None]:
        """How sure each engine is of its words here, in the mean, or of the line that they came from."""
        found: dict[str, float | None] = {}
        for engine, words in self.said.items():
            known = [word.confidence for word in words if word.confidence is not None]
            found[engine] = sum(known) / len(known) if known else self.line_confidences.get(engine)
        return found

    @property
    def typical(self) -> str:
        """The letters of the engine that is most like the others here."""
        return most_typical(list(self.letters().values()))


def match_page(pages: Mapping[str, Page], order_from: str | None = None) -> MatchedPage:
    """The lines of the page in reading order; `order_from` names an engine whose order is taken as it is."""
    sifted = sift(pages)
    boxed = any(page.has_boxes for page in sifted.pages.values())
    parts = [sifted.pages] if boxed else cut_pages(sifted.pages)
    if order_from is not None and order_from not in sifted.pages:
        raise Unmatchable(order_from, "the order was to come from it, but it has no text on this page")
    found = [_match_part({e: page for e, page in part.items() if page.lines}, order_from) for part in parts]
    first = next((page for page in sifted.pages.values() if page.has_boxes), None)
    lines = [short for part in found for draft in part.drafts for short in cut_line(_matched(draft))]
    left_out: dict[str, tuple[str, ...]] = {}
    for part in found:
        for engine, texts in part.left_out.items():
            left_out[engine] = (*left_out.get(engine, ()), *texts)
    return MatchedPage(
        tuple(replace(line, id=str(number)) for number, line in enumerate(lines, 1)),
        first.width if first else None,
        first.height if first else None,
        name=next((page.name for page in pages.values() if page.name), ""),
        absent=sifted.absent,
        left_out=left_out,
        notes=sifted.notes,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """The lines of a page, or of a part of a long one, in reading order, and what engines invented."""

    drafts: list[_Draft]
    left_out: dict[str, list[str]]


def _match_part(kept: dict[str, Page], order_from: str | None) -> _Part:
    boxed = {engine: page for engine, page in kept.items() if page.has_boxes}
    if boxed:
        drafts = _by_place(boxed)
    elif kept:
        base = _most_agreeing(kept)
        drafts = _by_lines(base, kept[base])
        boxed = {base: kept[base]}
    else:
        drafts = []
    unplaced = {engine: page for engine, page in kept.items() if engine not in boxed}
    if unplaced:
        drafts = _ordered(drafts, list(boxed), None)
    for engine, page in unplaced.items():
        drafts = _by_text(drafts, engine, page)
    made_up = [False] * len(drafts)
    if len(kept) > 1:
        made_up = invented([draft.letters() for draft in drafts], [draft.confidences() for draft in drafts])
    left_out: dict[str, list[str]] = {}
    for draft in (draft for draft, bad in zip(drafts, made_up, strict=True) if bad):
        for engine, words in draft.said.items():
            left_out.setdefault(engine, []).append(" ".join(word.text for word in words))
    drafts = [draft for draft, bad in zip(drafts, made_up, strict=True) if not bad]
    return _Part(_ordered(drafts, list(kept), order_from), left_out)


def _by_place(boxed: Mapping[str, Page]) -> list[_Draft]:
    names = list(boxed)
    layout = lay_out(list(boxed.values()))
    lines = layout.sources
    drafts = []
    for line in find_lines(layout):
        draft = _Draft(placed=Placed(line.left, line.right, line.middle, line.height))
        for engine, rows in line.words.items():
            name = names[engine]
            draft.said[name] = tuple(layout.words[row] for row in rows)
            draft.places[name] = tuple(layout.boxes[row] for row in rows)
            draft.order[name] = float(median(rows))
            own = [lines[number].confidence for number in set(layout.lines[rows].tolist())]
            sure = [value for value in own if value is not None]
            if len(own) == 1 and sure:
                draft.line_confidences[name] = sure[0]
        draft.source = lines[int(layout.lines[next(iter(line.words.values()))[0]])]
        drafts.append(draft)
    return drafts


def _by_lines(engine: str, page: Page) -> list[_Draft]:
    lines = [line for line in page.lines if line.words]
    return [
        _Draft({engine: line.words}, {engine: float(number)}, source=line)
        for number, line in enumerate(lines)
    ]


def _by_text(drafts: list[_Draft], engine: str, page: Page) -> list[_Draft]:
    """Add an engine without boxes; words that fit no line become lines of their own, where the engine has them."""
    words = [(number, word) for number, line in enumerate(page.lines) for word in line.words]
    known = [draft.typical for draft in drafts]
    owner = place_words(known, [letters_of([word]) for _, word in words])
    _bridge(owner, [number for number, _ in words])
    found: dict[int, list[int]] = {}
    run = 0  # the first of words that belong to no line; those of one own line stay together
    for place, line in enumerate(owner):
        if line < 0 and (place == 0 or owner[place - 1] >= 0 or words[place][0] != words[place - 1][0]):
            run = place
        found.setdefault(line if line >= 0 else -1 - run, []).append(place)
    usual = median(map(len, known)) if known else 0.0
    added: list[_Draft] = []
    for key, places in found.items():
        spoken = tuple(words[place][1] for place in places)
        if key >= 0:
            drafts[key].said[engine] = spoken
            drafts[key].order[engine] = float(median(places))
        else:
            # Most of an own line, or of a paragraph as much as makes a line: the others have missed it.
            own = page.lines[words[places[0]][0]]
            letters = letters_of(spoken)
            missed = 2 * len(places) > len(own.words) or 2 * len(letters) > usual
            if missed and not _is_part(letters, known):
                added.append(_Draft({engine: spoken}, {engine: float(median(places))}, source=own))
    for draft in added:
        _insert(drafts, draft)
    return drafts


def _is_part(letters: str, lines: Sequence[str]) -> bool:
    """Whether a line has these letters already: cells of a table, read column by column, or a second reading."""
    best = process.extractOne(letters, lines, scorer=fuzz.partial_ratio, score_cutoff=_PART)
    return best is not None and len(letters) <= len(best[0])


def _bridge(owner: list[int], lines: Sequence[int]) -> None:
    """Words of one own line, between words that have found a line, go there too: misread, not left over.

    One or two where a line ends and the next begins, such as a dash that nobody else has, go to the first.
    """
    for place in range(1, len(owner)):
        if owner[place] >= 0 or owner[place - 1] < 0 or lines[place] != lines[place - 1]:
            continue
        end = place
        while end < len(owner) and owner[end] < 0 and lines[end] == lines[place]:
            end += 1
        if end < len(owner) and lines[end] == lines[place]:
            near = owner[end] == owner[place - 1] + 1 and end - place <= _BORDER
            if near or owner[end] == owner[place - 1]:
                owner[place:end] = [owner[place - 1]] * (end - place)


def _most_agreeing(pages: Mapping[str, Page]) -> str:
    """The engine whose text is most in the others'; of equally good ones that with the most lines."""
    bags = {
        engine: bag("".join(letters_of(line.words) for line in page.lines), 4)
        for engine, page in pages.items()
    }
    agreement = {
        engine: sum(
            contained(own, other) + contained(other, own) for name, other in bags.items() if name != engine
        )
        for engine, own in bags.items()
    }
    best = max(agreement.values())
    good = [engine for engine in pages if agreement[engine] >= 0.95 * best]
    return max(good, key=lambda engine: len(pages[engine].lines))


def _ordered(drafts: list[_Draft], engines: Sequence[str], order_from: str | None) -> list[_Draft]:
    """The lines in reading order. Lines without a place follow the one that they follow in their engine's text."""
    placed = [draft for draft in drafts if draft.placed is not None]
    loose = [draft for draft in drafts if draft.placed is None]
    if placed:
        places = [_with_letters(draft) for draft in placed]
        voters = {engine: _voter(placed, engine) for engine in engines}
        if order_from is not None:
            voters = {order_from: voters[order_from]}
        placed = [placed[number] for number in reading_order(places, voters, follow=order_from)]
    for draft in loose:
        _insert(placed, draft)
    return placed


def _insert(drafts: list[_Draft], draft: _Draft) -> None:
    """Put a line without a place after the one that it follows in its first engine's text."""
    engine, at = next(iter(draft.order.items()))
    before = [place for place, other in enumerate(drafts) if other.order.get(engine, at) < at]
    after = max(before, key=lambda place: drafts[place].order[engine], default=-1)
    drafts.insert(after + 1, draft)


def _with_letters(draft: _Draft) -> Placed:
    place = draft.placed
    assert place is not None, "only lines with a place are asked for it"
    return Placed(place.left, place.right, place.middle, place.height, len(draft.typical))


def _voter(drafts: Sequence[_Draft], engine: str) -> Voter:
    having = [number for number, draft in enumerate(drafts) if engine in draft.order]
    having.sort(key=lambda number: drafts[number].order[engine])
    alike = [
        (_agreement(drafts[number].letters(), engine), len(drafts[number].said[engine])) for number in having
    ]
    total = sum(weight for _, weight in alike)
    return Voter(tuple(having), sum(value * weight for value, weight in alike) / total if total else 0.0)


def _agreement(letters: Mapping[str, str], engine: str) -> float:
    others = [text for name, text in letters.items() if name != engine]
    if not others:
        return 0.5
    return sum(Indel.normalized_similarity(letters[engine], text) for text in others) / len(others)


def _matched(draft: _Draft) -> MatchedLine:
    letters = draft.letters()
    alike = [_agreement(letters, engine) for engine in letters] if len(letters) > 1 else [1.0]
    return MatchedLine(
        "",
        draft.said,
        draft.places,
        Box.around(box for boxes in draft.places.values() for box in boxes),
        region=draft.source.region if draft.source else "",
        confidence=sum(alike) / len(alike),
        line_confidences=draft.line_confidences,
        continues=draft.source.continues if draft.source else False,
    )
