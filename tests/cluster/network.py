"""Machines of their own for daemons: network namespaces with one cable to the clients and one to the database.

Each cable is a veth pair whose far end hangs on a bridge. `cut` takes it off the bridge: nothing arrives any more
and nobody is told so, as when a switch dies. Needs root; `can_be_made` says whether it works here.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

SIDES = ("clients", "database")


class Namespace:
    """One machine. Its addresses are on the bridges of its network."""

    def __init__(self, network: "Network", number: int) -> None:
        self._network, self._number = network, number
        self.name = f"{network.tag}n{number}"
        _ip("netns", "add", self.name)
        _ip("-n", self.name, "link", "set", "lo", "up")
        for side in SIDES:
            here, there = self._cable(side), f"{side[0]}0"
            _ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", self.name)
            _ip("-n", self.name, "address", "add", f"{self.address(side)}/24", "dev", there)
            _ip("-n", self.name, "link", "set", there, "up")
            _ip("link", "set", here, "master", network.bridge(side), "up")

    def address(self, side: str) -> str:
        return self._network.address(side, self._number + 10)

    @property
    def inside(self) -> list[str]:
        """Put before a command, it runs there."""
        return ["ip", "netns", "exec", self.name]

    def cut(self, *sides: str) -> None:
        for side in sides:
            _ip("link", "set", self._cable(side), "nomaster")

    def mend(self, *sides: str) -> None:
        for side in sides:
            _ip("link", "set", self._cable(side), "master", self._network.bridge(side))

    def _cable(self, side: str) -> str:
        return f"{self.name}{side[0]}"


class Network:
    """Two bridges, and the machines on them; this machine is there too, with the address that ends in 1."""

    def __init__(self) -> None:
        number = os.getpid() % 0xFFFF
        self.tag = f"g{number:x}"
        # From the block that is set aside for tests of networks: 198.18.0.0/15.
        self._blocks = {side: f"198.{18 + place}.{number % 256}" for place, side in enumerate(SIDES)}
        self.machines: list[Namespace] = []
        for side in SIDES:
            _ip("link", "add", self.bridge(side), "type", "bridge")
            _ip("address", "add", f"{self.address(side)}/24", "dev", self.bridge(side))
            _ip("link", "set", self.bridge(side), "up")

    def bridge(self, side: str) -> str:
        return f"{self.tag}{side[0]}"

    def address(self, side: str, number: int = 1) -> str:
        return f"{self._blocks[side]}.{number}"

    def machine(self) -> Namespace:
        self.machines.append(Namespace(self, len(self.machines)))
        return self.machines[-1]

    def close(self) -> None:
        for machine in self.machines:
            _ip("netns", "delete", machine.name)
        for side in SIDES:
            _ip("link", "delete", self.bridge(side))


@contextmanager
def network() -> Iterator[Network]:
    made = Network()
    try:
        yield made
    finally:
        made.close()


@cache
def can_be_made() -> bool:
    try:
        with network() as tried:
            tried.machine()
    except (AssertionError, FileNotFoundError):
        return False
    return True


def _ip(*arguments: str) -> None:
    ran = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"ip {' '.join(arguments)}: {ran.stderr}"
