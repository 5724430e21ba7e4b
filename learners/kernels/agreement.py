"""What engines' agreement says of each slot and of each engine, without any truth.

A slot's truth is null or one of the offered words. Each engine has rates: if the truth is a word it says it
(RIGHT), another (SUBSTITUTED) or nothing (MISSED); if the truth is null it is SILENT or says something (INSERTED).
A particular wrong word is one of `WRONG_WORDS` equally probable ones, so that two engines seldom say the same
wrong word, while silence coincides easily. `weigh` gives the posterior of every candidate of every slot, `take_in`
adds what follows from it to the counts (Dawid and Skene's model, one step of incremental expectation-maximisation
a line).

Letters: m slots, r engines, c candidates of a slot. tokens int32 m x r; present bool m x r, who takes part in a
slot; candidates int32 m x r, counts int64 m; relations int8 m x c x r, which of the five events each engine's
word is if the candidate is true; posteriors float64 m x c. `Book` is the state, `Line` what was seen of one
utterance.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from galloon.learners.kernels.bounded_table import EVICTED, FREE, claim, find, key_of, mix
from galloon.learners.kernels.distributions import expected_events
from galloon.learners.kernels.language import add_spelling, hash_tokens, spelling
from galloon.learners.kernels.quantiles import BUCKETS, RING, buckets_of, note

RIGHT, SUBSTITUTED, MISSED, SILENT, INSERTED, AWAY = 0, 1, 2, 3, 4, 5
EVENTS = 5
WRONG_WORDS = 30.0
# A silent beginning or end of so many slots, in half of which two others agree, was cut off rather than heard.
CUT_OFF = 3
MOST_SLOTS_OF_A_WORD = 4  # over which word borders are decided together
LINE_WEIGHT = 15.0  # slots that an engine's overall rates count for against those of the line
AGREED_WEIGHT = 200.0  # slots that agreement counts for against true texts, at most
TOLD_HALF = 50.0
REMEMBERED = 20_000.0  # slots
SHRINK = 20.0  # right and wrong words of unknown confidence that each engine begins with
TRUSTED = 0.9  # of the best engine's right rate: who is asked whether a slot is agreed

# Classes of words, each in three lengths: how often they stood in agreed (A) and in disputed (D) slots.
SPELLING_LEVELS = 8
UNSEEN, DISPUTED, AGREED = 0, SPELLING_LEVELS, 2 * SPELLING_LEVELS  # never; only D; A in 4 shares x 3 sizes
KINDS = AGREED + 12
CLASSES = 3 * KINDS
LETTERS = np.uint64(17)  # seed of the spelling among the counts
LETTER_BASE = 0.02
FOLDED_CODES = 0x800  # letters that engines are known to write or not
PLAIN_CODES = 128
# A letter beyond ASCII is not held against an engine that has never written it, if it has written enough, and if a
# trusted engine has had such letters in so many of its words of late that the text must be full of them.
FEW_WORDS = 100.0
RECENT = 50.0  # lines, about a page
ACCENTED = 0.04
_WORD = np.uint64(77)
_TINY = 1e-12


class Book(NamedTuple):
    """What is known. Lexicon and spelling are tables as `kernels.bounded_table` has them."""

    rates: Any  # float64 r x 5, events by agreement
    told: Any  # float64 r x 5, events by true texts
    null: Any  # float64[2], slots with nothing and with a word
    told_null: Any
    confidences: Any  # float64 r x BUCKETS x 2, right and wrong words where engines differ
    classes: Any  # float64 CLASSES x 2, right and wrong candidates
    lexicon_keys: Any
    lexicon_seen: Any  # float32 rows x 2, sightings in agreed and in disputed slots
    spelling_keys: Any
    spelling_counts: Any
    order: int  # of the spelling; 0: tokens are letters
    seen: Any  # as `kernels.quantiles`
    borders: Any
    written: Any  # bool r x FOLDED_CODES
    words: Any  # float64 r x 2, words that each engine has written, and those with letters beyond ASCII
    recent: Any  # float64 r x 5, of late: the same two, marks without a blank after them, lines, and loops
    heard: Any  # bool r, who counts


class Line(NamedTuple):
    """One utterance as weighed."""

    present: Any
    candidates: Any
    counts: Any
    relations: Any
    posteriors: Any
    classes: Any  # int64 of each word of the vocabulary, -1 if it is nowhere disputed
    buckets: Any
    hashes: Any


@njit(cache=True, nogil=True)
def take_part(tokens, heard):
    """Who says anything at all, without silent ends that two others fill: bool m x r."""
    m, r = tokens.shape
    present = np.zeros((m, r), dtype=np.bool_)
    for j in range(r):
        first, last = 0, m
        while first < m and tokens[first, j] == 0:
            first += 1
        while last > first and tokens[last - 1, j] == 0:
            last -= 1
        if first == m or not heard[j]:
            continue
        present[first:last, j] = True
        if first < CUT_OFF or not _filled(tokens, heard, j, 0, first):
            present[:first, j] = True
        if m - last < CUT_OFF or not _filled(tokens, heard, j, last, m):
            present[last:, j] = True
    return present


@njit(cache=True, nogil=True)
def _filled(tokens, heard, j, first, last):
    """Whether two engines other than j say the same word in at least half of these slots."""
    agreed = 0
    for i in range(first, last):
        found = False
        for a in range(tokens.shape[1]):
            if a == j or not heard[a] or tokens[i, a] == 0:
                continue
            for b in range(a):
                if b != j and heard[b] and tokens[i, b] == tokens[i, a]:
                    found = True
        agreed += found
    return 2 * agreed >= last - first


@njit(cache=True, nogil=True)
def _candidates(tokens, present, hashes, candidates, counts):
    """The different tokens of each slot, in the order of their hashes, words before null."""
    m, r = tokens.shape
    for i in range(m):
        count = 0
        for j in range(r):
            if not present[i, j]:
                continue
            token = tokens[i, j]
            known = False
            for c in range(count):
                known = known or candidates[i, c] == token
            if known:
                continue
            place = count
            while place > 0 and token != 0:
                before = candidates[i, place - 1]
                if before != 0 and hashes[before] <= hashes[token]:
                    break
                candidates[i, place] = before
                place -= 1
            candidates[i, place] = token
            count += 1
        counts[i] = count


@njit(cache=True, nogil=True)
def effective_rates(agreed, told):
    """Rates by agreement, which count for less the more is told, and by true texts together."""
    rates = told.copy()
    for j in range(agreed.shape[0]):
        for first, last in ((RIGHT, SILENT), (SILENT, EVENTS)):
            weight = _agreed_weight(agreed[j, first:last].sum(), told[j, first:last].sum())
            for event in range(first, last):
                rates[j, event] += agreed[j, event] * weight
    return rates


@njit(cache=True, nogil=True, inline="always")
def _agreed_weight(agreed, told):
    """What a slot by agreement counts for: all together `AGREED_WEIGHT` at most, half of it after `TOLD_HALF`."""
    return min(1.0, AGREED_WEIGHT / agreed) * TOLD_HALF / (TOLD_HALF + told)


@njit(cache=True, nogil=True)
def _trusted(book):
    """Who is asked whether a slot is agreed: those about as often right as the best, or everybody who is heard."""
    rates = effective_rates(book.rates, book.told)
    r = rates.shape[0]
    right = np.zeros(r)
    for j in range(r):
        if book.heard[j]:
            right[j] = rates[j, RIGHT] / rates[j, :SILENT].sum()
    trusted = book.heard & (right >= TRUSTED * right.max())
    return trusted if trusted.sum() >= 2 else book.heard


@njit(cache=True, nogil=True)
def _never_writes(book, j, codes, starts, said, word):
    """Whether what an engine said is this word, but for letters beyond ASCII that it has never written."""
    length = starts[said + 1] - starts[said]
    if length > 62 or book.words[j, 0] < FEW_WORDS:
        return False
    # Bit p: so far this is what was said up to letter p. A letter that the engine cannot write may stand as two
    # others.
    ways = np.int64(1)
    for k in range(starts[word], starts[word + 1]):
        there, ahead = codes[k], np.int64(0)
        if PLAIN_CODES <= there < FOLDED_CODES and not book.written[j, there]:
            ahead = (ways << 1) | (ways << 2)
        for p in range(length):
            if (ways >> p) & 1 and codes[starts[said] + p] == there:
                ahead |= np.int64(1) << (p + 1)
        ways = ahead & ((np.int64(2) << length) - 1)
    return (ways >> length) & 1 == 1


@njit(cache=True, nogil=True)
def _relate(book, tokens, present, codes, starts, candidates, counts, relations):
    """What each engine has done in each slot if a candidate is the truth."""
    m, r = tokens.shape
    trusted, accented = _trusted(book), False
    for j in range(r):
        words = book.recent[j]
        accented |= trusted[j] and words[0] >= FEW_WORDS and words[1] >= ACCENTED * words[0]
    for i in range(m):
        for c in range(counts[i]):
            word = candidates[i, c]
            for j in range(r):
                said = tokens[i, j]
                if not present[i, j]:
                    event = AWAY
                elif word == 0:
                    event = SILENT if said == 0 else INSERTED
                elif said == word:
                    event = RIGHT
                elif said == 0:
                    event = MISSED
                elif accented and _never_writes(book, j, codes, starts, said, word):
                    event = RIGHT
                else:
                    event = SUBSTITUTED
                relations[i, c, j] = event


@njit(cache=True, nogil=True)
def log_rates(rates):
    """The log of each event's chance, given that the truth is a word or null."""
    logs = np.empty(rates.shape)
    for j in range(rates.shape[0]):
        word = rates[j, RIGHT] + rates[j, SUBSTITUTED] + rates[j, MISSED]
        null = rates[j, SILENT] + rates[j, INSERTED]
        for event in range(EVENTS):
            logs[j, event] = np.log(rates[j, event] / (word if event <= MISSED else null))
        # A particular wrong word is one of many.
        logs[j, SUBSTITUTED] -= np.log(WRONG_WORDS)
        logs[j, INSERTED] -= np.log(WRONG_WORDS)
    return logs


