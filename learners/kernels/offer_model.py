"""The log-linear model of offers: describe, score, and learn from what is revealed.

An offer's score is the inner product of its features with weights; a slot's offers compete by softmax.
Several weight vectors learn side by side, each with its own rate (`rates`), every weight with AdaGrad's step
rate x gradient / sqrt(1 + sum of squared gradients); their probabilities are mixed in proportion to how well each
has predicted (`shares`, with a little given back to all, so that none is ever lost).

Letters: `Weights` is a bounded table of features (see `kernels.bounded_table`): keys uint32, weights and
squares float32 rows x rates, used int64[1]. offers int32 slots x room holds the different tokens of each
slot, best supported first, then those of lattices alone, -1 behind them; probabilities float64 alike.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from galloon.learners.kernels.bounded_table import EVICTED, FREE, claim, find, power_above
from galloon.learners.kernels.language import (
    END,
    START,
    add_spelling,
    add_symbol,
    count_of,
    hash_token,
    hash_tokens,
)
from galloon.learners.kernels.offer_features import (
    CLASSED_CODES,
    CORES,
    LETTERS,
    VOTE_WEIGHT,
    VOTES,
    WORDS,
    Language,
    Page,
    all_offers,
    core_hash,
    describe_tokens,
    feature_key,
    new_sheet,
    offer_room,
    slot_features,
    slot_offers,
    tiny_language,
    tiny_page,
)
from galloon.learners.kernels.quantiles import RING, buckets_of, note

ABSENT = -1
SHARE_GIVEN_BACK = 0.01
# Weights begin as if a square of 1 had been summed up: else the first lesson moves every feature of a line by a
# whole rate, whatever its gradient, and all together they outweigh what agreement says.
FIRST_SQUARES = 1.0
_TINY = 1e-9
_FIRST_FEATURES = 1 << 10  # room for those of a line with a few disputed slots
_VOTES_KEY = np.uint32(0)  # the key of no feature: votes have a fixed weight


class Weights(NamedTuple):
    """The table of weights, and the learning rates of its columns."""

    keys: Any
    weights: Any
    squares: Any
    used: Any
    rates: Any


class Sheets(NamedTuple):
    """The features of all offers of the slots where experts differ.

    offers as above; counts int64 slots, how many they are; ends int64 slots x (room + 1): the features of
    offer o in slot i are those from ends[i, o] to ends[i, o + 1] of keys (uint32) and values (float64).
    """

    offers: Any
    counts: Any
    ends: Any
    keys: Any
    values: Any


class Gathering(NamedTuple):
    """Room to add up what the features of one slot ask of each row of the table."""

    rows: Any
    sums: Any
    heads: Any


@njit(cache=True, nogil=True)
def _softmax(scores, count, column):
    """Turn a column of scores into probabilities in place."""
    highest = scores[0, column]
    for o in range(1, count):
        highest = max(highest, scores[o, column])
    total = 0.0
    for o in range(count):
        scores[o, column] = np.exp(scores[o, column] - highest)
        total += scores[o, column]
    for o in range(count):
        scores[o, column] /= total


@njit(cache=True, nogil=True)
def describe_slots(page, language, classes):
    """The features of all offers wherever experts differ; they depend on what was read, not on the weights."""
    slots, room = page.tokens.shape[0], offer_room(page)
    offers = np.full((slots, room), ABSENT, dtype=np.int32)
    counts = np.zeros(slots, dtype=np.int64)
    ends = np.zeros((slots, room + 1), dtype=np.int64)
    support = np.zeros(room, dtype=np.int64)
    sheet = new_sheet(page)
    features, slot_values, _ = sheet
    keys, values = np.empty(_FIRST_FEATURES, dtype=np.uint32), np.empty(_FIRST_FEATURES)
    held = 0
    traits, spelled = describe_tokens(page, language, classes)
    for slot in range(slots):
        count = all_offers(page, slot, offers[slot], support)
        counts[slot] = count
        if count == 1:
            continue
        slot_features(page, language, classes, traits, spelled, slot, offers[slot], support, count, sheet)
        total = sheet.ends[count]
        if held + total > keys.shape[0]:
            more = 2 * (held + total)
            old_keys, old_values = keys, values
            keys, values = np.empty(more, dtype=np.uint32), np.empty(more)
            keys[:held] = old_keys[:held]
            values[:held] = old_values[:held]
        for o in range(count + 1):
            ends[slot, o] = held + sheet.ends[o]
        for n in range(total):
            template = features[n, 0]
            key = feature_key(template, features[n, 1], features[n, 2])
            keys[held + n] = _VOTES_KEY if template == VOTES else key
            values[held + n] = slot_values[n]
        held += total
    return Sheets(offers, counts, ends, keys, values)


@njit(cache=True, nogil=True)
def _score(table, sheets, slot, rows, chances):
    """The row of each feature of a slot (-1: none yet), and each column's probability of each offer."""
    columns = table.rates.shape[0]
    table_keys, weights = table.keys, table.weights
    keys, values, ends = sheets.keys, sheets.values, sheets.ends
    count = sheets.counts[slot]
    start = ends[slot, 0]
    for o in range(count):
        for k in range(columns):
            chances[o, k] = 0.0
        for n in range(ends[slot, o], ends[slot, o + 1]):
            key, value = keys[n], values[n]
            if key == _VOTES_KEY:
                rows[n - start] = -1
                for k in range(columns):
                    chances[o, k] += VOTE_WEIGHT * value
                continue
            row = find(table_keys, np.uint64(key))
            rows[n - start] = row
            if row >= 0:
                for k in range(columns):
                    chances[o, k] += weights[row, k] * value
    for k in range(columns):
        _softmax(chances, count, k)


