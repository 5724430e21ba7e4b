"""The features of a slot's offers from plain strings and dictionaries: the twin of `kernels.offer_features`.

Returns for each offer a list of (template, a, b, value), with templates and packed numbers as the kernel's.
"""

import math

from rapidfuzz.distance import Levenshtein

from galloon.learners.kernels import offer_features as kinds
from galloon.learners.unit import WORD
from tests.reference.language import END, START, Counts

MARKS = ".,;:'\"!?-"


def class_of(character):
    if character.isalpha():
        return 1 if character.isascii() else 2
    if character.isdigit():
        return 3
    return 4 + MARKS.index(character) if character in MARKS else 13


def core(token):
    return "".join(c for c in token if class_of(c) < 4)


class Reader:
    """What was read: words in a row, cores, and letters of different words."""

    def __init__(self, unit):
        self.unit = unit
        self.words = Counts(3, 1 / 4096) if unit is WORD else Counts(6, 1 / 64)
        self.ahead = 1 if unit is WORD else 3
        self.cores, self.letters = Counts(1, 1.0), Counts(5, 1 / 64)

    def read(self, tokens):
        symbols = [START, *tokens, END]
        for place in range(1, len(symbols)):
            token = symbols[place]
            if self.unit is WORD and place < len(symbols) - 1:
                if self.words.events[(), token] == 0:
                    self.letters.add_spelling(token)
                self.cores.add([core(token)], 0)
            self.words.add(symbols, place)


def bucket(count):
    return min(4, int(math.log2(count + 1)))


def vote(row):
    if 2 * row.count("") > len(row):
        return ""
    filled = [token for token in row if token]
    return min(filled, key=lambda token: (-filled.count(token), token))


def offers_of(row):
    """Different tokens, best supported first, of equals in the order of the alphabet and null last."""
    return sorted(set(row), key=lambda token: (-row.count(token), not token, token))


def features(slots, slot, buckets, trust, labels, reader, heard):
    """slots: rows of strings, an expert a column; buckets, trust: alike; labels: numbers.

    heard: what lattices say of the slot, {expert: {token: posterior}}.
    """
    row = slots[slot]
    experts = len(row)
    offers = offers_of(row)
    offers += dict.fromkeys(t for said in heard.values() for t in said if t and t not in offers)
    follows = [follow(slots, slot, token, reader) for token in offers]
    spelled = {t: reader.letters.spelling(t) / (len(t) + 1) for t in offers if t}
    found = []
    for o, token in enumerate(offers):
        null = int(token == "")
        mask = sum(1 << j for j in range(experts) if row[j] == token)
        support = row.count(token)
        f = [(kinds.VOTES, 0, 0, support / experts), (kinds.SUPPORT, mask, null, 1.0)]
        for j in range(experts):
            agrees = int(row[j] == token)
            f.append((kinds.EXPERT, j, 2 * agrees + null, 1.0))
            if row[j] and agrees:
                f.append((kinds.CONFIDENCE, j, buckets[slot][j], 1.0))
            elif row[j]:
                f.append((kinds.RIVAL_CONFIDENCE, j, 2 * buckets[slot][j] + null, 1.0))
            f.extend((kinds.LABEL_EXPERT, 4 * j + 2 * agrees + null, label, 1.0) for label in labels)
        f.append((kinds.TRUST, 0, 0, sum(trust[slot][j] for j in range(experts) if row[j] == token)))
        logs = {k: math.log(max(said.get(token, 0.0), 1 / 128)) / 2 for k, said in heard.items()}
        f.extend((kinds.LATTICE, k, null, value) for k, value in logs.items())
        f.extend([(kinds.LATTICES, null, 0, sum(logs.values()))] if logs else [])
        f.extend((kinds.LABEL_SUPPORT, mask, label + null, 1.0) for label in labels)
        behind = min(max(follows) - follows[o], 12.0)
        f.append((kinds.SEQUENCE, null, 0, -behind / 2))
        f.append((kinds.SEQUENCE_LEVEL, int(behind * 1.5) if behind > 0 else -1, null, 1.0))
        if token:
            f += looks(token, support, labels, reader)
            if reader.unit is WORD:
                f += compared(row, token, spelled)
            if o > 0 and offers[0]:
                f += edits(offers[0], token, reader.unit)
        found.append(f)
    return offers, found


def follow(slots, slot, token, reader):
    order = reader.words.order
    left = [t for t in map(vote, slots[:slot]) if t][-(order - 1) :]
    if len(left) < order - 1:
        left = [START, *left]
    right = [t for t in map(vote, slots[slot + 1 :]) if t][: reader.ahead]
    if len(right) < reader.ahead:
        right = [*right, END]
    symbols = [*left, *([token] if token else []), *right]
    return sum(reader.words.log_probability(symbols, place) for place in range(len(left), len(symbols)))


def looks(token, support, labels, reader):
    seen = bucket(reader.words.events[(), token])
    classes = [class_of(c) for c in token]
    runs = [k for i, k in enumerate(classes) if i == 0 or k != classes[i - 1]][:8]
    shape = 0
    for run in runs:
        shape = shape * 16 + run
    f = [
        (kinds.SEEN, seen, 0, 1.0),
        (kinds.SEEN_LENGTH, int(seen > 0), min(len(token), 8), 1.0),
        (kinds.SEEN_CORE, bucket(reader.cores.events[(), core(token)]), int(core(token) == token), 1.0),
        (kinds.SEEN_SUPPORT, seen, support, 1.0),
        (kinds.SHAPE, shape, 0, 1.0),
        (kinds.MAKEUP, 2 * (3 in classes) + (1 in classes or 2 in classes), 0, 1.0),
        (kinds.ODD, classes.count(13), 0, 1.0),
        (kinds.LAST, ord(token[-1]), 0, 1.0),
    ]
    if len(token) <= 3:
        identity = 0
        for c in token:
            identity = (identity << 21) | ord(c)
        f.append((kinds.SHORT, identity, 0, 1.0))
    f.extend((kinds.LABEL_SHAPE, shape, label, 1.0) for label in labels)
    return f


def compared(row, token, spelled):
    level = spelled[token]
    apart = sum(Levenshtein.normalized_distance(token, other) if other else 1.0 for other in row) / len(row)
    return [
        (kinds.SPELLING, 0, 0, level),
        (kinds.SPELLING_LEVEL, int(-2 * level), 0, 1.0),
        (kinds.SPELLING_BEST, int(level == max(spelled.values())), 0, 1.0),
        (kinds.NEARNESS, 0, 0, -2 * apart),
        (kinds.NEARNESS_LEVEL, int(apart * 8), 0, 1.0),
    ]


def edits(top, token, unit):
    distance = Levenshtein.distance(top, token) if unit is WORD else 1
    f = [(kinds.DISTANCE, min(distance, 4), 0, 1.0)]
    if distance == 1:
        at = 0
        while at < min(len(top), len(token)) and top[at] == token[at]:
            at += 1
        was = top[at] if len(top) >= len(token) else ""
        now = token[at] if len(token) >= len(top) else ""
        classes = 16 * (class_of(was) if was else 0) + (class_of(now) if now else 0)
        f.append((kinds.EDIT, ord(was) if was else 0, ord(now) if now else 0, 1.0))
        f.append((kinds.EDIT_CLASS, classes, 2 * (at == 0) + (at >= len(top) - 1), 1.0))
    return f