@njit(cache=True, nogil=True)
def _posteriors(tokens, logs, null, sureness, lexical, heard, line):
    """Fill the posteriors of all candidates. sureness m x r and lexical, of words, are log ratios.

    heard: rows of distributions, as in `kernels.distributions`.
    """
    m, r = tokens.shape
    more = np.zeros((0, 0))
    if heard[0].shape[0]:
        more = expected_events(tokens, line.candidates, line.counts, line.relations, logs, heard)
    total = null[0] + null[1]
    log_null, log_word = np.log(null[0] / total), np.log(null[1] / total / WRONG_WORDS)
    for i in range(m):
        count = line.counts[i]
        highest = -np.inf
        for c in range(count):
            word = line.candidates[i, c]
            score = log_null if word == 0 else log_word + lexical[word]
            for j in range(r):
                event = line.relations[i, c, j]
                if event != AWAY:
                    score += logs[j, event]
                    if tokens[i, j] == word and word != 0:
                        score += sureness[i, j]
            if more.shape[0]:
                score += more[i, c]
            line.posteriors[i, c] = score
            highest = max(highest, score)
        total = 0.0
        for c in range(count):
            line.posteriors[i, c] = np.exp(line.posteriors[i, c] - highest)
            total += line.posteriors[i, c]
        for c in range(count):
            line.posteriors[i, c] /= total