@njit(cache=True, nogil=True)
def _most_features(sheets):
    """Of one slot."""
    most = 0
    for slot in range(sheets.counts.shape[0]):
        if sheets.counts[slot] > 1:
            most = max(most, sheets.ends[slot, sheets.counts[slot]] - sheets.ends[slot, 0])
    return most


@njit(cache=True, nogil=True)
def score_slots(sheets, table, shares):
    """The probability of each offer of every slot."""
    slots, experts = sheets.offers.shape
    probabilities = np.zeros((slots, experts))
    rows = np.empty(_most_features(sheets), dtype=np.int64)
    chances = np.zeros((experts, table.rates.shape[0]))
    for slot in range(slots):
        count = sheets.counts[slot]
        if count == 1:
            probabilities[slot, 0] = 1.0
            continue
        _score(table, sheets, slot, rows, chances)
        for o in range(count):
            for k in range(shares.shape[0]):
                probabilities[slot, o] += shares[k] * chances[o, k]
    return probabilities


@njit(cache=True, nogil=True)
def best_offers(offers, probabilities):
    """The most probable token of each slot, of equals the best supported; null where nobody is asked."""
    slots, experts = offers.shape
    best = np.zeros(slots, dtype=np.int32)
    for slot in range(slots):
        if experts > 0:
            best[slot] = offers[slot, np.argmax(probabilities[slot])]
    return best


