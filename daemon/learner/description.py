"""What people are shown of a learner: the page and the metrics read this, and nothing inside the learner."""

from collections.abc import Mapping
from dataclasses import dataclass

from galloon.daemon.learner.error_curve import Rates
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.paths.game import Game
from galloon.learners.paths.protocol import Setting


@dataclass(frozen=True, slots=True)
class Description:
    """A learner at one moment."""

    name: str
    spec: CombinerSpec
    setting: Setting
    derived: tuple[str, ...]  # experts that the combiner computes; it may have more than its spec names
    game: Game | None  # whose automata can be drawn; the tied learner has none
    rounds_started: int
    lessons: int
    rounds_pending: int
    rounds_expired: int
    total_gain: float
    rates: Mapping[str, Rates]  # errors of all corrections that were counted
    journal_entries: int  # since the last snapshot
    snapshot_bytes: int
    snapshot_age_s: float | None
    out_of_service: bool
