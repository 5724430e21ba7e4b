"""Requests by hand against both ports: none of them closes a port to others, or keeps the daemon from ending."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from galloon.codec.spec import spec_to_wire
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc
from tests.abuse.bombs import BOMBS, LEARNERS
from tests.abuse.raw_http2 import RawConnection
from tests.abuse.test_neighbours import LARGE
from tests.daemon_process import Daemon, running_daemon

HELD: list[Any] = []
PATIENCE_S = 60.0  # of a test on a busy machine


def _answers(address: str) -> bool:
    """Whether the gRPC port answers within the patience of a test."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        with grpc.insecure_channel(address) as channel:
            try:
                health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)
            except grpc.RpcError:
                time.sleep(0.05)
            else:
                return True
    return False


def _connected(address: str) -> RawConnection:
    """As soon as the port takes connections: it may just be opening again after the attack before."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return RawConnection(address)
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def test_a_path_that_is_not_utf8_closes_the_port_to_nobody(tmp_path: Path):
    """gRPC's accept loop dies of it; the daemon opens the port again, as often as it takes."""
    with running_daemon(tmp_path) as daemon:
        for _ in range(3):
            attacker = _connected(daemon.address)
            attacker.request(b"/galloon.v1.\xff\xfe/X")
            assert _answers(daemon.address)
            attacker.close()
        log = daemon.log.read_text()
        assert "gRPC port stopped accepting" in log
        with urlopen(f"http://{daemon.http_address}/readyz", timeout=10) as answer:
            assert answer.status == 200


async def test_streams_outlive_the_death_of_the_accept_loop(tmp_path: Path):
    """A call that was open before goes on, and ends as it should."""
    with running_daemon(tmp_path) as daemon:
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
            assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
            attacker = await asyncio.to_thread(RawConnection, daemon.address)
            attacker.request(b"/\xff")
            assert await asyncio.to_thread(_answers, daemon.address)
            assert not watch.done()
            attacker.close()
            stopping = asyncio.create_task(asyncio.to_thread(daemon.stop))
            assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
            watch.cancel()
            assert await stopping == 0


def _watch_without_reading(daemon: Daemon) -> list[socket.socket]:
    """Health Watch with a window of 0: its first answer can never be written."""
    connection = RawConnection(daemon.address, window=0)
    connection.request(b"/grpc.health.v1.Health/Watch")
    time.sleep(1)
    return [connection.socket]


def _half_requests(daemon: Daemon) -> list[socket.socket]:
    """More unfinished HTTP requests than the port takes connections."""
    host, _, port = daemon.http_address.rpartition(":")
    sockets = []
    for _ in range(300):
        connection = socket.create_connection((host, int(port)), timeout=10)
        with suppress(OSError):  # one too many is closed at once
            connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        sockets.append(connection)
    return sockets


def _listeners(daemon: Daemon) -> list[socket.socket]:
    """Pages that listen for news and read nothing."""
    host, _, port = daemon.http_address.rpartition(":")
    sockets = []
    for _ in range(8):
        connection = socket.create_connection((host, int(port)), timeout=10)
        connection.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        sockets.append(connection)
    time.sleep(1)
    return sockets


def _calls_without_end(daemon: Daemon) -> list[grpc.Channel]:
    """An export that nobody reads, an import that is half sent, statistics that nobody reads, and heavy work."""
    channel = grpc.insecure_channel(daemon.address)
    learners = learners_pb2_grpc.LearnerServiceStub(channel)
    learners.CreateLearner(learners_pb2.CreateLearnerRequest(name="large", spec=spec_to_wire(LARGE)))
    calls = [
        learners.ExportLearner(learners_pb2.ExportLearnerRequest(name="large")),
        learners.WatchStatistics(learners_pb2.WatchStatisticsRequest(name="large", interval_s=0.1)),
    ]
    for call in calls:
        next(iter(call))
    HELD.append(calls)  # a call that nobody holds is cancelled
    threading.Thread(target=_swallow, args=(learners.ImportLearner, _half_import()), daemon=True).start()
    heavy = next(bomb for bomb in BOMBS if bomb.name == "64 experts of 1,400 words")
    for number in range(6):
        requests = [
            wire.CombineRequest(open=wire.Open(learner=f"crowd-{number}", create=LEARNERS["crowd"])),
            wire.CombineRequest(utterance=heavy.make()),
        ]
        combine = combine_pb2_grpc.CombineServiceStub(channel).Combine(iter(requests))
        assert next(combine).HasField("opened")
        HELD.append(combine)
    return [channel]


def _half_import() -> Iterator[learners_pb2.ImportLearnerRequest]:
    yield learners_pb2.ImportLearnerRequest(name="half", chunk=b"x")
    time.sleep(PATIENCE_S)


def _swallow(call: Any, requests: Any) -> None:
    with suppress(grpc.RpcError):
        call(requests)


@pytest.mark.parametrize("nuisance", [_watch_without_reading, _half_requests, _listeners, _calls_without_end])
def test_sigterm_ends_the_daemon_whatever_clients_do(nuisance, tmp_path: Path):
    """Within the time to drain and a few seconds, with status 0: the system's alarm is for defects alone."""
    with running_daemon(tmp_path, "server.drain_s=3") as daemon:
        held = nuisance(daemon)
        assert _answers(daemon.address), "gRPC clients are served all the while"
        assert daemon.stop() == 0
        for connection in held:
            connection.close()


def test_unfinished_requests_take_no_places_for_ever(tmp_path: Path):
    """They are counted, closed after their time, and others get the places."""
    with running_daemon(tmp_path) as daemon:
        held = _half_requests(daemon)
        most = 0
        for _ in range(30):  # until all of them have been accepted
            most = max(most, len(list(Path(f"/proc/{daemon.pid}/fd").iterdir())))
            time.sleep(0.1)
        assert most < len(held), "what is over the limit is closed at once, and leaves descriptors for gRPC"
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            try:
                with urlopen(f"http://{daemon.http_address}/readyz", timeout=5) as answer:
                    assert answer.status == 200
                    break
            except OSError:
                time.sleep(0.5)
        else:
            pytest.fail("no place came free")
        for connection in held:
            connection.close()
