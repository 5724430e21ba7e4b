"""English texts made comparable: contractions, titles, spelling variants, numbers as digits.

`rewrite_english` takes tokens with the words they came from and gives tokens of the same kind. It follows
the intent of the normaliser that speech recognition papers score with: two transcripts that a reader would
call the same should be the same. The words are data (`english_rules`), numbers are `spoken_numbers`.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from galloon.learners.text import english_rules as rules
from galloon.learners.text.spoken_numbers import numbers_as_digits

Span = tuple[str, int, int]  # a token, the first and the last word that it was made from
CACHED_WORDS, CACHED_CHARACTERS = 1 << 15, 64
_OPENING, _CLOSING = "[<(", "]>)"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d)")
_ORDINAL_OR_NUMBER = re.compile(r"[$£€]?\d+(?:\.\d+)?(?:st|nd|rd|th|s|%)?")
# What a word keeps of its signs: letters, digits, inner apostrophes.
_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def rewrite_english(tokens: Sequence[Span]) -> Sequence[Span]:
    """The tokens of a text in one canonical spelling."""
    plain = [
        (part, first, last)
        for token, first, last in _without_asides(tokens)
        for part in (_cached if len(token) <= CACHED_CHARACTERS else _canonical)(token)
        if part not in rules.FILLERS
    ]
    return numbers_as_digits(plain)


def _without_asides(tokens: Sequence[Span]) -> list[Span]:
    """Drops what stands in brackets: engines put noises and speakers there. Unclosed ones stay."""
    kept: list[Span] = []
    last = {sign: i for i, (text, _, _) in enumerate(tokens) for sign in _CLOSING if sign in text}
    i = 0
    while i < len(tokens):
        text = tokens[i][0]
        closing = _CLOSING[_OPENING.index(text[0])] if text[0] in _OPENING else ""
        if closing and last.get(closing, -1) >= i:
            while closing not in tokens[i][0]:
                i += 1
        else:
            kept.append(tokens[i])
        i += 1
    return kept


def _canonical(token: str) -> tuple[str, ...]:
    whole = rules.CONTRACTIONS.get(token) or rules.CONTRACTIONS.get(token.strip('.,;:!?"'))
    if whole:
        return whole
    # Dropping marks may bring two letters together that compose with nothing: no second pass is needed.
    bare = "".join(c for c in unicodedata.normalize("NFKD", token) if not unicodedata.combining(c))
    bare = _THOUSANDS.sub("", bare)
    parts: list[str] = []
    for piece in bare.replace("-", " ").split():
        number = _ORDINAL_OR_NUMBER.fullmatch(piece.strip(".,;:!?\"'()"))
        if number:
            parts.append(number.group())
            continue
        for word in _WORDS.findall(piece):
            parts.extend(_expanded(word))
    return tuple(parts)


def _expanded(word: str) -> tuple[str, ...]:
    if word in rules.CONTRACTIONS:
        return rules.CONTRACTIONS[word]
    for ending, full in rules.CONTRACTED_ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and stem:
            return (_SPELLINGS.get(stem, stem), full)
    if word.endswith("'s") and word[:-2] in rules.IS_AFTER:
        return (word[:-2], "is")
    return (_SPELLINGS.get(word, word),)


def _spellings() -> dict[str, str]:
    """Every British form that the rules generate, with its American one."""
    table: dict[str, str] = {}
    for stem in rules.OUR_STEMS.split():
        for ending in rules.OUR_ENDINGS.replace("-", "").split(" "):
            table[f"{stem}our{ending}"] = f"{stem}or{ending}"
    for stem in rules.RE_STEMS.split():
        table[f"{stem}re"], table[f"{stem}res"] = f"{stem}er", f"{stem}ers"
    for stem in rules.ISE_STEMS.split():
        for ending in rules.ISE_ENDINGS.split():
            table[stem + ending] = stem + ending.replace("is", "iz", 1)
    for stem in rules.YSE_STEMS.split():
        for ending in rules.YSE_ENDINGS.split():
            table[stem + ending] = stem + ending.replace("ys", "yz", 1)
    for stem in rules.DOUBLED_L_STEMS.split():
        for ending in rules.DOUBLED_L_ENDINGS.split():
            table[f"{stem}l{ending}"] = stem + ending
    return table | rules.OTHER_SPELLINGS


_SPELLINGS = _spellings()
_cached = lru_cache(maxsize=CACHED_WORDS)(_canonical)
