"""Gains of windows by looking at every choice of positions: the twin of the compiled walks of the trie."""

from itertools import combinations


def occurrences(tokens, length, max_gap):
    """Every occurrence that ends at the last token: the pattern and its total gap."""
    last = len(tokens) - 1
    for rest in combinations(range(last), length - 1):
        positions = (*rest, last)
        gap = last - positions[0] + 1 - length
        if gap <= max_gap:
            yield tuple(tokens[i] for i in positions), gap


def counts(sequence, lengths, discount, max_gap):
    """Theta(y): the discounted count of every pattern."""
    found = {}
    for end in range(1, len(sequence) + 1):
        for length in lengths:
            if length <= end:
                for pattern, gap in occurrences(sequence[:end], length, max_gap):
                    found[pattern] = found.get(pattern, 0.0) + discount**gap
    return found


def window_gain(window, worth, lengths, discount, max_gap):
    """What the occurrences that end at the window's last token are worth."""
    return sum(
        discount**gap * worth.get(pattern, 0.0)
        for length in lengths
        if length <= len(window)
        for pattern, gap in occurrences(window, length, max_gap)
    )
