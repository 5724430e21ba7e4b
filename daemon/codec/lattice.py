"""Word graphs: galloon.v1.Lattice to and from `Lattice`, arcs as arrays."""

import numpy as np

from galloon.daemon.errors import Invalid
from galloon.learners.observation import Lattice
from galloon.v1 import utterance_pb2 as wire

STATES = 100_000
ARCS = 100_000


def lattice_from_wire(message: wire.Lattice, field: str) -> Lattice:
    """The lattice, with every state number in range; that it is acyclic is checked where it is used."""
    states, arcs = message.state_count, len(message.sources)
    if not 1 <= states <= STATES:
        raise Invalid(f"{field}.state_count: {states}; 1 to {STATES} are allowed", field)
    if arcs > ARCS:
        raise Invalid(f"{field}.sources: {arcs} arcs, at most {ARCS} are allowed", field)
    for name in ("targets", "words", "log_scores"):
        count = len(getattr(message, name))
        if count != arcs:
            raise Invalid(f"{field}.{name}: {count} for {arcs} arcs; send one for each", field)
    if message.times and len(message.times) != states:
        raise Invalid(
            f"{field}.times: {len(message.times)} for {states} states; one for each, or none", field
        )
    sources, targets = np.array(message.sources, np.int64), np.array(message.targets, np.int64)
    largest = max([message.initial, *message.finals, *sources.tolist(), *targets.tolist()])
    if largest >= states:
        raise Invalid(f"{field}: state {largest} is named, but there are only {states}, from 0 on", field)
    if not message.finals:
        raise Invalid(f"{field}.finals: none; name at least one final state", field)
    scores, times = np.array(message.log_scores, np.float64), np.array(message.times, np.float64)
    if not (np.isfinite(scores).all() and np.isfinite(times).all()):
        raise Invalid(f"{field}: log_scores and times must be finite", field)
    return Lattice(
        states,
        message.initial,
        tuple(message.finals),
        sources.astype(np.int32),
        targets.astype(np.int32),
        tuple(message.words),
        scores,
        times if message.times else None,
    )


def lattice_to_wire(lattice: Lattice) -> wire.Lattice:
    return wire.Lattice(
        state_count=lattice.state_count,
        initial=lattice.initial,
        finals=lattice.finals,
        sources=lattice.sources.tolist(),
        targets=lattice.targets.tolist(),
        words=lattice.words,
        log_scores=lattice.log_scores.tolist(),
        times=[] if lattice.times is None else lattice.times.tolist(),
    )
