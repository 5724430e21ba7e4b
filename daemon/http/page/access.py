"""Who looks at the page: the same principals as on the gRPC port, by the same bearer tokens.

`Access.principal` names the caller of a request or refuses. The token comes in the Authorization header and
nowhere else: an address with a token in it ends up in logs and histories, and a cookie would travel with requests
that another site makes.
"""

import ipaddress

from aiohttp import web

from galloon.daemon.errors import Denied, Unauthenticated
from galloon.daemon.rpc.auth import ANYONE, Gate, Principal


class Access:
    """Knows the gate. `on_loopback`: the port can be reached from this machine alone."""

    def __init__(self, gate: Gate, *, on_loopback: bool) -> None:
        self._gate, self._on_loopback = gate, on_loopback

    @property
    def asks_for_tokens(self) -> bool:
        return self._gate.asks_for_tokens

    def principal(self, request: web.Request) -> Principal:
        if self._gate.asks_for_tokens:
            return self._gate.by_headers(request.headers.getall("Authorization", []))
        try:
            caller = self._gate.principal((), {})
        except Unauthenticated as refused:
            raise Unauthenticated(
                "this daemon knows its callers by certificate, which this port cannot see",
                advice="set auth.tokens",
            ) from refused
        if caller is ANYONE:
            self._check_same_site(request)
        return caller

    def _check_same_site(self, request: web.Request) -> None:
        """Without tokens, other web sites must not reach through the visitor's browser into this machine.

        A foreign Origin is a form or script of another site; a foreign Host on a loopback port is a name that
        another site made point here (DNS rebinding).
        """
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        if origin is not None and origin.partition("://")[2] != host:
            raise Denied("this request comes from another site")
        if self._on_loopback and not is_loopback_name(host):
            raise Denied(
                f"the page was asked for as {host[:80]!r}, which is not this machine",
                advice="use localhost, or set auth.tokens if a proxy in front of this daemon passes on its name",
            )


def is_loopback_name(host: str) -> bool:
    """Whether a Host header names this machine."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
