"""A language model of plain dictionaries: the twin of `kernels.language` while its table has room."""

import math
from collections import Counter, defaultdict

START, END = "start", "end"


class Counts:
    """Witten-Bell over all orders, histories as tuples with the nearest symbol first."""

    def __init__(self, order, base):
        self.order, self.base = order, base
        self.events, self.totals, self.kinds = Counter(), Counter(), defaultdict(set)

    def histories(self, symbols, place):
        for m in range(min(self.order, place + 1)):
            yield tuple(reversed(symbols[place - m : place]))

    def add(self, symbols, place):
        for history in self.histories(symbols, place):
            self.events[history, symbols[place]] += 1
            self.totals[history] += 1
            self.kinds[history].add(symbols[place])

    def add_sequence(self, tokens):
        symbols = [START, *tokens, END]
        for place in range(1, len(symbols)):
            self.add(symbols, place)

    def log_probability(self, symbols, place):
        probability = self.base
        for history in self.histories(symbols, place):
            if history not in self.totals:
                break
            kinds = len(self.kinds[history])
            count = self.events[history, symbols[place]]
            probability = (count + kinds * probability) / (self.totals[history] + kinds)
        return math.log(probability)

    def letters(self, word):
        """The letters of a word, with a full history before even the first."""
        before = self.order - 1
        symbols = [*[START] * before, *word, END]
        return [(symbols, place) for place in range(before, len(symbols))]

    def add_spelling(self, word):
        for symbols, place in self.letters(word):
            self.add(symbols, place)

    def spelling(self, word):
        return sum(self.log_probability(symbols, place) for symbols, place in self.letters(word))
