"""What one daemon sees of those that share its store, for metrics and the page."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClusterFigures:
    """Learners belong to shards, and a shard to one daemon at a time."""

    members: int  # daemons that serve
    shards_owned: int
    shards_without_owner: int
    lease_used: float  # of the lease since it was last renewed: 1 is its end
    fenced: int  # members that this daemon has fenced since it started


ALONE = ClusterFigures(1, 0, 0, 0.0, 0)  # a daemon that has its store to itself: it lacks nothing
