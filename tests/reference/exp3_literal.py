"""EXP3-AG as the paper writes it: compose the weighted automaton with an update automaton, then push.

Through OpenFst, in its log semiring: a weight is minus the logarithm. OpenFst's Python has no matcher for
rho ("any other symbol"), so rho transitions are written out. The update is for losses (erratum 4). Weights
are read through text, about 9 digits.
"""

import pynini

EPSILON = 1e-9


class LiteralExp3:
    """`weighted` is the paper's W_t, an acceptor over the transitions of A (label = number + 1)."""

    def __init__(self, expert):
        automaton = expert.explicit()
        self.symbols = range(1, automaton.edge_count + 1)
        self.weighted = pynini.Fst(arc_type="log64")
        for _ in range(automaton.state_count):
            self.weighted.add_state()
        self.weighted.set_start(automaton.initial)
        for final in automaton.finals:
            self.weighted.set_final(final)
        for edge, label in enumerate(self.symbols):
            arc = pynini.Arc(label, label, weight(0.0), int(automaton.targets[edge]))
            self.weighted.add_arc(int(automaton.sources[edge]), arc)
        self._push()

    def log_probability(self, path):
        """Of one path, by composing with it."""
        one = self._acceptor(path, else_state=False)
        composed = pynini.compose(self.weighted, one)
        return -float(pynini.shortestdistance(composed, reverse=True)[composed.start()])

    def learn(self, path, log_weight):
        """Multiply the weight of this path alone by e**log_weight: W o V, pushed."""
        self.weighted = pynini.compose(self.weighted, self._acceptor(path, log_weight))
        self._push()

    def _push(self):
        """Weights towards the start, so that those that leave a state sum to one; the total goes."""
        self.weighted = pynini.push(self.weighted, push_weights=True, remove_total_weight=True, delta=EPSILON)

    def _acceptor(self, path, log_weight=0.0, *, else_state=True):
        """The paper's V: the path with its weight, and a state `else` that takes everything else as it is."""
        update = pynini.Fst(arc_type="log64")
        states = [update.add_state() for _ in range(len(path) + 1)]
        update.set_start(states[0])
        update.set_final(states[-1], weight(log_weight))
        for k, edge in enumerate(path):
            update.add_arc(states[k], pynini.Arc(int(edge) + 1, int(edge) + 1, weight(0.0), states[k + 1]))
        if else_state:
            elsewhere = update.add_state()
            update.set_final(elsewhere)
            for k, state in enumerate([*states, elsewhere]):
                played = int(path[k]) + 1 if k < len(path) else None
                if k < len(path):
                    update.set_final(state)  # a path that stops here is another one
                for symbol in self.symbols:
                    if symbol != played:
                        update.add_arc(state, pynini.Arc(symbol, symbol, weight(0.0), elsewhere))
        return update.arcsort()


def weight(log_value):
    return pynini.Weight("log64", repr(-float(log_value)))
