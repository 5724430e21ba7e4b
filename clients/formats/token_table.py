"""A table of tokens for spreadsheets and scripts, tab-separated: `write_token_table`."""

from collections.abc import Iterable, Iterator

from galloon.learners.observation import Utterance

HEADER = ("id", "expert", "position", "token", "confidence", "start", "end")


def write_token_table(utterances: Iterable[Utterance]) -> Iterator[str]:
    """A row per word of each engine; an empty cell is a number that the engine did not give."""
    yield "\t".join(HEADER) + "\n"
    for utterance in utterances:
        for output in utterance.outputs:
            for position, word in enumerate(output.words):
                numbers = (
                    "" if value is None else f"{value:.6g}"
                    for value in (word.confidence, word.start, word.end)
                )
                cells = (_cell(utterance.id), _cell(output.name), str(position), word.text, *numbers)
                yield "\t".join(cells) + "\n"


def _cell(text: str) -> str:
    # Names may hold anything; a tab or a line break in one would shift the table.
    return " ".join(text.split())