@njit(cache=True, nogil=True)
def decide_borders(tokens, codes, starts, line):
    """Where engines write the same letters with other word borders, what they say competes as a whole.

    "in convenience" and "inconvenience" stand in two slots; chosen one by one they may become "in inconvenience".
    Such a run of slots is a small lattice with a way for each engine: a way weighs the product of its posteriors,
    and a token is as probable as the ways through it.
    """
    first = 0
    while first < tokens.shape[0] - 1:
        last = _shared_letters(tokens, codes, starts, line.present, first)
        if last > first:
            _weigh_ways(tokens, line, first, last)
        first = max(last, first + 1)


@njit(cache=True, nogil=True)
def _shared_letters(tokens, codes, starts, present, first):
    """The end of the shortest run of slots from here in which two engines say the same in other words; or here."""
    m, r = tokens.shape
    for last in range(first + 2, min(m, first + MOST_SLOTS_OF_A_WORD) + 1):
        for a in range(r):
            for b in range(a):
                # A null on either side of a word border is what engines that disagree about it have.
                if (
                    tokens[first, a] != tokens[first, b]
                    and tokens[last - 1, a] != tokens[last - 1, b]
                    and (tokens[first:last, a].min() == 0 or tokens[first:last, b].min() == 0)
                    and present[first:last, a].all()
                    and present[first:last, b].all()
                    and _same_letters(tokens[first:last, a], tokens[first:last, b], codes, starts)
                ):
                    return last
    return first


