"""Other readings of words and characters, as OCR engines list them: `Readings` collects those of a line.

Alternatives of words come from ALTO and PAGE. Those of characters (Tesseract's `lstm_choice_mode`, glyphs of ALTO
and PAGE) become alternatives of their word, each character in turn replaced by its next best. A line with
alternatives gets a confusion network as its lattice, which learners hear.
"""

from collections.abc import Sequence

from galloon.clients.formats.confusion_network import network_of
from galloon.clients.formats.source import Source
from galloon.learners.observation import ExpertOutput, Reading, Word

LEAST = 0.001  # of a word's probability below which a reading is not worth its place
_MOST = 8  # readings of a word beside the one it has


class Readings:
    """The words of a line while they come in, each with what else it may be."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.words: list[Word] = []
        self._alternatives: list[tuple[Reading, ...]] = []
        self._characters: list[tuple[tuple[Reading, ...], ...]] = []

    def add(
        self,
        words: Sequence[Word],
        alternatives: Sequence[Reading] = (),
        characters: Sequence[Sequence[Reading]] = (),
    ) -> None:
        """An entry of the file; one that is several words keeps no alternatives, which would be of all of them."""
        self.words += words
        if len(words) != 1:
            if alternatives or characters:
                self._source.note("alternatives of several words together left out")
            self._alternatives += [()] * len(words)
            self._characters += [()] * len(words)
            return
        said = words[0].text
        spelled = "".join(slot[0].text for slot in characters if slot)
        known = [_normed(slot) for slot in characters] if spelled == said else []
        if characters and not known:
            self._source.note("choices of characters that do not spell their word left out")
        found = [*alternatives, *spellings(known)]
        self._source.count_words(len(found))
        unlike: dict[str, Reading] = {}
        for reading in sorted(found, key=lambda reading: -reading.probability):
            text = "".join(reading.text.split())
            if text and text != said and len(text) <= self._source.limits.word_characters:
                unlike.setdefault(text, Reading(text, reading.probability))
        self._alternatives.append(tuple(unlike.values())[:_MOST])
        self._characters.append(tuple(tuple(slot) for slot in known))

    def output(self, line: int, confidence: float | None = None) -> ExpertOutput:
        """What the engine said in this line."""
        words = tuple(self.words)
        if not any(self._alternatives):
            return ExpertOutput(self._source.stem, words, confidence)
        slots = [
            [Reading(word.text, _rest(others)), *others]
            for word, others in zip(words, self._alternatives, strict=True)
        ]
        return ExpertOutput(
            self._source.stem,
            words,
            confidence,
            lattice=network_of(slots, self._source, line),
            alternatives=tuple(self._alternatives),
            characters=tuple(self._characters) if any(self._characters) else (),
        )


def spellings(characters: Sequence[Sequence[Reading]]) -> list[Reading]:
    """Words with one character as the engine's second thoughts have it, as probable as that thought."""
    best = [slot[0].text for slot in characters]
    found = []
    for place, slot in enumerate(characters):
        for reading in slot[1:]:
            if reading.probability >= LEAST:
                text = "".join([*best[:place], reading.text, *best[place + 1 :]])
                found.append(Reading(text, reading.probability))
    return found


def _normed(slot: Sequence[Reading]) -> list[Reading]:
    """Confidences of a character as probabilities."""
    total = sum(reading.probability for reading in slot)
    return (
        [Reading(reading.text, reading.probability / total) for reading in slot] if total > 0 else list(slot)
    )


def shared_rest(confidence: float | None, texts: Sequence[str]) -> list[Reading]:
    """Alternatives without numbers of their own share what their word's confidence leaves."""
    rest = 1.0 - (0.5 if confidence is None else min(0.999, max(0.0, confidence)))
    return [Reading(text, rest / len(texts)) for text in texts]


def _rest(others: Sequence[Reading]) -> float:
    """What is left for the word that was chosen: at least as much as its best alternative."""
    taken = sum(reading.probability for reading in others)
    return max(1.0 - taken, max((reading.probability for reading in others), default=0.0), LEAST)
