"""The gRPC server and its settings, TLS and mTLS, and the refusal to be public without protection."""

import ipaddress
from pathlib import Path

import grpc

from galloon.daemon.config import Config, split_address
from galloon.daemon.errors import ConfigError
from galloon.daemon.rpc.auth import Gate, TokenInterceptor

# Messages up to this many times the limit are read and refused one by one; gRPC ends the stream on larger ones.
OVERSIZE = 4


def grpc_server(config: Config, gate: Gate) -> grpc.aio.Server:
    """A server without services, with all settings."""
    server = config.server
    return grpc.aio.server(
        interceptors=[TokenInterceptor(gate)],
        maximum_concurrent_rpcs=config.limits.streams + config.limits.other_calls,
        options=[
            ("grpc.so_reuseport", 0),  # two daemons on one port would share its clients
            ("grpc.max_receive_message_length", OVERSIZE * config.limits.message_bytes),
            ("grpc.max_send_message_length", -1),
            # A stream's window stays at 64 KiB, which is plenty for text. Probing would let every client that
            # sends and never reads fill megabytes here before flow control holds it back.
            ("grpc.http2.bdp_probe", 0),
            ("grpc.keepalive_time_ms", int(server.keepalive_s * 1000)),
            ("grpc.keepalive_timeout_ms", int(server.keepalive_timeout_s * 1000)),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ],
    )


def credentials_from_config(config: Config) -> grpc.ServerCredentials | None:
    """TLS as configured; None for none."""
    tls = config.tls
    if not tls.certificate and not tls.key and not tls.client_ca:
        return None
    if not tls.certificate or not tls.key:
        raise ConfigError("tls: certificate and key belong together; give both, and client_ca only with them")
    key, certificate = _pem(tls.key, "tls.key"), _pem(tls.certificate, "tls.certificate")
    roots = _pem(tls.client_ca, "tls.client_ca") if tls.client_ca else None
    return grpc.ssl_server_credentials([(key, certificate)], roots, require_client_auth=roots is not None)


def check_exposure(config: Config) -> None:
    """Refuse to be public without protection, unless told otherwise."""
    server, http = config.server, config.http
    protected = config.tls.certificate and (config.auth.tokens or config.tls.client_ca)
    if not _is_loopback(server.listen) and not protected and not server.insecure_public:
        raise ConfigError(
            f"server.listen: {server.listen} is not a loopback address: set tls.certificate and tls.key, and "
            "auth.tokens or tls.client_ca; or set server.insecure_public = true if something in front protects it"
        )
    if http.listen and not _is_loopback(http.listen) and not http.insecure_public:
        raise ConfigError(
            f"http.listen: {http.listen} is not a loopback address and HTTP here has no TLS: set "
            "http.insecure_public = true if only the right people can reach it"
        )
    if http.require_token and not config.auth.tokens:
        raise ConfigError("http.require_token: there are no tokens; set auth.tokens")


def _is_loopback(address: str) -> bool:
    host, _ = split_address(address)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _pem(path: str, key: str) -> bytes:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"{key}: {path}: {error.strerror}") from error
    if b"-----BEGIN" not in data:
        raise ConfigError(f"{key}: {path}: not a PEM file")
    return data