@njit(cache=True, nogil=True)
def learn_slots(sheets, table, shares, truth, shown, gains):
    """One gradient step a slot, on the log loss of what was revealed of it.

    truth: int32, the true token, -1 if unknown; one that nobody offers teaches nothing. Else, if gains[slot]
    is a number: the probability that the token shown[slot] was right; the loss is then that of the event
    "right" with this weight and of "wrong" with the rest. A likelihood of what was seen needs no importance
    weights: given the past, what is shown does not depend on what is true.
    """
    slots, experts = sheets.offers.shape
    columns = table.rates.shape[0]
    most = _most_features(sheets)
    rows = np.empty(most, dtype=np.int64)
    gathering = Gathering(
        np.empty(most, dtype=np.int64),
        np.empty((most, columns)),
        np.empty(power_above(2 * most), dtype=np.int64),
    )
    chances = np.zeros((experts, columns))
    for slot in range(slots):
        count = sheets.counts[slot]
        if count == 1:
            continue
        known = truth[slot] != ABSENT
        sought = truth[slot] if known else shown[slot]
        which = -1
        for o in range(count):
            if sheets.offers[slot, o] == sought:
                which = o
        if which < 0 or (not known and np.isnan(gains[slot])):
            continue
        right = 1.0 if known else gains[slot]
        _score(table, sheets, slot, rows, chances)
        _reward_columns(chances, which, right, shares)
        # From here on `chances` holds the gradient of the loss in each offer's score.
        for k in range(columns):
            shown_chance = chances[which, k]
            others = max(1.0 - shown_chance, _TINY)
            for o in range(count):
                wanted = right if o == which else (1.0 - right) * chances[o, k] / others
                chances[o, k] -= wanted
        _step(table, sheets, slot, rows, chances, gathering)


@njit(cache=True, nogil=True)
def _reward_columns(chances, which, right, shares):
    """Bayes over the learning rates, with a little given back to all."""
    total = 0.0
    for k in range(shares.shape[0]):
        chance = chances[which, k]
        shares[k] *= max(chance, _TINY) ** right * max(1.0 - chance, _TINY) ** (1.0 - right)
        total += shares[k]
    for k in range(shares.shape[0]):
        even = 1.0 / shares.shape[0]
        kept = shares[k] / total if total > 0 else even
        shares[k] = (1.0 - SHARE_GIVEN_BACK) * kept + SHARE_GIVEN_BACK * even


@njit(cache=True, nogil=True)
def _step(table, sheets, slot, rows, slopes, gathering):
    """AdaGrad for the features of one slot. A feature that several offers share moves once, by the sum."""
    columns = table.rates.shape[0]
    count = sheets.counts[slot]
    start, end = sheets.ends[slot, 0], sheets.ends[slot, count]
    for n in range(end - start):
        if rows[n] < 0 and sheets.keys[start + n] != _VOTES_KEY:
            row, came = claim(table.keys, table.squares, np.uint64(sheets.keys[start + n]))
            if came == FREE:
                table.used[0] += 1
            if came == EVICTED:
                for m in range(end - start):  # whatever stood in that row stands nowhere now
                    if rows[m] == row:
                        rows[m] = -1
            if came != 0:
                for k in range(columns):
                    table.weights[row, k] = 0.0
                    table.squares[row, k] = 0.0
            rows[n] = row
    gathered = 0  # different rows so far, found again through their hashes
    different, sums, heads = gathering
    weights, squares, rates = table.weights, table.squares, table.rates
    ends, values = sheets.ends, sheets.values
    size = power_above(2 * (end - start))
    heads[:size] = -1
    for o in range(count):
        for n in range(ends[slot, o], ends[slot, o + 1]):
            row = rows[n - start]
            if row < 0:
                continue
            head = row & (size - 1)
            while heads[head] >= 0 and different[heads[head]] != row:
                head = (head + 1) & (size - 1)
            place = heads[head]
            if place < 0:
                place = gathered
                heads[head] = place
                different[place] = row
                for k in range(columns):
                    sums[place, k] = 0.0
                gathered += 1
            value = values[n]
            for k in range(columns):
                sums[place, k] += slopes[o, k] * value
    for place in range(gathered):
        row = different[place]
        for k in range(columns):
            slope = sums[place, k]
            if slope != 0.0:
                squares[row, k] += slope * slope
                weights[row, k] -= rates[k] * slope / np.sqrt(squares[row, k] + FIRST_SQUARES)


