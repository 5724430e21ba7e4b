"""How to reach a daemon: `Connection` says where and with which proofs, `open_channel` makes a channel of it.

`Backoff` says how long to wait before trying again.
"""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import grpc
from grpc import aio

from galloon.clients.api.errors import WrongUsage

DEFAULT_ADDRESS = "127.0.0.1:7410"
MESSAGE_BYTES = 4 * 1_048_576  # largest answer taken; a choice is never much larger than its utterance


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds between attempts: they grow by the factor up to the longest, each cut short at random.

    The random part keeps a thousand clients of a restarted daemon from coming back in step.
    """

    first_s: float = 0.05
    factor: float = 2.0
    longest_s: float = 1.0

    def delays(self, random: Random) -> Iterator[float]:
        """Delays without end."""
        delay = self.first_s
        while True:
            yield delay * random.uniform(0.5, 1.0)
            delay = min(self.longest_s, delay * self.factor)


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a daemon is and how to prove who we are. With `ca` the connection speaks TLS.

    Several daemons that share a store are one address each, separated by commas: any that answers will do.
    """

    address: str = DEFAULT_ADDRESS
    ca: Path | None = None  # PEM file of the authority that signed the daemon's certificate
    certificate: Path | None = None  # our own, for mTLS, with its key
    key: Path | None = None
    token: str | None = None
    server_name: str | None = None  # the name in the daemon's certificate, where it is not the address
    silence_s: float = 60.0  # a peer that answers nothing for so long is gone; daemons allow 45 and more

    def __post_init__(self) -> None:
        for address in self.addresses:
            _, separator, port = address.rpartition(":")
            if not separator or not _host(address) or not port.isdecimal() or not 0 < int(port) < 65536:
                raise WrongUsage(f"{address!r} is not an address: write host:port, e.g. {DEFAULT_ADDRESS}")
        if (self.certificate is None) != (self.key is None):
            raise WrongUsage("mTLS needs both: a certificate and its key")
        if self.certificate is not None and self.ca is None:
            raise WrongUsage(
                "a certificate is shown over TLS only: name the authority (ca) of the daemon too"
            )
        for address in self.addresses:
            if self.token is not None and self.ca is None and not _is_loopback(_host(address)):
                raise WrongUsage(
                    f"a token would travel to {address} unencrypted: name the authority (ca) for TLS"
                )

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self.address.split(","))

    @property
    def host(self) -> str:
        """Of the first address."""
        return _host(self.addresses[0])

    @property
    def metadata(self) -> aio.Metadata:
        """Goes with every call."""
        pairs = () if self.token is None else (("authorization", f"Bearer {self.token}"),)
        return aio.Metadata(*pairs)


def open_channel(connection: Connection) -> aio.Channel:
    """A channel; it connects when it is first used, and again whenever it must."""
    options: list[tuple[str, int | str]] = [
        ("grpc.max_receive_message_length", MESSAGE_BYTES),
        # The stream has its own backoff, so the channel itself should be quick to notice a daemon's return.
        ("grpc.initial_reconnect_backoff_ms", 50),
        ("grpc.min_reconnect_backoff_ms", 5000),
        ("grpc.max_reconnect_backoff_ms", 1000),
        # A ping after two thirds of the silence; daemons allow one each 30 seconds or so. An answer is awaited for
        # the last third: by the second option, which counts in this grpcio, where the first alone has no effect.
        ("grpc.keepalive_time_ms", round(connection.silence_s * 2000 / 3)),
        ("grpc.keepalive_timeout_ms", round(connection.silence_s * 1000 / 3)),
        ("grpc.http2.ping_timeout_ms", round(connection.silence_s * 1000 / 3)),
        # Clients of one process that reach several daemons, one after the other, must not share their fate.
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if _is_loopback(connection.host):
        options.append(("grpc.enable_http_proxy", 0))  # http_proxy means the way out of this machine
    if connection.server_name is not None:
        options.append(("grpc.ssl_target_name_override", connection.server_name))
    if connection.ca is None:
        return aio.insecure_channel(connection.address, options=options)
    return aio.secure_channel(connection.address, credentials_of(connection), options=options)


def credentials_of(connection: Connection) -> grpc.ChannelCredentials:
    """What its files hold; an error names the one that cannot be read."""
    return grpc.ssl_channel_credentials(
        _read(connection.ca), _read(connection.key), _read(connection.certificate)
    )


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


def _read(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise WrongUsage(f"{path}: cannot be read: {error.strerror}") from error


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name that may lead anywhere