@njit(cache=True, nogil=True)
def _same_letters(one, other, codes, starts):
    """Whether these tokens are the same letters, one after another, though not the same words."""
    i, k, j, n = 0, starts[one[0]], 0, starts[other[0]]
    while True:
        while i < one.shape[0] and k == starts[one[i] + 1]:
            i += 1
            k = starts[one[min(i, one.shape[0] - 1)]]
        while j < other.shape[0] and n == starts[other[j] + 1]:
            j += 1
            n = starts[other[min(j, other.shape[0] - 1)]]
        if i == one.shape[0] or j == other.shape[0]:
            break
        if codes[k] != codes[n]:
            return False
        k += 1
        n += 1
    return i == one.shape[0] and j == other.shape[0] and (one != 0).sum() != (other != 0).sum()


@njit(cache=True, nogil=True)
def _weigh_ways(tokens, line, first, last):
    """Posteriors of the tokens of these slots, as sums over what engines say in all of them."""
    r, total = tokens.shape[1], 0.0
    weights = np.zeros(r)
    for j in range(r):
        if not line.present[first:last, j].all():
            continue
        known = False
        for a in range(j):
            known = known or (weights[a] > 0.0 and (tokens[first:last, a] == tokens[first:last, j]).all())
        if known:
            continue
        weights[j] = 1.0
        for i in range(first, last):
            for c in range(line.counts[i]):
                if line.candidates[i, c] == tokens[i, j]:
                    weights[j] *= line.posteriors[i, c]
        total += weights[j]
    if total <= 0.0:
        return
    for i in range(first, last):
        for c in range(line.counts[i]):
            chance = 0.0
            for j in range(r):
                if line.candidates[i, c] == tokens[i, j]:
                    chance += weights[j]
            line.posteriors[i, c] = chance / total


@njit(cache=True, nogil=True)
def count_events(line, counted):
    """Add each engine's expected events to counted, float64 r x 5."""
    for i in range(line.counts.shape[0]):
        for c in range(line.counts[i]):
            for j in range(counted.shape[0]):
                event = line.relations[i, c, j]
                if event != AWAY:
                    counted[j, event] += line.posteriors[i, c]


@njit(cache=True, nogil=True)
def _classify(book, codes, starts, candidates, counts, hashes):
    """The class of each word that is a candidate of a disputed slot; -1 for the others."""
    classes = np.full(hashes.shape[0], -1, dtype=np.int64)
    for i in range(counts.shape[0]):
        if counts[i] < 2:
            continue
        for c in range(counts[i]):
            word = candidates[i, c]
            if word != 0 and classes[word] < 0:
                classes[word] = _class_of(book, codes, starts, word, hashes[word])
    return classes


@njit(cache=True, nogil=True)
def _class_of(book, codes, starts, word, word_hash):
    first, last = starts[word], starts[word + 1]
    length = 0 if last - first <= 2 else 1 if last - first <= 5 else 2
    agreed, disputed = 0.0, 0.0
    row = find(book.lexicon_keys, key_of(mix(_WORD, word_hash)))
    if row >= 0:
        agreed, disputed = np.float64(book.lexicon_seen[row, 0]), np.float64(book.lexicon_seen[row, 1])
    if agreed > 0.0:
        share, size = agreed / (agreed + disputed), agreed + disputed
        kind = 0 if share < 0.5 else 1 if share < 0.8 else 2 if share < 0.95 else 3
        return 3 * (AGREED + 3 * kind + (0 if size < 3 else 1 if size < 10 else 2)) + length
    level = 0
    if book.order > 0:
        nats = spelling(
            book.spelling_keys, book.spelling_counts, LETTERS, book.order, LETTER_BASE, codes, first, last
        )
        level = min(max(np.int64(-2.0 * nats / (last - first + 1)) - 2, 0), SPELLING_LEVELS - 1)
    return 3 * ((DISPUTED if disputed > 0.0 else UNSEEN) + level) + length