@njit(cache=True, nogil=True)
def survey(tokens, columns, buckets, right, total):
    """Of the experts in these columns: log odds that each is right in each slot (see `judge_experts`), and their
    vote.

    The vote asks first whether more than half say nothing, then for the most frequent token, the first expert's
    among equals.
    """
    slots, experts = tokens.shape[0], columns.shape[0]
    trust = np.empty((slots, experts))
    reference = np.zeros(slots, dtype=np.int32)
    odds = np.log(right / (total - right))
    last = right.shape[1] - 1
    row = np.empty(experts, dtype=np.int32)
    offers = np.empty(experts, dtype=np.int32)
    support = np.zeros(experts, dtype=np.int64)
    for i in range(slots):
        nulls = 0
        for j in range(experts):
            row[j] = tokens[i, columns[j]]
            if row[j] == 0:
                nulls += 1
                trust[i, j] = odds[columns[j], last]
            else:
                trust[i, j] = odds[columns[j], np.int64(buckets[i, columns[j]]) + 1]
        if 2 * nulls <= experts:
            count = slot_offers(row, offers, support)
            for o in range(count):
                if offers[o] != 0:
                    reference[i] = offers[o]
                    break
    return trust, reference


@njit(cache=True, nogil=True)
def judge_experts(tokens, columns, buckets, truth, right, total):
    """Count, where experts differ, how often each was right: by its confidence's bucket, or as null.

    Those who are listened to (`columns`) are judged where they differ among themselves: a slot that only
    somebody else disputes tells nothing of them. right, total: float64, experts x buckets; b + 1 is bucket b,
    the last one null.
    """
    last = right.shape[1] - 1
    listened_to = np.zeros(tokens.shape[1], dtype=np.bool_)
    listened_to[columns] = True
    for i in range(tokens.shape[0]):
        if truth[i] == ABSENT:
            continue
        any_differ, they_differ = False, False
        for j in range(tokens.shape[1]):
            if tokens[i, j] != tokens[i, columns[0]]:
                any_differ = True
                they_differ = they_differ or listened_to[j]
        for j in range(tokens.shape[1]):
            if they_differ or (any_differ and not listened_to[j]):
                column = last if tokens[i, j] == 0 else np.int64(buckets[i, j]) + 1
                total[j, column] += 1.0
                if tokens[i, j] == truth[i]:
                    right[j, column] += 1.0


@njit(cache=True, nogil=True)
def compare_experts(tokens):
    """For each pair the slots where experts differ, and in which of them these two do: float64 2 x r x r."""
    experts = tokens.shape[1]
    pairs = np.zeros((2, experts, experts))
    for i in range(tokens.shape[0]):
        differ = False
        for j in range(1, experts):
            if tokens[i, j] != tokens[i, 0]:
                differ = True
        if differ:
            pairs[0] += 1.0
            for j in range(experts):
                for k in range(j):
                    if tokens[i, j] != tokens[i, k]:
                        pairs[1, j, k] += 1.0
                        pairs[1, k, j] += 1.0
    return pairs


@njit(cache=True, nogil=True)
def worth_listening(pairs, right, total, trials, hardly_ever):
    """The columns (int64) of experts that neither repeat one before them, nor say nothing, nor are hardly ever
    right.

    pairs are those of `compare_experts`, right and total those of `judge_experts`, which begin as half a success
    in one trial. All, if there would be none. Nobody is left out before so many trials, nor if more than this
    part is right.
    """
    disputed, apart = pairs[0], pairs[1]
    experts = apart.shape[0]
    useful = np.empty(experts, dtype=np.int64)
    count = 0
    for j in range(experts):
        repeats, met = False, 0.0
        for i in range(experts):
            repeats |= i < j and disputed[j, i] >= trials and apart[j, i] == 0.0
            met = max(met, disputed[j, i])
        spoken, fitted = 0.0, 0.0
        for column in range(total.shape[1] - 1):
            spoken += total[j, column] - 1.0
            fitted += right[j, column] - 0.5
        noise = spoken >= trials and fitted <= spoken * hardly_ever
        silent = met >= trials and spoken == 0.0
        if not (repeats or silent or noise):
            useful[count] = j
            count += 1
    return useful[:count].copy() if count > 0 else np.arange(experts)


