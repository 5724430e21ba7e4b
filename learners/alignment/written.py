"""How tokens were written before a normaliser made them comparable: `forms_of`, `laid_out`, `forms_in_slots`.

A form is the text of the words that a token was made from, with the signs and asides around them that the
normaliser drops. Tokens that come from the same words ("don't" as `do not`) are written together: the first has
the form, the others are CONTINUED. So is a character that makes two of them (the ligature of f and i).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from galloon.learners.alignment.sequences import TokenSequence, tokens_of
from galloon.learners.alignment.target import AlignedTarget
from galloon.learners.observation import Word
from galloon.learners.offers import NULL, Offers
from galloon.learners.text.normalizers import Normalizer
from galloon.learners.unit import WORD, Unit
from galloon.learners.written import AS_TOKENS, CONTINUED, WrittenForms

Forms = Sequence[str | None]  # of each token; None where it is written with the one before


def forms_of(words: Sequence[str], sequence: TokenSequence, unit: Unit, normalizer: Normalizer) -> Forms:
    """The form of each token of these words, of which `sequence` has the tokens."""
    if unit.whole_words:
        if sequence.sources is None:
            return [" ".join(word.split()) for word in words]
        return _word_forms(words, sequence.sources)
    whole = tokens_of([Word(word) for word in words], WORD, normalizer)
    return _part_forms(forms_of(words, whole, WORD, normalizer), whole.tokens, unit, normalizer)


def laid_out(
    forms: Forms,
    texts: Sequence[str],
    starts: NDArray[np.int64],
    tokens: NDArray[np.int32],
) -> WrittenForms:
    """The forms in the slots.

    `forms` and `texts` are of all experts' tokens in a row, `starts` is where those of each expert begin. They
    fill the expert's slots in their order.
    """
    ids: dict[str, int] = {"": 0}
    numbers = np.array(
        [
            CONTINUED if form is None else 0 if form == text else ids.setdefault(form, len(ids))
            for form, text in zip(forms, texts, strict=True)
        ],
        dtype=np.int32,
    )
    if not numbers.any():
        return AS_TOKENS
    table = np.zeros(tokens.shape, dtype=np.int32)
    for expert in range(tokens.shape[1]):
        table[tokens[:, expert] != NULL, expert] = numbers[starts[expert] : starts[expert + 1]]
    return WrittenForms(tuple(ids), table)


def cut_form(form: str, token: str, first: int, last: int, normalizer: Normalizer) -> str:
    """How the characters [first, last) of a token are written, or as they are if its form cannot be cut there."""
    pieces = _pieces(form, token, normalizer)
    if pieces is None or None in (pieces[first], pieces[last] if last < len(token) else ""):
        return token[first:last]
    return "".join(piece for piece in pieces[first:last] if piece)


def forms_in_slots(
    text: str, tokens: NDArray[np.int32], vocabulary: Sequence[str], unit: Unit, normalizer: Normalizer
) -> list[str | None]:
    """How a text writes the tokens that were placed in slots, in the text's order though perhaps not all of them.

    Empty where a token is written with the one before. None where nothing stands, and where it cannot be told
    which of the text's tokens was placed there.
    """
    words = text.split()
    sequence = tokens_of([Word(word) for word in words], unit, normalizer)
    forms = forms_of(words, sequence, unit, normalizer)
    slots = np.flatnonzero(tokens != NULL).tolist()
    placed = [vocabulary[token] for token in tokens[slots].tolist()]
    early = _embedded(placed, sequence.tokens)
    late = _embedded(placed[::-1], sequence.tokens[::-1])[::-1]
    slot_of = {
        first: slot
        for slot, first, last in zip(slots, early, late, strict=True)
        if first == len(sequence.tokens) - 1 - last  # else it may be either
    }
    found: list[str | None] = [None] * len(tokens)
    at = 0
    while at < len(forms):
        end = next((k for k in range(at + 1, len(forms)) if forms[k] is not None), len(forms))
        if all(token in slot_of for token in range(at, end)):
            found[slot_of[at]] = forms[at]
            for token in range(at + 1, end):
                found[slot_of[token]] = ""
        at = end
    return found


def with_forms(
    network: Offers, text: str, placed: AlignedTarget, unit: Unit, rule: Normalizer
) -> WrittenForms:
    """The network's forms with those of one more expert, whose text was placed in the slots of the others."""
    if rule.name == "none":
        return network.written
    ids = {form: number for number, form in enumerate(network.written.texts)}
    column = np.zeros(len(placed.tokens), dtype=np.int32)
    forms = forms_in_slots(text, placed.tokens, placed.vocabulary, unit, rule)
    for slot, (form, token) in enumerate(zip(forms, placed.texts, strict=True)):
        if form is not None and form != token:
            column[slot] = ids.setdefault(form, len(ids)) if form else CONTINUED
    numbers = network.written.numbers if network.written else np.zeros(network.tokens.shape, dtype=np.int32)
    wider = np.column_stack([numbers, column])
    return WrittenForms(tuple(ids), wider) if wider.any() else AS_TOKENS


