"""What speaks for each offer of a slot: the features of the offer model, as (template, a, b, value).

`describe_tokens` looks once at every token on offer; `slot_offers` lists the different tokens of a slot, the
best supported first; `slot_features` fills a `Sheet` with the features of all offers, one offer after the
other (`ends`). The templates are listed below with what `a` and `b` mean; `learners.offer_model.templates` puts
them into words. Slots are compared with their neighbours through `reference`, the voted token of each slot,
so that features depend on what was observed and never on what the learner chose.

A `Page` is one utterance: tokens int32 slots x experts; ids int64, the number of each expert (columns may be
left out); seats int64, the bit of each in a set of experts; buckets int8, how high each confidence is among its
own expert's (-1: none given); trust float64, the log odds that each expert is right there; codes int32 and
starts int64, the letters of the vocabulary; hashes uint64 of its tokens; reference int32; labels uint64, a
hash of each label that the client gave. What lattices say stands in rows by slot and expert: those of slot i from
heard_starts[i] on; heard int32 rows x 2, the expert's number and a token; posteriors float64. prior float64
slots x experts: how probable agreement finds each expert's token, or no rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from galloon.learners.kernels.bounded_table import key_of, mix
from galloon.learners.kernels.language import END, START, count_of, log_probability, spelling

# Who supports the offer. `null` is 1 for the empty offer.
VOTES = 0  # value: the share of experts for it; where agreement was weighed, the log of its posterior
SUPPORT = 1  # a: the set of experts for it, as bits; b: null
EXPERT = 2  # a: the expert; b: 2 x whether it is for it + null
CONFIDENCE = 3  # of an expert for it. a: the expert; b: its bucket
RIVAL_CONFIDENCE = 4  # of an expert for another token. a: the expert; b: 2 x its bucket + null
TRUST = 27  # value: sum of the log odds that each expert for it is right when so confident
LATTICE = 28  # value: log posterior in an expert's lattice, where it has one. a: the expert; b: null
LATTICES = 29  # value: the sum over all lattices. a: null
AGREEMENT = 30  # value: log posterior by agreement. a: null
AGREEMENT_LEVEL = 31  # a: the same, bucketed; b: null
# What the token looks like, and whether it has been seen.
SEEN = 5  # a: how often in true texts (bucket)
SEEN_LENGTH = 6  # a: whether; b: length
SEEN_CORE = 7  # a: how often its letters and digits alone (bucket); b: whether they are all of it
SEEN_SUPPORT = 8  # a: how often (bucket); b: how many experts for it
SHAPE = 9  # a: classes of its characters, runs shortened
MAKEUP = 10  # a: 2 x whether it has digits + whether it has letters
ODD = 11  # a: number of odd characters
LAST = 12  # a: last character
SHORT = 13  # a: the token itself, up to three characters
SPELLING = 14  # value: log probability of its letters, per letter
SPELLING_LEVEL = 15  # a: the same in halves
SPELLING_BEST = 16  # a: whether no other offer is spelled better
# How it fits.
SEQUENCE = 17  # value: log probability among its neighbours, below the best offer's. a: null
SEQUENCE_LEVEL = 18  # a: the same, bucketed; b: null
DISTANCE = 19  # a: edits from the best supported offer
EDIT = 20  # if it is one: a: character there, b: character here (0: none)
EDIT_CLASS = 21  # a: classes of both; b: 2 x at the beginning + at the end
NEARNESS = 22  # value: how like the other experts' tokens it is
NEARNESS_LEVEL = 23  # a: the same, bucketed
# What the client knows.
LABEL_SUPPORT = 24  # a: set of experts; b: label + null
LABEL_EXPERT = 25  # a: 4 x expert + 2 x for it + null; b: label
LABEL_SHAPE = 26  # a: shape; b: label
FIXED_FEATURES = 25  # of one offer at most, beside those of each expert and each label

# Classes of characters, and the table's reach; what lies beyond is mostly letters of other scripts.
ASCII_LETTER, OTHER_LETTER, DIGIT, FIRST_MARK, ODD_CHARACTER = 1, 2, 3, 4, 13
CLASSED_CODES = 0x3000
SHAPE_RUNS = 8

# Columns of the traits of a token.
LENGTH, SHAPE_OF, MAKEUP_OF, ODD_OF, LAST_OF, SEEN_OF, CORE_OF, WHOLE_CORE, IDENTITY = range(9)

WORDS, CORES, LETTERS = np.uint64(11), np.uint64(12), np.uint64(13)  # seeds in the language's table
SEEN_BUCKETS = 4
LEAST_POSTERIOR = 1 / 128  # what is less probable is as good as not there
LEAST_AGREEMENT = 1e-4
# Engines err together more often than the model of agreement thinks: it is less sure than it says.
AGREEMENT_WEIGHT = 0.4
VOTE_WEIGHT = 3.0  # what all votes together are worth before anything is learned
_FEATURE = np.uint64(0xA0761D6478BD642F)


class Page(NamedTuple):
    """One utterance, ready for the kernels."""

    tokens: Any
    ids: Any
    seats: Any
    buckets: Any
    trust: Any
    codes: Any
    starts: Any
    hashes: Any
    reference: Any
    labels: Any
    heard_starts: Any
    heard: Any
    posteriors: Any
    prior: Any


class Language(NamedTuple):
    """The counts of `kernels.language`, and how they are read: orders, and how far to look ahead."""

    keys: Any
    counts: Any
    order: int
    ahead: int
    base: float
    letter_order: int  # 0: tokens are single characters and have no spelling
    letter_base: float


class Sheet(NamedTuple):
    """Room for the features of one slot: int64 rows of (template, a, b), their values, and where offers end."""

    features: Any
    values: Any
    ends: Any


@njit(cache=True, nogil=True, inline="always")
def feature_key(template, a, b):
    return key_of(mix(mix(mix(_FEATURE, np.uint64(template)), np.uint64(a)), np.uint64(b)))


@njit(cache=True, nogil=True, inline="always")
def _class_of(code, classes):
    return np.int64(classes[code]) if code < CLASSED_CODES else np.int64(OTHER_LETTER)


@njit(cache=True, nogil=True, inline="always")
def _seen_bucket(count):
    bucket = 0
    while bucket < SEEN_BUCKETS and count + 1 >= (2 << bucket):
        bucket += 1
    return bucket


@njit(cache=True, nogil=True)
def core_hash(codes, start, end, classes):
    """The hash of a token's letters and digits alone, and how many there are."""
    state = np.uint64(0xCBF29CE484222325)
    count = 0
    for i in range(start, end):
        if _class_of(codes[i], classes) < FIRST_MARK:
            state = mix(state, np.uint64(codes[i]))
            count += 1
    return state, count


