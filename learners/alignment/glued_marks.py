"""Words that stand together across a mark, "storms.But": `glued_marks` counts them, `cut_after_marks` cuts them.

Some engines leave out the blank after a comma or a full stop. No letter is changed: an engine is only held to have
said two words, and only one that is known to do so (see `AgreementModel.gluing`). A full stop counts between a
letter and two more, so that "U.S." and "e.g." stay whole, and nothing counts before a digit.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from galloon.learners.observation import ExpertOutput, Word

_BORDER = re.compile(r"(?<=[^\W\d_][,;:.!?])(?=[^\W\d_]{2})|(?<=[,;])(?=[^\W\d_])")


def glued_marks(outputs: Iterable[ExpertOutput]) -> dict[str, int]:
    """How many such borders each engine has, without those that have none."""
    said = list(outputs)
    # In most lines nobody has any, and that is found in one go.
    if _BORDER.search(" ".join([word.text for output in said for word in output.words])) is None:
        return {}
    found = {output.name: sum(len(_BORDER.findall(word.text)) for word in output.words) for output in said}
    return {name: count for name, count in found.items() if count}


def cut_after_marks(output: ExpertOutput) -> ExpertOutput:
    """What this engine said, with a blank after every such mark."""
    words = tuple(piece for word in output.words for piece in _pieces(word))
    return replace(output, words=words)


def _pieces(word: Word) -> list[Word]:
    texts = _BORDER.split(word.text)
    if len(texts) < 2:
        return [word]
    if word.start is None or word.end is None:
        return [replace(word, text=text) for text in texts]
    letter, at, pieces = (word.end - word.start) / len(word.text), word.start, []
    for text in texts:  # letters share the width
        pieces.append(replace(word, text=text, start=at, end=at + letter * len(text)))
        at += letter * len(text)
    return pieces
