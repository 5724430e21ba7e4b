"""Words with speakers made into segments: `Turns`, for services that list words alone.

A segment ends where somebody else speaks, on another channel, or after a pause.
"""

from dataclasses import replace

from galloon.clients.formats.result import Lines, Place
from galloon.clients.formats.source import Source
from galloon.learners.observation import ExpertOutput, Word

PAUSE_S = 1.0


class Turns:
    """Collects words in order and adds a line for each turn."""

    def __init__(self, lines: Lines, source: Source) -> None:
        self._lines, self._source = lines, source
        self._words: list[Word] = []
        self._who = ("", "")

    def add(self, words: list[Word], speaker: str = "", channel: str = "") -> None:
        """Words that follow each other, said by one speaker."""
        if not words:
            return
        if self._words and ((speaker, channel) != self._who or self._paused(words[0])):
            self.end()
        self._who = (speaker, channel)
        self._words += words

    def punctuate(self, mark: str) -> None:
        """A mark that belongs to the word before it."""
        if not self._words:
            self._source.note("punctuation before the first word left out")
            return
        longer = self._words[-1].text + "".join(mark.split())
        self._source.check("word_characters", len(longer))
        self._words[-1] = replace(self._words[-1], text=longer)

    def end(self) -> None:
        """The turn is over."""
        if self._words:
            speaker, channel = self._who
            place = Place(
                start=self._words[0].start, end=self._words[-1].end, speaker=speaker, channel=channel
            )
            self._lines.add(
                str(len(self._lines)), ExpertOutput(self._source.stem, tuple(self._words)), place=place
            )
        self._words = []

    def _paused(self, word: Word) -> bool:
        before = self._words[-1].end
        return before is not None and word.start is not None and word.start - before > PAUSE_S