@njit(cache=True, nogil=True)
def describe_tokens(page, language, classes):
    """The traits of every token in a slot where experts differ, and the log probability of its letters."""
    size = page.starts.shape[0] - 1
    traits = np.zeros((size, 9), dtype=np.int64)
    spelled = np.zeros(size)
    wanted = np.zeros(size, dtype=np.bool_)
    for i in range(page.tokens.shape[0]):
        first = page.tokens[i, 0]
        differ = False
        for j in range(1, page.tokens.shape[1]):
            if page.tokens[i, j] != first:
                differ = True
        if differ:
            for j in range(page.tokens.shape[1]):
                wanted[page.tokens[i, j]] = True
            for h in range(page.heard_starts[i], page.heard_starts[i + 1]):
                wanted[page.heard[h, 1]] = True
    for v in range(1, size):
        if not wanted[v]:
            continue
        start, end = page.starts[v], page.starts[v + 1]
        runs, before, shape, makeup, odd, identity = 0, 0, 0, 0, 0, 0
        for i in range(start, end):
            code = page.codes[i]
            kind = _class_of(code, classes)
            if kind != before and runs < SHAPE_RUNS:
                shape = shape * 16 + kind
                runs += 1
            before = kind
            if kind == DIGIT:
                makeup |= 2
            elif kind < FIRST_MARK:
                makeup |= 1
            elif kind == ODD_CHARACTER:
                odd += 1
            if end - start <= 3:
                identity = (identity << 21) | code
        core, core_length = core_hash(page.codes, start, end, classes)
        traits[v, LENGTH] = end - start
        traits[v, SHAPE_OF] = shape
        traits[v, MAKEUP_OF] = makeup
        traits[v, ODD_OF] = odd
        traits[v, LAST_OF] = page.codes[end - 1]
        traits[v, SEEN_OF] = _seen_bucket(count_of(language.keys, language.counts, WORDS, page.hashes[v]))
        traits[v, CORE_OF] = _seen_bucket(count_of(language.keys, language.counts, CORES, core))
        traits[v, WHOLE_CORE] = 1 if core_length == end - start else 0
        traits[v, IDENTITY] = identity
        if language.letter_order > 0:
            spelled[v] = spelling(
                language.keys,
                language.counts,
                LETTERS,
                language.letter_order,
                language.letter_base,
                page.codes,
                start,
                end,
            ) / (end - start + 1)
    return traits, spelled