@njit(cache=True, nogil=True)
def _log_ratios(counted):
    """log P(class | right) / P(class | wrong) of each row of right and wrong counts."""
    right, wrong = counted[:, 0].sum(), counted[:, 1].sum()
    return np.log(counted[:, 0] / right) - np.log(counted[:, 1] / wrong)


@njit(cache=True, nogil=True)
def _sureness(buckets, confidences):
    """What each confidence is worth, as a log ratio."""
    m, r = buckets.shape
    worth = np.zeros((m, r))
    for j in range(r):
        ratios = _log_ratios(confidences[j] + SHRINK / BUCKETS)
        for i in range(m):
            if 0 <= buckets[i, j] < BUCKETS:
                worth[i, j] = ratios[buckets[i, j]]
    return worth


@njit(cache=True, nogil=True)
def weigh(arrays, tokens, confidences, codes, starts, heard):
    """Returns the arrays of `Line`: posteriors with each engine's rates moved by how it does in this line.

    arrays: those of `Book`, as a plain tuple. heard: what engines offer beside their token, rows as in
    `kernels.distributions`.
    """
    book = _book(arrays)
    m, r = tokens.shape
    hashes = hash_tokens(codes, starts)
    present = take_part(tokens, book.heard)
    candidates, counts = np.zeros((m, r), dtype=np.int32), np.zeros(m, dtype=np.int64)
    _candidates(tokens, present, hashes, candidates, counts)
    relations = np.full((m, max(1, counts.max()) if m else 1, r), AWAY, dtype=np.int8)
    _relate(book, tokens, present, codes, starts, candidates, counts, relations)
    classes = _classify(book, codes, starts, candidates, counts, hashes)
    buckets = buckets_of(book.seen, book.borders, confidences)
    line = Line(present, candidates, counts, relations, np.zeros((m, r)), classes, buckets, hashes)
    ratios, lexical = _log_ratios(book.classes), np.zeros(classes.shape[0])
    for word in range(1, classes.shape[0]):
        if classes[word] >= 0:
            lexical[word] = ratios[classes[word]]
    sureness = _sureness(buckets, book.confidences)
    rates = effective_rates(book.rates, book.told)
    null = book.null * _agreed_weight(book.null.sum(), book.told_null.sum()) + book.told_null
    _posteriors(tokens, log_rates(rates), null, sureness, lexical, heard, line)
    for j in range(r):
        for first, last in ((RIGHT, SILENT), (SILENT, EVENTS)):
            rates[j, first:last] *= LINE_WEIGHT / rates[j, first:last].sum()
    count_events(line, rates)
    _posteriors(tokens, log_rates(rates), null, sureness, lexical, heard, line)
    decide_borders(tokens, codes, starts, line)
    return present, candidates, counts, relations, line.posteriors, classes, buckets, hashes


@njit(cache=True, nogil=True)
def take_in(arrays, ring, used, tokens, confidences, codes, starts, seen_line, pairs, moments, costs):
    """Add what a weighed line says to the book, to the comparison of engines, and to the estimates.

    ring as in `kernels.quantiles`; used int64[2], filled rows of lexicon and spelling; seen_line: the arrays of
    `Line`; the last three are those of `compare`, `estimate` and `count_costs`.
    """
    book, line = _book(arrays), _line(seen_line)
    estimate(tokens, line, moments)
    count_costs(book, tokens, line, costs)
    compare(tokens, book.heard, pairs)
    trusted = _trusted(book)
    count_events(line, book.rates)
    for i in range(tokens.shape[0]):
        for c in range(line.counts[i]):
            chance, word = line.posteriors[i, c], line.candidates[i, c]
            book.null[0 if word == 0 else 1] += chance
            if line.counts[i] > 1 and word != 0:
                book.classes[line.classes[word], 0] += chance
                book.classes[line.classes[word], 1] += 1.0 - chance
                for j in range(tokens.shape[1]):
                    bucket = line.buckets[i, j]
                    if line.present[i, j] and tokens[i, j] == word and 0 <= bucket < BUCKETS:
                        book.confidences[j, bucket, 0] += chance
                        book.confidences[j, bucket, 1] += 1.0 - chance
        _read_slot(book, used, tokens, codes, starts, line, trusted, i)
    for j in range(tokens.shape[1]):
        for i in range(tokens.shape[0]):
            _read_letters(book, codes, starts, tokens[i, j], j)
    note(ring, book.seen, book.borders, confidences)
    _forget(book)


