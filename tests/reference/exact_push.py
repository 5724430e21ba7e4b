"""Weight pushing in decimal arithmetic of fifty digits: no overflow, no underflow, no logarithm of a sum."""

from decimal import Decimal, localcontext

DIGITS = 50


def exact_push(log_weights, sources, targets):
    """The log of the total weight and the flow of each transition, as Decimals."""
    with localcontext(prec=DIGITS, Emax=10**15, Emin=-(10**15)):
        last = int(targets.max())
        weights = [Decimal(float(w)).exp() for w in log_weights]
        edges = sorted(range(len(weights)), key=lambda edge: sources[edge])
        onward = [Decimal(0)] * last + [Decimal(1)]
        for edge in reversed(edges):
            onward[sources[edge]] += weights[edge] * onward[targets[edge]]
        reach = [Decimal(1)] + [Decimal(0)] * last
        flows = [Decimal(0)] * len(weights)
        for edge in edges:
            s, t = sources[edge], targets[edge]
            flows[edge] = reach[s] * weights[edge] * onward[t] / onward[s]
            reach[t] += flows[edge]
        return onward[0].ln(), flows
