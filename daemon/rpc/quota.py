"""What each principal holds of the daemon: open streams, and bytes of requests that are not answered yet."""

from collections import defaultdict

from galloon.daemon.limits import Limits, check


class Quota:
    """Streams and bytes in flight, altogether and by principal."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.streams = 0
        self._streams: defaultdict[str, int] = defaultdict(int)
        self._bytes: defaultdict[str, int] = defaultdict(int)

    def open_stream(self, principal: str) -> None:
        check(self.limits, "streams", self.streams + 1)
        check(self.limits, "streams_per_principal", self._streams[principal] + 1)
        self.streams += 1
        self._streams[principal] += 1

    def close_stream(self, principal: str) -> None:
        self.streams -= 1
        self._streams[principal] -= 1
        if not self._streams[principal]:
            del self._streams[principal]

    def hold(self, principal: str, size: int) -> None:
        """Count the bytes of a request until it is answered."""
        held = self._bytes[principal] + size
        if held > self.limits.bytes_per_principal:
            check(self.limits, "bytes_per_principal", held)
        self._bytes[principal] = held

    def release(self, principal: str, size: int) -> None:
        left = self._bytes[principal] - size
        if left:
            self._bytes[principal] = left
        else:
            del self._bytes[principal]
