"""Certificates: key and certificate fit, they are valid now and for a while, and nobody else can read the key.

The proof is a handshake with ourselves, in memory: what a client would be shown is what is judged here.
"""

import ssl
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from galloon.daemon.config import Tls
from galloon.daemon.operate.doctor.finding import Finding, bad, doubtful, good

SOON_S = 30 * 86_400
RENEW = "renew it, then restart the daemon"
ROUNDS = 8  # a handshake takes three


def check_certificates(tls: Tls, now: float | None = None) -> Iterator[Finding]:
    """What the port would show, and whom it would trust."""
    now = time.time() if now is None else now
    if not tls.certificate and not tls.key:
        yield good("certificate", "none configured")
        return
    yield _check_pair(tls, now)
    mode = Path(tls.key).stat().st_mode if Path(tls.key).exists() else 0
    if mode & (stat.S_IRWXG | stat.S_IRWXO) & ~stat.S_IRGRP:
        yield doubtful("certificate", f"{tls.key}: others can read the key", f"chmod 0400 {tls.key}")
    if tls.client_ca:
        yield from _check_authorities(tls.client_ca, now)


def _check_pair(tls: Tls, now: float) -> Finding:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        server.load_cert_chain(tls.certificate, tls.key)
    except OSError as error:  # ssl.SSLError is one
        reason = getattr(error, "reason", None) or error.strerror
        fix = "give the certificate (with its chain) and its own key, as PEM files that this user can read"
        return bad("certificate", f"{tls.certificate} and {tls.key}: {reason}", fix)
    try:
        shown = _shown_certificate(server, tls.certificate)
    except ssl.SSLCertVerificationError as error:
        return bad(
            "certificate", f"{tls.certificate}: {error.verify_message}", "renew it, then restart the daemon"
        )
    names = ", ".join(value for _, value in shown.get("subjectAltName", ())) or "no names"
    return _check_dates(tls.certificate, shown, now, f"for {names}")


def _check_authorities(path: str, now: float) -> Iterator[Finding]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_verify_locations(path)
    except OSError as error:
        reason = getattr(error, "reason", None) or error.strerror
        yield bad("client_ca", f"{path}: {reason}", "give the authorities' certificates as a PEM file")
        return
    authorities: list[Any] = context.get_ca_certs()
    if not authorities:
        yield bad(
            "client_ca", f"{path}: no certificate of an authority", "give the one that signs your clients'"
        )
    for authority in authorities:
        subject = ", ".join(value for part in authority["subject"] for _, value in part)
        yield _check_dates(path, authority, now, subject)


def _check_dates(path: str, certificate: Any, now: float, names: str) -> Finding:
    begins, ends = (ssl.cert_time_to_seconds(certificate[name]) for name in ("notBefore", "notAfter"))
    text = f"{path}: {names}, valid until {certificate['notAfter']}"
    if not begins <= now <= ends:
        return bad("certificate", f"{text}, which is not now", RENEW)
    if ends - now < SOON_S:
        return doubtful("certificate", f"{text}, in {(ends - now) / 86_400:.0f} days", "renew it soon")
    return good("certificate", text)


def _shown_certificate(server: ssl.SSLContext, path: str) -> Any:
    """What a client that trusts this file sees, after a whole handshake."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.load_verify_locations(path)
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # the file itself is trusted, whoever signed it
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(to_client, to_server)
    answering = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(ROUNDS):
        for side in (asking, answering):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue  # the other side has to speak first
    return asking.getpeercert()