@njit(cache=True, nogil=True)
def read_and_score(network, letters, labels, heard, record, language, classes, table, shares):
    """One utterance at once: hash tokens, `buckets_of`, `survey`, `describe_slots`, `score_slots`, `best_offers`.

    Groups of arrays come as plain tuples, which are handed over faster: network: tokens, confidences, prior,
    columns of those who are listened to, their ids and seats (see `Page`);
    letters: codes, starts; heard: as the last three of a `Page`; record: seen, borders, right, total; language and
    table: as the tuples of that name. Returns the arrays of `Sheets`, probabilities, and the best offers.
    """
    tokens, confidences, prior, columns, ids, seats = network
    codes, starts = letters
    seen, borders, right, total = record
    hashes = hash_tokens(codes, starts)
    buckets = buckets_of(seen, borders, confidences)
    trust, reference = survey(tokens, columns, buckets, right, total)
    if columns.shape[0] < tokens.shape[1]:
        tokens = _columns(tokens, columns)
        buckets = _columns(buckets, columns)
        prior = _columns(prior, columns)
    page = Page(
        tokens,
        ids,
        seats,
        buckets,
        trust,
        codes,
        starts,
        hashes,
        reference,
        labels,
        heard[0],
        heard[1],
        heard[2],
        prior,
    )
    counted = Language(
        language[0], language[1], language[2], language[3], language[4], language[5], language[6]
    )
    sheets = describe_slots(page, counted, classes)
    probabilities = score_slots(sheets, Weights(table[0], table[1], table[2], table[3], table[4]), shares)
    best = best_offers(sheets.offers, probabilities)
    return (
        sheets.offers,
        sheets.counts,
        sheets.ends,
        sheets.keys,
        sheets.values,
        probabilities,
        best,
    )


@njit(cache=True, nogil=True)
def _columns(array, columns):
    some = np.empty((array.shape[0], columns.shape[0]), dtype=array.dtype)
    for i in range(array.shape[0]):
        for j in range(columns.shape[0]):
            some[i, j] = array[i, columns[j]]
    return some


@njit(cache=True, nogil=True)
def take_in(network, sheets, table, shares, lesson, record, ring, agreed):
    """One lesson at once: `learn_slots`, `judge_experts`, `note`, `count_agreed`; returns `compare_experts`.

    network: tokens, confidences and columns; it, table and record are as in `read_and_score`, sheets the arrays of
    `Sheets`; lesson: truth, shown and gains (see `learn_slots`), and known, the truth for `judge_experts`.
    """
    tokens, confidences, columns = network
    truth, shown, gains, known = lesson
    seen, borders, right, total = record
    features = Sheets(sheets[0], sheets[1], sheets[2], sheets[3], sheets[4])
    weights = Weights(table[0], table[1], table[2], table[3], table[4])
    learn_slots(features, weights, shares, truth, shown, gains)
    judge_experts(tokens, columns, buckets_of(seen, borders, confidences), known, right, total)
    note(ring, seen, borders, confidences)
    count_agreed(tokens, truth, gains, agreed)
    return compare_experts(tokens)


@njit(cache=True, nogil=True)
def count_agreed(tokens, truth, gains, agreed):
    """Add to the right and to the wrong tokens (float64[2]) of slots where all experts agree.

    truth and gains are as in `learn_slots`; a gain is right in part.
    """
    for i in range(tokens.shape[0]):
        alone = True
        for j in range(1, tokens.shape[1]):
            alone &= tokens[i, j] == tokens[i, 0]
        if alone and (truth[i] != ABSENT or not np.isnan(gains[i])):
            right = gains[i] if truth[i] == ABSENT else 1.0 if tokens[i, 0] == truth[i] else 0.0
            agreed[0] += right
            agreed[1] += 1.0 - right


@njit(cache=True, nogil=True)
def rows_of_text(starts, tokens, order, letter_order):
    """How many rows `read_text` takes at most: an event and a context for each order of each token, of each
    letter, and of each core.
    """
    count, letters = 0, 0
    for token in tokens:
        if token != 0:
            count += 1
            letters += starts[token + 1] - starts[token] + 1
    return (count + 1) * 2 * (order + 1) + letters * 2 * letter_order