@njit(cache=True, nogil=True)
def slot_offers(row, offers, support):
    """The different tokens of a slot, best supported first, of equals by number and null last; returns how many.

    Nothing depends on the order in which experts are listed.
    """
    count = 0
    for j in range(row.shape[0]):
        known = False
        for o in range(count):
            if offers[o] == row[j]:
                support[o] += 1
                known = True
                break
        if not known:
            offers[count] = row[j]
            support[count] = 1
            count += 1
    for o in range(1, count):  # insertion: few offers
        token, held = offers[o], support[o]
        place = o
        while place > 0 and support[place - 1] <= held:
            before = offers[place - 1]
            if support[place - 1] == held and (token == 0 or 0 < before < token):
                break
            offers[place] = offers[place - 1]
            support[place] = support[place - 1]
            place -= 1
        offers[place] = token
        support[place] = held
    return count


@njit(cache=True, nogil=True)
def _prior_of(page, slot, token):
    """How probable agreement finds a token that experts offer; not less than `LEAST_AGREEMENT`."""
    posterior = LEAST_AGREEMENT
    for j in range(page.tokens.shape[1]):
        if page.tokens[slot, j] == token:
            posterior = max(posterior, page.prior[slot, j])
    return posterior


@njit(cache=True, nogil=True)
def all_offers(page, slot, offers, support):
    """The same, of equally supported ones the likelier by agreement first, and if experts differ behind them what
    only lattices offer. Room: `offer_room`.
    """
    count = slot_offers(page.tokens[slot], offers, support)
    if count == 1:
        return count
    if page.prior.shape[0] > 0:
        for o in range(1, count):
            token, held = offers[o], support[o]
            likely, place = _prior_of(page, slot, token), o
            while place > 0 and support[place - 1] == held:
                if _prior_of(page, slot, offers[place - 1]) >= likely:
                    break
                offers[place] = offers[place - 1]
                place -= 1
            offers[place] = token
    for h in range(page.heard_starts[slot], page.heard_starts[slot + 1]):
        token = page.heard[h, 1]
        known = token == 0  # nothing is said only where an expert says nothing
        for o in range(count):
            if offers[o] == token:
                known = True
        if not known:
            offers[count] = token
            support[count] = 0
            count += 1
    return count


@njit(cache=True, nogil=True)
def offer_room(page):
    """As many offers as a slot may have."""
    most = 0
    for slot in range(page.tokens.shape[0]):
        most = max(most, page.heard_starts[slot + 1] - page.heard_starts[slot])
    return page.tokens.shape[1] + most


