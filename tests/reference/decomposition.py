"""The paper's flow decomposition as one would do it by hand, with the smallest weight on each path."""


def decompose(flow, sources, targets):
    """A list of (path, weight): always the strongest way on, the first among equals."""
    rest = [float(x) for x in flow]
    last = int(max(targets))
    leaving = {s: [e for e in range(len(rest)) if sources[e] == s] for s in range(last)}
    found = []
    while True:
        path, state = [], 0
        while state != last:
            strongest = max(leaving[state], key=lambda edge: rest[edge])
            if rest[strongest] <= 0:
                break
            path.append(strongest)
            state = int(targets[strongest])
        if not path:
            return found
        if state != last:  # rounding left nothing beyond this state
            rest[path[-1]] = 0.0
            continue
        weight = min(rest[edge] for edge in path)
        for edge in path:
            rest[edge] -= weight
        found.append((path, weight))
