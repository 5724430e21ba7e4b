"""The ports: free to take, or taken by our own daemon, which is then asked whether it serves."""

import errno
import http.client
import socket
from collections.abc import Iterator
from pathlib import Path

from galloon.daemon.config import Config, split_address
from galloon.daemon.operate.doctor.finding import Finding, bad, good
from galloon.daemon.operate.doctor.storage import holder

ANSWER_S = 4.0
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # what to ask where a daemon listens on all


def check_ports(config: Config) -> Iterator[Finding]:
    """Both of them."""
    serving = holder(Path(config.store.data_dir))
    if serving is not None:
        yield check_running(config)
        return
    for name, listen in (("server.listen", config.server.listen), ("http.listen", config.http.listen)):
        if listen:
            yield check_free(name, listen)


def check_free(name: str, listen: str) -> Finding:
    host, port = split_address(listen)
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # old connections do not count
            probe.bind(address)
    except OSError as error:
        advice = {
            errno.EADDRINUSE: f"find who has it (`ss -ltnp`) and stop that, or set {name} to another port",
            errno.EACCES: f"set {name} to a port above 1023",
            errno.EADDRNOTAVAIL: f"set {name} to an address of this machine",
        }.get(error.errno or 0, f"set {name} to an address of this machine, host:port")
        return bad("port", f"{name}: {listen}: {error.strerror}", advice)
    return good("port", f"{name}: {listen} is free")


def check_running(config: Config) -> Finding:
    """Ask a running daemon whether it serves; without an HTTP port, whether anybody answers at all."""
    listen = config.http.listen or config.server.listen
    host, port = split_address(listen)
    host = ANYWHERE.get(host, host)
    advice = "see its log; `galloon serve` starts one"
    try:
        if not config.http.listen:
            socket.create_connection((host, port), ANSWER_S).close()
            return good("running", f"a daemon answers on {listen}")
        connection = http.client.HTTPConnection(host, port, timeout=ANSWER_S)
        try:
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            said = answer.read(100).decode(errors="replace").strip()
        finally:
            connection.close()
    except (OSError, http.client.HTTPException) as error:
        return bad("running", f"no answer from a daemon on {listen}: {error}", advice)
    if answer.status != http.HTTPStatus.OK:
        return bad("running", f"the daemon on {listen} says: {said} ({answer.status})", advice)
    return good("running", f"the daemon on {listen} says: {said}")
