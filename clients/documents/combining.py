"""Matched lines through a learner: `combine_document` gives the combined document, `teach_document` teaches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from galloon.clients.api.stream import CombineStream
from galloon.clients.documents.combined import (
    CombinedDocument,
    CombinedLine,
    CombinedPage,
    CombinedWord,
    joined,
)
from galloon.clients.documents.corrections import corrections
from galloon.clients.documents.matching import MatchedDocument
from galloon.clients.documents.page_images import PageImages
from galloon.codec.answer import Choice
from galloon.learners.documents.document import Box
from galloon.learners.documents.matched import MatchedLine
from galloon.learners.documents.word_places import word_places

READ_TWICE = 20_000  # lines at most; longer documents are answered as they are read


@dataclass(frozen=True, slots=True)
class Answer:
    """A combined line, and the round of the learner that it was."""

    line: CombinedLine
    round_id: str


@dataclass(frozen=True, slots=True)
class CombinedRounds:
    """A combined document with the rounds of its lines, page by page, for whoever teaches them."""

    document: CombinedDocument
    answers: tuple[tuple[Answer, ...], ...]


def document_of_engine(matched: MatchedDocument, engine: str) -> CombinedDocument:
    """The words of one engine as they are, in the lines and at the places that all engines found together.

    Lines that it lacks are left out. A word is as sure as the number of engines that wrote it there.
    """
    pages = []
    for page in matched.pages:
        lines = []
        for line in page.lines:
            written = [{word.text for word in words} for words in line.said.values()]
            words = [
                CombinedWord(word.text, sum(word.text in others for others in written) / len(written))
                for word in line.said.get(engine, ())
            ]
            if words:
                lines.append(place_line(line, words))
        pages.append(CombinedPage(joined(lines), page.width, page.height, page.timed, page.name))
    return CombinedDocument(matched.source.stem, tuple(pages))


async def combine_document(
    stream: CombineStream,
    matched: MatchedDocument,
    engines: Sequence[str],
    mark: str = "",
    *,
    twice: bool = False,
) -> CombinedRounds:
    """Let the learner choose every line. `mark` sets the ids apart from those of earlier documents.

    twice: it reads pages once before it answers, so that it knows how engines do there. Recordings are long, and
    answered as they are read.
    """
    lines = [(number, line) for number, page in enumerate(matched.pages, 1) for line in page.lines]
    utterances = [
        line.utterance(f"{matched.source.stem}/{number}/{line.id}{mark}", engines) for number, line in lines
    ]
    timed = any(page.timed for page in matched.pages)
    if twice and not timed and len(utterances) <= READ_TWICE:
        async for _ in stream.choose_each(replace(line, id=f"{line.id}@first") for line in utterances):
            pass
    answers: list[list[Answer]] = [[] for _ in matched.pages]
    place = 0
    async for choice in stream.choose_each(utterances):
        number, line = lines[place]
        answers[number - 1].append(Answer(place_line(line, chosen_words(choice)), choice.id))
        place += 1
    pages = tuple(
        CombinedPage(
            joined(answer.line for answer in found),
            page.width,
            page.height,
            page.timed,
            page.name,
        )
        for page, found in zip(matched.pages, answers, strict=True)
    )
    return CombinedRounds(CombinedDocument(matched.source.stem, pages), tuple(map(tuple, answers)))


def chosen_words(choice: Choice) -> tuple[CombinedWord, ...]:
    """The words of a choice, with their probabilities; of characters, the least of each word's."""
    texts = choice.text.split()
    tokens = [(word, chance) for word, chance in zip(choice.words, choice.probabilities, strict=True) if word]
    if [token for token, _ in tokens] == texts:
        others = _alternatives(choice)
        slots = [slot for slot, word in enumerate(choice.words) if word]
        return tuple(
            CombinedWord(token, chance, alternatives=others.get(slot, ()))
            for slot, (token, chance) in zip(slots, tokens, strict=True)
        )
    words, at = [], 0
    letters = [chance for token, chance in tokens for letter in token if not letter.isspace()]
    for text in texts:
        chances = letters[at : at + len(text)]
        at += len(text)
        words.append(CombinedWord(text, min(chances, default=0.0)))
    return tuple(words)


def _alternatives(choice: Choice) -> dict[int, tuple[tuple[str, float], ...]]:
    """What else was on offer in each slot, the most probable first; nothing at all is an empty word."""
    found: dict[int, list[tuple[str, float]]] = {}
    for entry in choice.alternatives:
        if isfinite(entry.probability):
            found.setdefault(entry.slot, []).append((entry.token, entry.probability))
    return {slot: tuple(sorted(offers, key=lambda offer: -offer[1])) for slot, offers in found.items()}


def with_images(document: CombinedDocument, images: PageImages | None) -> CombinedDocument:
    """The document with the images of its pages."""
    if images is None:
        return document
    pages = tuple(
        replace(page, image=images.of_page(document.stem, number, len(document.pages), page.name))
        for number, page in enumerate(document.pages, 1)
    )
    return CombinedDocument(document.stem, pages)


async def teach_document(stream: CombineStream, combined: CombinedRounds, targets: Sequence[str]) -> int:
    """Teach the true texts of the pages; the number of lines whose words were found in them."""
    taught = 0
    for answers, target in zip(combined.answers, targets, strict=False):
        lines = [(answer.round_id, answer.line.text) for answer in answers]
        async for _ in stream.learn_each(corrections(lines, target)):
            taught += 1
    return taught


def place_line(line: MatchedLine, words: Sequence[CombinedWord]) -> CombinedLine:
    """The line of these words, each with its place where engines give some."""
    places = word_places(line, [word.text for word in words])
    placed = tuple(
        replace(word, box=place.box, start=place.start, end=place.end)
        for word, place in zip(words, places, strict=True)
    )
    return CombinedLine(
        line.id,
        placed,
        Box.around(place.box for place in places if place.box) or line.box,
        min((place.start for place in places if place.start is not None), default=line.start),
        max((place.end for place in places if place.end is not None), default=line.end),
        line.region,
        line.speaker,
        line.channel,
        tuple(line.said),
        line.confidence,
        line.continues,
    )