@njit(cache=True, nogil=True)
def tell(told, told_null, tokens, truth):
    """Count what each engine did where the truth is known: truth int32 m, a token of each slot or -1."""
    m, r = tokens.shape
    spoke = np.zeros(r, dtype=np.bool_)
    for i in range(m):
        for j in range(r):
            spoke[j] = spoke[j] or tokens[i, j] != 0
    for i in range(m):
        if truth[i] < 0:
            continue
        told_null[0 if truth[i] == 0 else 1] += 1.0
        for j in range(r):
            said = tokens[i, j]
            if not spoke[j]:
                continue
            if truth[i] == 0:
                told[j, SILENT if said == 0 else INSERTED] += 1.0
            else:
                told[j, RIGHT if said == truth[i] else MISSED if said == 0 else SUBSTITUTED] += 1.0


@njit(cache=True, nogil=True)
def _read_slot(book, used, tokens, codes, starts, line, trusted, i):
    """The words of a slot enter the lexicon: the one that all who are asked agree in, and the disputed ones."""
    agreed, asked = -1, 0
    for j in range(tokens.shape[1]):
        if line.present[i, j] and trusted[j]:
            if asked > 0 and tokens[i, j] != agreed:
                agreed = 0
            if asked == 0:
                agreed = tokens[i, j]
            asked += 1
    for c in range(line.counts[i]):
        word = line.candidates[i, c]
        if word == 0:
            continue
        column = 0 if asked > 1 and word == agreed else 1
        row, came = claim(book.lexicon_keys, book.lexicon_seen, key_of(mix(_WORD, line.hashes[word])))
        if came == FREE:
            used[0] += 1
        if came == EVICTED:
            book.lexicon_seen[row, 0] = 0.0
            book.lexicon_seen[row, 1] = 0.0
        book.lexicon_seen[row, column] += 1.0
        # Letters are learned from different words, not from running text: rare words are what is spelled.
        if column == 0 and book.lexicon_seen[row, 0] == 1.0 and book.order > 0:
            first, last = starts[word], starts[word + 1]
            add_spelling(
                book.spelling_keys, book.spelling_counts, used[1:], LETTERS, book.order, codes, first, last
            )


@njit(cache=True, nogil=True)
def _read_letters(book, codes, starts, word, j):
    """Which letters beyond ASCII an engine writes."""
    accents = 0.0
    for k in range(starts[word], starts[word + 1]):
        if codes[k] >= PLAIN_CODES:
            accents = 1.0
            if codes[k] < FOLDED_CODES:
                book.written[j, codes[k]] = True
    words = 1.0 if word != 0 else 0.0
    book.words[j, 0] += words
    book.words[j, 1] += accents
    book.recent[j, 0] += words
    book.recent[j, 1] += accents


@njit(cache=True, nogil=True)
def compare(tokens, heard, pairs):
    """Count for each pair of engines the slots in which both take part, those where they differ, and the same
    among disputed slots, those in which engines differ that are heard: float64 4 x r x r. Everybody is compared.
    """
    m, r = tokens.shape
    present = take_part(tokens, np.ones(r, dtype=np.bool_))
    for i in range(m):
        disputed, said = 0.0, -1
        for j in range(r):
            if present[i, j] and heard[j]:
                if said >= 0 and tokens[i, j] != said:
                    disputed = 1.0
                said = tokens[i, j]
        for a in range(r):
            for b in range(r):
                if present[i, a] and present[i, b]:
                    apart = 1.0 if tokens[i, a] != tokens[i, b] else 0.0
                    pairs[0, a, b] += 1.0
                    pairs[1, a, b] += apart
                    pairs[2, a, b] += disputed
                    pairs[3, a, b] += apart * disputed