@njit(cache=True, nogil=True)
def edit_distance(codes, a_start, a_end, b_start, b_end, row):
    """Levenshtein distance of two stretches of characters; row: int64, room for one more than the second has."""
    while a_start < a_end and b_start < b_end and codes[a_start] == codes[b_start]:
        a_start += 1
        b_start += 1
    while a_start < a_end and b_start < b_end and codes[a_end - 1] == codes[b_end - 1]:
        a_end -= 1
        b_end -= 1
    width = b_end - b_start
    for j in range(width + 1):
        row[j] = j
    for i in range(a_start, a_end):
        corner = row[0]
        row[0] += 1
        for j in range(width):
            above = row[j + 1]
            best = corner + (0 if codes[i] == codes[b_start + j] else 1)
            best = min(best, above + 1, row[j] + 1)
            row[j + 1] = best
            corner = above
    return row[width]


@njit(cache=True, nogil=True, inline="always")
def _put(features, values, n, template, a, b, value):
    features[n, 0] = template
    features[n, 1] = a
    features[n, 2] = b
    values[n] = value
    return n + 1


@njit(cache=True, nogil=True)
def _sequence_scores(page, language, slot, offers, count, scores):
    """Log probability of each offer and of what follows it, after what comes before it."""
    length = language.order + language.ahead
    left = np.empty(length, dtype=np.uint64)
    held = 0
    i = slot - 1
    while i >= 0 and held < language.order - 1:
        if page.reference[i] != 0:
            held += 1
            left[length - held] = page.hashes[page.reference[i]]
        i -= 1
    if held < language.order - 1:
        held += 1
        left[length - held] = START
    right = np.empty(language.ahead, dtype=np.uint64)
    ahead = 0
    i = slot + 1
    while i < page.reference.shape[0] and ahead < language.ahead:
        if page.reference[i] != 0:
            right[ahead] = page.hashes[page.reference[i]]
            ahead += 1
        i += 1
    if ahead < language.ahead:
        right[ahead] = END
        ahead += 1
    symbols = np.empty(held + 1 + ahead, dtype=np.uint64)
    symbols[:held] = left[length - held :]
    for o in range(count):
        size = held
        if offers[o] != 0:
            symbols[size] = page.hashes[offers[o]]
            size += 1
        symbols[size : size + ahead] = right[:ahead]
        scores[o] = 0.0
        for place in range(held, size + ahead):
            # Symbols further back than the order allows are not looked at.
            scores[o] += log_probability(
                language.keys, language.counts, WORDS, language.order, language.base, symbols, place
            )


