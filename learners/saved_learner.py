"""A learner as bytes, as the daemon exports it and stores snapshots: `read_saved`, for whoever needs no daemon.

The container (`state`) of kind "learner" holds the spec, the combiner's own container, and counts of rounds. Of
version 1 all rounds were a part.
"""

from dataclasses import dataclass

from galloon.learners import state
from galloon.learners.combiners.spec import CombinerSpec

KIND = "learner"
VERSION = 2


@dataclass(frozen=True, slots=True)
class SavedLearner:
    spec: CombinerSpec
    combiner: bytes  # for `Combiner.restore`
    rounds: int  # that it has begun
    version: int


def read_saved(data: bytes) -> SavedLearner:
    """What these bytes hold; a `DamagedState` if they are not a learner that this version reads."""
    found = state.unpack(data, KIND, VERSION)
    return SavedLearner(
        CombinerSpec.from_json(found.meta["spec"]),
        found.arrays["combiner"].tobytes(),
        int(found.meta["started"]),
        found.version,
    )
