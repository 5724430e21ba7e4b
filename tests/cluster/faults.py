"""What happens to a cluster: each fault takes a cluster and a learner, and is over when it returns.

What the cluster makes of it may take longer. `faults_of` gives those that can be done to a cluster.
"""

import signal
import time
from collections.abc import Callable

from tests.cluster.network import SIDES
from tests.cluster.rig import Cluster

LONGER_S = 4.0  # than the lease, which is what streams may take to go on elsewhere


def kill_owner(cluster: Cluster, learner: str) -> None:
    cluster.owner(learner).signal(signal.SIGKILL)


def pause_owner(cluster: Cluster, learner: str) -> None:
    """Longer than its lease, with appends under way; then it goes on where it was."""
    node = cluster.owner(learner)
    node.signal(signal.SIGSTOP)
    time.sleep(cluster.lease_s + LONGER_S)
    node.signal(signal.SIGCONT)


def cut_owner_off(cluster: Cluster, learner: str) -> None:
    """From the database and from clients, longer than its lease."""
    _cut(cluster, learner, SIDES)


def cut_owner_off_from_database(cluster: Cluster, learner: str) -> None:
    """Clients still reach it."""
    _cut(cluster, learner, ("database",))


def restart_database(cluster: Cluster, learner: str) -> None:
    cluster.server.stop("fast")
    cluster.server.start()


def kill_database(cluster: Cluster, learner: str) -> None:
    cluster.server.kill()
    time.sleep(0.5)
    cluster.server.start()


def _cut(cluster: Cluster, learner: str, sides: tuple[str, ...]) -> None:
    machine = cluster.owner(learner).machine
    assert machine is not None
    machine.cut(*sides)
    time.sleep(cluster.lease_s + LONGER_S)
    machine.mend(*sides)


FAULTS: dict[str, Callable[[Cluster, str], None]] = {
    "kill": kill_owner,
    "pause": pause_owner,
    "cut off": cut_owner_off,
    "restart database": restart_database,
    "kill database": kill_database,
    "cut off from database": cut_owner_off_from_database,
}


def faults_of(cluster: Cluster) -> list[str]:
    with_network = all(node.machine is not None for node in cluster.nodes)
    return [name for name in FAULTS if with_network or not name.startswith("cut off")]
