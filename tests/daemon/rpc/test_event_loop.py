"""The daemon's event loop: calls that pile up are taken together, and none is missed."""

import asyncio
import socket

from galloon.daemon.rpc.event_loop import EventLoop


def test_many_calls_are_one_and_later_ones_come_again():
    """The handler, which takes one byte as gRPC's does, runs once for all that wait, and never without one."""
    handled: list[bytes] = []

    async def main() -> None:
        calls, caller = socket.socketpair()
        calls.setblocking(False)
        asyncio.get_running_loop().add_reader(calls, lambda: handled.append(calls.recv(1)))
        for count in (1, 2, 200):
            handled.clear()
            for _ in range(count):
                caller.send(b"1")
            for _ in range(5):
                await asyncio.sleep(0)
            assert handled == [b"1"], count
        asyncio.get_running_loop().remove_reader(calls)
        calls.close()
        caller.close()

    with asyncio.Runner(loop_factory=EventLoop) as runner:
        runner.run(main())