def _word_forms(words: Sequence[str], sources: Sequence[tuple[int, int]]) -> list[str | None]:
    """Words that no token was made from are written with the token before them, or with the first."""
    forms: list[str | None] = []
    starts: list[tuple[int, int]] = []  # token and word at which forms begin
    reached = -1
    for token, (first, last) in enumerate(sources):
        forms.append(None)
        if first > reached:
            starts.append((token, first if starts else 0))
        reached = max(reached, last)
    ends = [word for _, word in starts[1:]] + [len(words)]
    for (token, first), end in zip(
        starts, ends, strict=False
    ):  # no starts, one end, where no word says anything
        forms[token] = " ".join(part for word in words[first:end] for part in word.split())
    return forms


def _part_forms(forms: Forms, words: Sequence[str], unit: Unit, rule: Normalizer) -> list[str | None]:
    """The forms of words as those of their tokens, where they can be cut; else a word's first token has all."""
    found: list[str | None] = []
    for place, (form, word) in enumerate(zip(forms, words, strict=True)):
        if place:
            found.append(None if form is None else unit.blank)
        parts = unit.pieces(word)
        if form is None:
            found += [None] * len(parts)
            continue
        alone = place + 1 == len(forms) or forms[place + 1] is not None
        characters = _pieces(form, word, rule) if alone else None
        found += _grouped(characters, parts) or [form, *[None] * (len(parts) - 1)]
    return found


def _grouped(characters: Sequence[str | None] | None, parts: Sequence[str]) -> list[str | None]:
    """The forms of characters as those of the tokens that they make up; none where there are none."""
    if characters is None:
        return []
    found: list[str | None] = []
    at = 0
    for part in parts:
        written = characters[at : at + len(part)]
        at += len(part)
        found.append(None if all(form is None for form in written) else "".join(filter(None, written)))
    return found


def _pieces(form: str, token: str, normalizer: Normalizer) -> list[str | None] | None:
    """What each character of the token was written as: None after the first that a sign makes; or no such way."""
    pieces: list[str | None] = []
    made_so_far, last, before = "", 0, ""  # `before` are signs that make nothing, at the beginning
    for sign in form:
        made = "".join(normalizer.split_word(sign))
        if made:
            last = len(pieces)
            pieces += [before + sign, *[None] * (len(made) - 1)]
            made_so_far, before = made_so_far + made, ""
        elif pieces:
            pieces[last] = f"{pieces[last]}{sign}"
        else:
            before += sign
    return pieces if made_so_far == token else None


def _embedded(part: Sequence[str], whole: Sequence[str]) -> list[int]:
    """Where the tokens of a part are in the whole, each as early as possible."""
    places, at = [], 0
    for token in part:
        at = whole.index(token, at) + 1
        places.append(at - 1)
    return places