@njit(cache=True, nogil=True)
def slot_features(page, language, classes, traits, spelled, slot, offers, support, count, sheet):
    """Fill the sheet with the features of the first `count` offers of this slot."""
    features, values, ends = sheet
    ids = page.ids
    experts = page.tokens.shape[1]
    row = page.tokens[slot]
    top = offers[0]
    follows = np.zeros(count)
    _sequence_scores(page, language, slot, offers, count, follows)
    best_follow = follows.max()
    best_spelled = -np.inf
    for o in range(count):
        if offers[o] != 0:
            best_spelled = max(best_spelled, spelled[offers[o]])
    distances = np.zeros((count, count), dtype=np.int64)
    if language.letter_order > 0:
        longest = np.int64(0)
        for o in range(count):
            longest = max(longest, page.starts[offers[o] + 1] - page.starts[offers[o]])
        room = np.empty(longest + 1, dtype=np.int64)
        for o in range(count):
            for p in range(o):
                distances[o, p] = edit_distance(
                    page.codes,
                    page.starts[offers[o]],
                    page.starts[offers[o] + 1],
                    page.starts[offers[p]],
                    page.starts[offers[p] + 1],
                    room,
                )
                distances[p, o] = distances[o, p]

    n = 0
    ends[0] = 0
    for o in range(count):
        token = offers[o]
        null = 1 if token == 0 else 0
        supporters = np.uint64(0)
        for j in range(experts):
            if row[j] == token:
                supporters |= np.uint64(1) << np.uint64(page.seats[j])
        mask = np.int64(supporters)
        n = _agreement_features(page, slot, token, null, support[o] / experts, features, values, n)
        n = _put(features, values, n, SUPPORT, mask, null, 1.0)
        trust = 0.0
        for j in range(experts):
            agrees = 1 if row[j] == token else 0
            n = _put(features, values, n, EXPERT, ids[j], 2 * agrees + null, 1.0)
            if agrees:
                trust += page.trust[slot, j]
            if row[j] != 0:
                bucket = np.int64(page.buckets[slot, j])
                if agrees:
                    n = _put(features, values, n, CONFIDENCE, ids[j], bucket, 1.0)
                else:
                    n = _put(features, values, n, RIVAL_CONFIDENCE, ids[j], 2 * bucket + null, 1.0)
        n = _put(features, values, n, TRUST, 0, 0, trust)
        n = _lattice_features(page, slot, token, null, features, values, n)
        for label in page.labels:
            known = np.int64(label)
            n = _put(features, values, n, LABEL_SUPPORT, mask, known + null, 1.0)
            for j in range(experts):
                agrees = 1 if row[j] == token else 0
                n = _put(features, values, n, LABEL_EXPERT, 4 * ids[j] + 2 * agrees + null, known, 1.0)
            if not null:
                n = _put(features, values, n, LABEL_SHAPE, traits[token, SHAPE_OF], known, 1.0)
        behind = min(best_follow - follows[o], 12.0)
        n = _put(features, values, n, SEQUENCE, null, 0, -behind / 2)
        n = _put(features, values, n, SEQUENCE_LEVEL, np.int64(behind * 1.5) if behind > 0 else -1, null, 1.0)
        if not null:
            n = _token_features(features, values, n, traits, token, support[o])
            if language.letter_order > 0:
                n = _put(features, values, n, SPELLING, 0, 0, spelled[token])
                n = _put(features, values, n, SPELLING_LEVEL, np.int64(-2 * spelled[token]), 0, 1.0)
                n = _put(
                    features, values, n, SPELLING_BEST, 1 if spelled[token] == best_spelled else 0, 0, 1.0
                )
                apart = 0.0
                for p in range(count):
                    if offers[p] == 0:
                        apart += support[p]
                    else:
                        longest = max(traits[token, LENGTH], traits[offers[p], LENGTH])
                        apart += support[p] * distances[o, p] / longest
                apart /= experts
                n = _put(features, values, n, NEARNESS, 0, 0, -2 * apart)
                n = _put(features, values, n, NEARNESS_LEVEL, np.int64(apart * 8), 0, 1.0)
            if o > 0 and top != 0:
                distance = distances[o, 0] if language.letter_order > 0 else 1
                n = _put(features, values, n, DISTANCE, min(distance, 4), 0, 1.0)
                if distance == 1:
                    n = _edit_features(page, classes, features, values, n, top, token)
        ends[o + 1] = n


@njit(cache=True, nogil=True)
def _agreement_features(page, slot, token, null, votes, features, values, n):
    """What an offer begins with: its posterior by agreement, or the share of the votes where none was weighed."""
    if page.prior.shape[0] == 0:
        return _put(features, values, n, VOTES, 0, 0, votes)
    value = np.log(_prior_of(page, slot, token))
    n = _put(features, values, n, VOTES, 0, 0, AGREEMENT_WEIGHT * value / VOTE_WEIGHT)
    n = _put(features, values, n, AGREEMENT, null, 0, value / 2)
    level = np.int64(-1.5 * value) if value < -0.05 else -1
    return _put(features, values, n, AGREEMENT_LEVEL, level, null, 1.0)


@njit(cache=True, nogil=True)
def _lattice_features(page, slot, token, null, features, values, n):
    """How probable a token is by each lattice that says anything of this slot."""
    last = page.heard_starts[slot + 1]
    h = page.heard_starts[slot]
    together = 0.0
    while h < last:
        expert = page.heard[h, 0]
        posterior = 0.0
        while h < last and page.heard[h, 0] == expert:
            if page.heard[h, 1] == token:
                posterior = page.posteriors[h]
            h += 1
        value = np.log(max(posterior, LEAST_POSTERIOR)) / 2
        together += value
        n = _put(features, values, n, LATTICE, expert, null, value)
    if page.heard_starts[slot] < last:
        n = _put(features, values, n, LATTICES, null, 0, together)
    return n