@njit(cache=True, nogil=True)
def read_text(language, used, classes, letters, tokens):
    """Count true tokens (indices of a vocabulary, 0 is none) in a row, alone, and letter by letter.

    language and letters are as in `read_and_score`.
    """
    keys, counts, order, _, _, letter_order, _ = language
    codes, starts = letters
    symbols = np.empty(tokens.shape[0] + 2, dtype=np.uint64)
    symbols[0] = START
    place = 0
    core = np.empty(1, dtype=np.uint64)
    for token in tokens:
        if token == 0:
            continue
        place += 1
        start, end = starts[token], starts[token + 1]
        symbols[place] = hash_token(codes, start, end)
        if letter_order > 0:
            # Letters are learned from different words, not from running text: rare words are what is spelled.
            if count_of(keys, counts, WORDS, symbols[place]) == 0:
                add_spelling(keys, counts, used, LETTERS, letter_order, codes, start, end)
            core[0], _ = core_hash(codes, start, end, classes)
            add_symbol(keys, counts, used, CORES, 1, core, 0)
        add_symbol(keys, counts, used, WORDS, order, symbols, place)
    symbols[place + 1] = END
    add_symbol(keys, counts, used, WORDS, order, symbols, place + 1)


def warm_up() -> None:
    warm_up_first()
    page, language, classes = tiny_page(), tiny_language(), np.zeros(CLASSED_CODES, dtype=np.uint8)
    table, shares = _tiny_table(), np.array([0.5, 0.5])
    sheets = describe_slots(page, language, classes)
    best_offers(sheets.offers, score_slots(sheets, table, shares))
    truth, gains = np.array([1, 1], dtype=np.int32), np.full(2, np.nan)
    learn_slots(sheets, table, shares, truth, truth, gains)
    survey(page.tokens, page.ids, page.buckets, np.full((2, 10), 0.5), np.ones((2, 10)))
    judge_experts(page.tokens, page.ids, page.buckets, truth, np.zeros((2, 10)), np.zeros((2, 10)))
    count_agreed(page.tokens, truth, gains, np.ones(2))
    compare_experts(page.tokens)


def warm_up_first() -> None:
    """What one round of the default learner calls."""
    page, language, classes = tiny_page(), tiny_language(), np.zeros(CLASSED_CODES, dtype=np.uint8)
    table, shares = _tiny_table(), np.array([0.5, 0.5])
    truth, gains = np.array([1, 1], dtype=np.int32), np.full(2, np.nan)
    worth_listening(np.zeros((2, 2, 2)), np.full((2, 10), 0.5), np.ones((2, 10)), 64, 0.1)
    network = (page.tokens, np.zeros((2, 2)), page.ids)
    weighed = (page.tokens, np.zeros((2, 2)), page.prior, page.ids, page.ids, page.seats)
    record = (np.zeros(2, np.int64), np.zeros((2, 6)), np.full((2, 10), 0.5), np.ones((2, 10)))
    heard = (page.heard_starts, page.heard, page.posteriors)
    spelled = (page.codes, page.starts)
    read = read_and_score(
        weighed, spelled, page.labels, heard, record, tuple(language), classes, tuple(table), shares
    )
    lesson = (truth, truth, gains, truth)
    take_in(network, read[:5], tuple(table), shares, lesson, record, np.zeros((2, RING)), np.ones(2))
    used = np.zeros(1, np.int64)
    rows_of_text(page.starts, truth, 3, 5)
    read_text(tuple(language), used, classes, spelled, truth)


def _tiny_table() -> Weights:
    rates = np.array([0.1, 0.2])
    small = (np.zeros((256, 2), np.float32), np.zeros((256, 2), np.float32))
    return Weights(np.zeros(256, np.uint32), *small, np.zeros(1, np.int64), rates)
