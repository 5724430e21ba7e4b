"""Word graphs: galloon.v1.Lattice to and from `Lattice`, arcs as arrays."""

import numpy as np
from numpy.typing import NDArray

from galloon.codec.errors import InvalidMessage
from galloon.learners.observation import (
    LEAST_SCALE,
    MOST_SCALE,
    POSTERIORS_ACOUSTIC_SCALE,
    ArcScores,
    Lattice,
)
from galloon.v1 import utterance_pb2 as wire

STATES = 100_000
ARCS = 100_000
LARGEST = 1e30  # of scores and times: sums over all arcs of what is larger could overflow


def lattice_from_wire(message: wire.Lattice, field: str) -> Lattice:
    """The lattice, with every state number in range; that it is acyclic is checked where it is used."""
    states, arcs = message.state_count, len(message.sources)
    if not 1 <= states <= STATES:
        raise InvalidMessage(f"{field}.state_count", f"{states}", f"1 to {STATES} are allowed")
    if arcs > ARCS:
        raise InvalidMessage(f"{field}.sources", f"{arcs} arcs, at most {ARCS} are allowed")
    for name in ("targets", "words", "log_scores"):
        count = len(getattr(message, name))
        if count != arcs:
            raise InvalidMessage(f"{field}.{name}", f"{count} for {arcs} arcs", "send one for each")
    if message.times and len(message.times) != states:
        raise InvalidMessage(
            f"{field}.times", f"{len(message.times)} for {states} states", "one for each, or none"
        )
    sources, targets = np.array(message.sources, np.int64), np.array(message.targets, np.int64)
    largest = max([message.initial, *message.finals, *sources.tolist(), *targets.tolist()])
    if largest >= states:
        raise InvalidMessage(field, f"state {largest} is named, but there are only {states}, from 0 on")
    if not message.finals:
        raise InvalidMessage(f"{field}.finals", "none", "name at least one final state")
    scores, times = np.array(message.log_scores, np.float64), np.array(message.times, np.float64)
    if not (np.isfinite(scores).all() and np.isfinite(times).all()):
        raise InvalidMessage(field, "log_scores and times must be finite")
    return Lattice(
        states,
        message.initial,
        tuple(message.finals),
        sources.astype(np.int32),
        targets.astype(np.int32),
        tuple(message.words),
        _bounded(scores),
        _bounded(times) if message.times else None,
        _parts_from_wire(message, arcs, field),
    )


def _parts_from_wire(message: wire.Lattice, arcs: int, field: str) -> ArcScores | None:
    if not message.acoustic_scores:
        return None
    acoustic = np.array(message.acoustic_scores, np.float64)
    if len(acoustic) != arcs:
        raise InvalidMessage(
            f"{field}.acoustic_scores", f"{len(acoustic)} for {arcs} arcs", "send one for each, or none"
        )
    if not np.isfinite(acoustic).all():
        raise InvalidMessage(f"{field}.acoustic_scores", "must be finite")
    scales = message.acoustic_scale or POSTERIORS_ACOUSTIC_SCALE, message.language_scale or 1.0
    for name, scale in zip(("acoustic_scale", "language_scale"), scales, strict=True):
        if not LEAST_SCALE <= scale <= MOST_SCALE:  # also refuses NaN
            allowed = f"give 0 or a number from {LEAST_SCALE:g} to {MOST_SCALE:g}"
            raise InvalidMessage(f"{field}.{name}", f"{scale}", allowed)
    return ArcScores(_bounded(acoustic), acoustic_scale=scales[0], language_scale=scales[1])


def _bounded(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(numbers, -LARGEST, LARGEST)


def lattice_to_wire(lattice: Lattice) -> wire.Lattice:
    message = wire.Lattice(
        state_count=lattice.state_count,
        initial=lattice.initial,
        finals=lattice.finals,
        sources=lattice.sources.tolist(),
        targets=lattice.targets.tolist(),
        words=lattice.words,
        log_scores=lattice.log_scores.tolist(),
        times=[] if lattice.times is None else lattice.times.tolist(),
    )
    if lattice.parts is not None and lattice.parts.acoustic is not None:
        message.acoustic_scores.extend(lattice.parts.acoustic.tolist())
        message.acoustic_scale, message.language_scale = lattice.parts.scales_used
    return message
