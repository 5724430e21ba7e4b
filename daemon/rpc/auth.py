"""Who calls, and what they may touch: bearer tokens hashed at rest, client certificates, learner prefixes.

`Gate.principal` names the caller of an RPC or refuses; `Principal.check` refuses learners outside the caller's
prefixes. The file of tokens holds entries such as

    [[principal]]
    name = "alice"
    token_sha256 = "<64 hexadecimal digits>"   # and/or certificate = "<common name>"
    learners = ["alice/", "shared/"]           # prefixes of names; [""] is all

Without tokens and client certificates everybody is the one principal "anyone": for loopback.
"""

import hmac
import secrets
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc

from galloon.daemon.config import Config
from galloon.daemon.errors import ConfigError, Denied, Unauthenticated

TOKEN_PREFIX = "glln_"  # noqa: S105  # not a password: it is there so that secret scanners can find a leaked one


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller and the prefixes of the learners that it may touch."""

    name: str
    learners: tuple[str, ...] = ("",)
    token_hash: bytes = b""
    certificate: str = ""

    def may_use(self, learner: str) -> bool:
        return learner.startswith(self.learners)

    def check(self, learner: str, field: str) -> None:
        if not self.may_use(learner):
            raise Denied(f"{self.name} may not use learners of this name", field)


ANYONE = Principal("anyone")


class Gate:
    """Knows all principals."""

    def __init__(self, principals: Iterable[Principal], client_certificates: bool) -> None:
        self._by_token = [principal for principal in principals if principal.token_hash]
        self._by_certificate = {p.certificate: p for p in principals if p.certificate}
        self._client_certificates = client_certificates

    @property
    def asks_for_tokens(self) -> bool:
        return bool(self._by_token)

    def principal(
        self, metadata: Iterable[tuple[str, Any]], peer: Mapping[str, Iterable[bytes]]
    ) -> Principal:
        """The caller: by token where there are tokens, else by certificate, else anyone."""
        if self._by_token:
            return self.by_headers([value for name, value in metadata if name.lower() == "authorization"])
        if not self._client_certificates:
            return ANYONE
        for name in peer.get("x509_common_name", ()):
            common_name = name.decode(errors="replace")
            return self._by_certificate.get(common_name) or self._unlisted(common_name)
        raise Unauthenticated("the client's certificate has no common name")

    def by_headers(self, headers: list[Any]) -> Principal:
        """The caller by all its authorization headers: exactly one, with a known token."""
        if len(headers) != 1:
            raise Unauthenticated(
                f"{len(headers)} authorization headers", advice="send exactly one, 'Bearer <token>'"
            )
        scheme, _, token = str(headers[0]).partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated("the authorization header must be 'Bearer <token>'")
        hashed, found = hash_token(token), None
        for principal in self._by_token:  # all of them, so that time tells nothing
            if hmac.compare_digest(hashed, principal.token_hash):
                found = principal
        if found is None:
            raise Unauthenticated("this token is not known", advice="ask the operator for one")
        return found

    def _unlisted(self, common_name: str) -> Principal:
        """A certificate that no entry names: all learners if there are no entries at all, else none."""
        if self._by_certificate:
            raise Unauthenticated("no entry names this certificate", advice="ask the operator for one")
        return Principal(common_name)


class TokenInterceptor(grpc.aio.ServerInterceptor):
    """Turns callers without a token away from every service but the health check, whatever it is."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def intercept_service(self, continuation: Any, details: grpc.HandlerCallDetails) -> Any:
        handler = await continuation(details)
        if details.method.startswith("/grpc.health.v1.Health/") or not self._gate.asks_for_tokens:
            return handler
        headers = [value for name, value in details.invocation_metadata if name.lower() == "authorization"]
        try:
            self._gate.by_headers(headers)
        except Unauthenticated as refused:
            return _refusing(handler, str(refused))
        return handler


def hash_token(token: str) -> bytes:
    """Tokens are long and random, so one round of a plain hash is enough: there is nothing to guess.

    HTTP headers may hold any bytes; those that are not UTF-8 come as surrogates.
    """
    return sha256(token.encode(errors="surrogateescape")).digest()


def new_token(name: str, prefix: str) -> tuple[str, str]:
    """A token to hand over, and the entry to add to the file of tokens."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    quoted = [f'"{text.encode("unicode_escape").decode()}"' for text in (name, prefix)]
    lines = ["[[principal]]", f"name = {quoted[0]}", f'token_sha256 = "{hash_token(token).hex()}"']
    return token, "\n".join([*lines, f"learners = [{quoted[1]}]"])


def read_principals(path: Path) -> list[Principal]:
    """The entries of a file of tokens."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("principal", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as a file of tokens: {error}") from error
    if not isinstance(entries, list) or not entries:
        raise ConfigError(f"{path}: no [[principal]]; `galloon serve --new-token NAME` makes one")
    principals = [
        _read_principal(entry, f"{path}: principal {n}") for n, entry in enumerate(entries, start=1)
    ]
    if len({principal.name for principal in principals}) < len(principals):
        raise ConfigError(f"{path}: two principals have the same name")
    return principals


def _read_principal(entry: Any, where: str) -> Principal:
    known = {"name", "token_sha256", "certificate", "learners"}
    if not isinstance(entry, dict) or not set(entry) <= known:
        raise ConfigError(f"{where}: has name, learners, and token_sha256 or certificate; nothing else")
    name, learners = entry.get("name"), entry.get("learners")
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{where}: name: must be a text")
    if not isinstance(learners, list) or not all(isinstance(prefix, str) for prefix in learners):
        raise ConfigError(f'{where}: learners: must be a list of prefixes; [""] is all learners')
    token, certificate = entry.get("token_sha256", ""), entry.get("certificate", "")
    if not isinstance(certificate, str) or not (token or certificate):
        raise ConfigError(f"{where}: give token_sha256 or certificate")
    try:
        hashed = bytes.fromhex(token)
    except (ValueError, TypeError):
        hashed = b"wrong"
    if len(hashed) not in {0, sha256().digest_size}:
        raise ConfigError(f"{where}: token_sha256: must be 64 hexadecimal digits")
    return Principal(name, tuple(learners), hashed, certificate)


def gate_from_config(config: Config) -> Gate:
    principals = read_principals(Path(config.auth.tokens)) if config.auth.tokens else []
    return Gate(principals, bool(config.tls.client_ca))


def _refusing(handler: Any, message: str) -> Any:
    """A handler of the same shape that refuses."""

    async def refuse(_: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, message)

    if handler is None:
        return grpc.unary_unary_rpc_method_handler(refuse)
    make = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }[bool(handler.request_streaming), bool(handler.response_streaming)]
    return make(refuse)