@njit(cache=True, nogil=True)
def _token_features(features, values, n, traits, token, supporters):
    seen = traits[token, SEEN_OF]
    n = _put(features, values, n, SEEN, seen, 0, 1.0)
    n = _put(features, values, n, SEEN_LENGTH, 1 if seen > 0 else 0, min(traits[token, LENGTH], 8), 1.0)
    n = _put(features, values, n, SEEN_CORE, traits[token, CORE_OF], traits[token, WHOLE_CORE], 1.0)
    n = _put(features, values, n, SEEN_SUPPORT, seen, supporters, 1.0)
    n = _put(features, values, n, SHAPE, traits[token, SHAPE_OF], 0, 1.0)
    n = _put(features, values, n, MAKEUP, traits[token, MAKEUP_OF], 0, 1.0)
    n = _put(features, values, n, ODD, traits[token, ODD_OF], 0, 1.0)
    n = _put(features, values, n, LAST, traits[token, LAST_OF], 0, 1.0)
    if traits[token, IDENTITY] != 0:
        n = _put(features, values, n, SHORT, traits[token, IDENTITY], 0, 1.0)
    return n


@njit(cache=True, nogil=True)
def _edit_features(page, classes, features, values, n, there, here):
    """The one edit that leads from one token to the other."""
    a, b = page.starts[there], page.starts[here]
    a_length, b_length = page.starts[there + 1] - a, page.starts[here + 1] - b
    at = 0
    while at < min(a_length, b_length) and page.codes[a + at] == page.codes[b + at]:
        at += 1
    was = np.int64(page.codes[a + at]) if a_length >= b_length else np.int64(0)
    now = np.int64(page.codes[b + at]) if b_length >= a_length else np.int64(0)
    was_class = _class_of(was, classes) if a_length >= b_length else np.int64(0)
    now_class = _class_of(now, classes) if b_length >= a_length else np.int64(0)
    n = _put(features, values, n, EDIT, was, now, 1.0)
    edges = (2 if at == 0 else 0) + (1 if at >= a_length - 1 else 0)
    return _put(features, values, n, EDIT_CLASS, 16 * was_class + now_class, edges, 1.0)


@njit(cache=True, nogil=True)
def new_sheet(page):
    """Room for the features of all offers of any slot of the page."""
    experts, labels, offers = page.tokens.shape[1], page.labels.shape[0], offer_room(page)
    size = offers * (FIXED_FEATURES + 4 * experts + labels * (2 + experts))
    return Sheet(
        np.empty((size, 3), dtype=np.int64),
        np.empty(size),
        np.zeros(offers + 1, dtype=np.int64),
    )


def tiny_page() -> Page:
    """Two experts that differ in one slot: for warming up."""
    return Page(
        np.array([[1, 2], [1, 1]], dtype=np.int32),
        np.arange(2),
        np.arange(2),
        np.zeros((2, 2), dtype=np.int8),
        np.zeros((2, 2)),
        np.array([97, 98], dtype=np.int32),
        np.array([0, 0, 1, 2], dtype=np.int64),
        np.array([1, 2, 3], dtype=np.uint64),
        np.array([1, 1], dtype=np.int32),
        np.array([7], dtype=np.uint64),
        np.array([0, 1, 1], dtype=np.int64),
        np.array([[0, 2]], dtype=np.int32),
        np.array([0.5]),
        np.full((2, 2), 0.5),
    )


def tiny_language() -> Language:
    return Language(np.zeros(64, np.uint32), np.zeros((64, 2), np.uint32), 3, 1, 0.01, 5, 0.02)


def warm_up() -> None:
    page, language, classes = tiny_page(), tiny_language(), np.zeros(CLASSED_CODES, dtype=np.uint8)
    traits, spelled = describe_tokens(page, language, classes)
    offers, support = np.zeros(3, dtype=np.int32), np.zeros(3, dtype=np.int64)
    count = all_offers(page, 0, offers, support)
    sheet = new_sheet(page)
    slot_features(page, language, classes, traits, spelled, 0, offers, support, count, sheet)