@njit(cache=True, nogil=True)
def estimate(tokens, line, moments):
    """Add a line's expected errors e of each engine and its expected words n: sums of e, n, ee, en, nn.

    moments: float64 r x 5.
    """
    m, r = tokens.shape
    words = 0.0
    wrong = np.zeros(r)
    for i in range(m):
        for c in range(line.counts[i]):
            if line.candidates[i, c] != 0:
                words += line.posteriors[i, c]
        for j in range(r):
            right = 0.0
            for c in range(line.counts[i]):
                if line.candidates[i, c] == tokens[i, j]:
                    right = line.posteriors[i, c]
            wrong[j] += 1.0 - right
    for j in range(r):
        moments[j, 0] += wrong[j]
        moments[j, 1] += words
        moments[j, 2] += wrong[j] * wrong[j]
        moments[j, 3] += wrong[j] * words
        moments[j, 4] += words * words


@njit(cache=True, nogil=True)
def count_costs(book, tokens, line, costs):
    """Add how many more errors the answer would be expected to have without each engine: float64 r."""
    logs = log_rates(effective_rates(book.rates, book.told))
    for i in range(tokens.shape[0]):
        count = line.counts[i]
        if count < 2:
            continue
        best = 0
        for c in range(1, count):
            if line.posteriors[i, c] > line.posteriors[i, best]:
                best = c
        for j in range(tokens.shape[1]):
            if not line.present[i, j]:
                continue
            other, highest = best, -np.inf
            for c in range(count):
                score = np.log(max(line.posteriors[i, c], _TINY)) - logs[j, line.relations[i, c, j]]
                if score > highest:
                    other, highest = c, score
            costs[j] += line.posteriors[i, best] - line.posteriors[i, other]


@njit(cache=True, nogil=True)
def _forget(book):
    """Counts beyond what is remembered shrink to it, so that an engine that changes is seen to."""
    for j in range(book.rates.shape[0]):
        book.rates[j] *= min(1.0, REMEMBERED / book.rates[j].sum())
        book.confidences[j] *= min(1.0, REMEMBERED / max(1.0, book.confidences[j].sum()))
        book.recent[j, 3] += 1.0
        book.recent[j] *= min(1.0, RECENT / book.recent[j, 3])
    book.null[:] = book.null * min(1.0, REMEMBERED / book.null.sum())
    book.classes[:] = book.classes * min(1.0, 4 * REMEMBERED / book.classes.sum())


@njit(cache=True, nogil=True, inline="always")
def _book(arrays):
    return Book(
        arrays[0],
        arrays[1],
        arrays[2],
        arrays[3],
        arrays[4],
        arrays[5],
        arrays[6],
        arrays[7],
        arrays[8],
        arrays[9],
        arrays[10],
        arrays[11],
        arrays[12],
        arrays[13],
        arrays[14],
        arrays[15],
        arrays[16],
    )


@njit(cache=True, nogil=True, inline="always")
def _line(arrays):
    return Line(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], arrays[5], arrays[6], arrays[7])


def tiny_book(order: int = 3) -> tuple[Any, ...]:
    """Two engines of which nothing is known: for warming up."""
    return (
        np.ones((2, EVENTS)),
        np.zeros((2, EVENTS)),
        np.ones(2),
        np.zeros(2),
        np.zeros((2, BUCKETS, 2)),
        np.ones((CLASSES, 2)),
        np.zeros(64, np.uint32),
        np.zeros((64, 2), np.float32),
        np.zeros(64, np.uint32),
        np.zeros((64, 2), np.uint32),
        order,
        np.zeros(2, np.int64),
        np.zeros((2, BUCKETS - 1)),
        np.zeros((2, FOLDED_CODES), np.bool_),
        np.zeros((2, 2)),
        np.zeros((2, 5)),
        np.ones(2, np.bool_),
    )


def warm_up() -> None:
    book = tiny_book()
    tokens, confidences = np.array([[1, 2], [1, 1]], dtype=np.int32), np.zeros((2, 2))
    codes, starts = np.array([97, 98], dtype=np.int32), np.array([0, 0, 1, 2], dtype=np.int64)
    rows = np.zeros(1, np.int32)
    line = weigh(book, tokens, confidences, codes, starts, (rows, rows, rows, np.ones(1)))
    sums = np.zeros((4, 2, 2)), np.zeros((2, EVENTS)), np.zeros(2)
    used = np.zeros(2, np.int64)
    take_in(book, np.zeros((2, RING)), used, tokens, confidences, codes, starts, line, *sums)
    tell(book[1], book[3], tokens, np.array([1, 1], dtype=np.int32))
    effective_rates(book[0], book[1])
