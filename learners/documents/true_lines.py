"""Which part of a page's true text is that of each of its lines: `true_lines`."""

from collections.abc import Sequence

from rapidfuzz.distance import Indel

from galloon.learners.documents.placing import place_words
from galloon.learners.documents.resemblance import letters_of
from galloon.learners.observation import Word

_TRUE = 0.5  # of a line's letters that are in its true text: below it, the two do not belong together


def true_lines(lines: Sequence[str], target: str) -> list[str | None]:
    """For each combined line its part of the page's true text, or None where that is not sure."""
    words = target.split()
    letters = [letters_of([Word(word)]) for word in words]
    own = [letters_of([Word(word) for word in line.split()]) for line in lines]
    found: list[list[int]] = [[] for _ in lines]
    for place, line in enumerate(place_words(own, letters)):
        if line >= 0:
            found[line].append(place)
    texts: list[str | None] = []
    for said, places in zip(own, found, strict=True):
        whole = places and places[-1] - places[0] + 1 == len(places)
        said_truly = "".join(letters[place] for place in places)
        sure = whole and Indel.normalized_similarity(said, said_truly) >= _TRUE
        texts.append(" ".join(words[place] for place in places) if sure else None)
    return texts
