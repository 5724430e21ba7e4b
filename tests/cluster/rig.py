"""Daemons that share a PostgreSQL: `cluster()`. Each has a machine of its own where namespaces can be made.

A daemon that ends is started again, as a supervisor would.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg

from galloon.daemon.store.postgres_schema import shard_of
from tests.cluster.network import Namespace, Network, can_be_made, network
from tests.daemon_process import free_port
from tests.postgres import Server

GRPC_PORT = 7410
OWNER = (
    "SELECT address FROM galloon.shards JOIN galloon.members ON id = member AND NOT fenced WHERE shard = %s"
)
SERVING = "SELECT address FROM galloon.members WHERE NOT fenced AND lease > clock_timestamp()"


class Node:
    """One daemon, started again whenever it ends."""

    def __init__(
        self, folder: Path, url: str, lease_s: float, machine: Namespace | None, settings: Sequence[str] = ()
    ) -> None:
        self.machine = machine
        self.address = (
            f"127.0.0.1:{free_port()}" if machine is None else f"{machine.address('clients')}:{GRPC_PORT}"
        )
        name = self.address.replace(":", "_")
        self.log = folder / f"{name}.log"
        inside = [] if machine is None else machine.inside
        self._command = [*inside, sys.executable, "-m", "galloon", "serve", "--store", url]
        self._command += ["--listen", self.address, "--http", ""]
        for setting in (
            f"store.lease_s={lease_s}",
            "server.drain_s=2",
            "server.insecure_public=true",
            *settings,
        ):
            self._command += ["--set", setting]
        self.starts = 0
        self._ending = False
        self.start()

    def start(self) -> None:
        self.starts += 1
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def tend(self) -> None:
        if not self._ending and self.process.poll() is not None:
            self.start()

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    def stop(self) -> int:
        """Politely; gives the exit status."""
        self._ending = True
        self.signal(signal.SIGCONT)
        self.process.terminate()
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Cluster:
    """So many daemons on one PostgreSQL."""

    def __init__(
        self, folder: Path, server: Server, nodes: int, lease_s: float, machines: Network | None
    ) -> None:
        self.server, self.lease_s = server, lease_s
        self.url = server.new_database()
        self._folder, self._machines = folder, machines
        self.nodes: list[Node] = []
        for _ in range(nodes):
            self.add()
        self._ending = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()

    @property
    def addresses(self) -> str:
        return ",".join(node.address for node in self.nodes)

    def add(self) -> Node:
        """One daemon more."""
        if self._machines is None:
            node = Node(self._folder, self.url, self.lease_s, None)
        else:
            url = self.url.replace("127.0.0.1", self._machines.address("database"))
            node = Node(self._folder, url, self.lease_s, self._machines.machine())
        self.nodes.append(node)
        return node

    def remove(self, node: Node) -> int:
        self.nodes.remove(node)
        return node.stop()

    def owner(self, learner: str) -> Node:
        """The node that has a learner, once one has."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            with suppress(psycopg.OperationalError), psycopg.connect(self.url, autocommit=True) as database:
                row = database.execute(OWNER, (shard_of(learner),)).fetchone()
                for node in self.nodes:
                    if row is not None and node.address == row[0]:
                        return node
            time.sleep(0.05)
        raise AssertionError(f"nobody has {learner} for five minutes")

    def wait_until_whole(self) -> None:
        """Until every node serves: how long one takes to start says nothing about those that take over."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            with suppress(psycopg.OperationalError), psycopg.connect(self.url, autocommit=True) as database:
                serving = {address for (address,) in database.execute(SERVING)}
                if serving >= {node.address for node in self.nodes}:
                    return
            time.sleep(0.05)
        raise AssertionError("a daemon did not come back for five minutes")

    def stop(self) -> None:
        self._ending.set()
        self._supervisor.join()
        for node in self.nodes:
            node.stop()

    def _supervise(self) -> None:
        while not self._ending.wait(0.1):
            for node in list(self.nodes):
                node.tend()


@contextmanager
def cluster(
    folder: Path, server: Server, nodes: int = 3, lease_s: float = 3.0, namespaces: bool | None = None
) -> Iterator[Cluster]:
    """`namespaces`: whether each daemon has a network of its own; where they can be made, if nothing is said.

    The server must listen to others than this machine for that.
    """
    with ExitStack() as stack:
        machines = (
            stack.enter_context(network()) if namespaces or (namespaces is None and can_be_made()) else None
        )
        made = Cluster(folder, server, nodes, lease_s, machines)
        stack.callback(made.stop)
        yield made
