"""TLS, client certificates and tokens, against real daemons with certificates made for the test."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from galloon.clients.api.client import Client
from galloon.clients.api.connection import Connection
from galloon.clients.api.errors import NotAllowed, Unreachable, WrongUsage
from galloon.clients.api.stream import StreamOptions
from tests.clients.samples import BIGRAMS, aligned
from tests.daemon_process import Daemon, running_daemon
from tests.system import needs

pytestmark = needs("openssl")
SHORT = StreamOptions(timeout_s=10, open_timeout_s=1)


def openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def pems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and a certificate of the daemon and one of a client, both signed by it."""
    directory = tmp_path_factory.mktemp("pems")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    ca = (
        "-keyout",
        str(directory / "ca.key"),
        "-out",
        str(directory / "ca.pem"),
        "-subj",
        "/CN=test authority",
    )
    openssl("req", "-x509", *key, *ca, "-days", "2")
    for name, alternative in (("daemon", "IP:127.0.0.1"), ("client", "DNS:client")):
        request, certificate = directory / f"{name}.csr", directory / f"{name}.pem"
        openssl(
            "req",
            "-new",
            *key,
            "-keyout",
            f"{directory}/{name}.key",
            "-out",
            str(request),
            "-subj",
            f"/CN={name}",
        )
        extension = directory / f"{name}.ext"
        extension.write_text(f"subjectAltName={alternative}\n")
        signer = ("-CA", str(directory / "ca.pem"), "-CAkey", str(directory / "ca.key"), "-CAcreateserial")
        openssl("x509", "-req", "-in", str(request), *signer, "-out", str(certificate), "-days", "2",
                "-extfile", str(extension))  # fmt: skip
    return directory


def token_entry(prefix: str) -> tuple[str, str]:
    """A token and its entry for the daemon's file, as `galloon serve --new-token` makes them."""
    done = subprocess.run(
        [sys.executable, "-m", "galloon", "serve", "--new-token", "alice", "--prefix", prefix],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stderr.rpartition(" ")[2].strip(), done.stdout


@pytest.fixture(scope="module")
def guarded(pems: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, str]]:
    """A daemon with TLS and tokens, and a token for learners under alice/."""
    directory = tmp_path_factory.mktemp("guarded")
    token, entry = token_entry("alice/")
    (directory / "tokens.toml").write_text(entry)
    (directory / "tokens.toml").chmod(0o600)
    settings = (
        f"tls.certificate={pems}/daemon.pem",
        f"tls.key={pems}/daemon.key",
        f"auth.tokens={directory}/tokens.toml",
    )
    with running_daemon(directory, *settings) as daemon:
        yield daemon, token


async def test_tls_with_a_token(guarded: tuple[Daemon, str], pems: Path):
    daemon, token = guarded
    async with (
        Client(Connection(daemon.address, ca=pems / "ca.pem", token=token), options=SHORT) as client,
        client.stream("alice/x", create=BIGRAMS) as stream,
    ):
        assert (await stream.choose(aligned("u1"))).id == "u1"
        with pytest.raises(NotAllowed, match="alice may not use"):
            await client.get_learner("bob/x")
        with pytest.raises(NotAllowed) as denied:
            await client.stream("bob/x", create=BIGRAMS).open()
        assert denied.value.code == "PERMISSION_DENIED"


@pytest.mark.parametrize("token", [None, "glln_wrong"])
async def test_a_missing_or_wrong_token_is_refused(
    guarded: tuple[Daemon, str], pems: Path, token: str | None
):
    daemon, _ = guarded
    async with Client(Connection(daemon.address, ca=pems / "ca.pem", token=token), options=SHORT) as client:
        with pytest.raises(NotAllowed) as refused:
            await client.list_learners()
        assert refused.value.code == "UNAUTHENTICATED"
        with pytest.raises(NotAllowed):
            await client.stream("alice/x").open()


async def test_plain_text_and_strange_authorities_do_not_connect(
    guarded: tuple[Daemon, str], pems: Path, tmp_path: Path
):
    daemon, token = guarded
    strange = tmp_path / "strange.pem"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            str(tmp_path / "key"), "-out", str(strange), "-subj", "/CN=strange")  # fmt: skip
    for connection in (Connection(daemon.address), Connection(daemon.address, ca=strange, token=token)):
        async with Client(connection, options=SHORT) as client:
            with pytest.raises(Unreachable):
                await client.list_learners(timeout_s=1)


async def test_mtls_asks_the_client_for_a_certificate(pems: Path, tmp_path: Path):
    settings = (
        f"tls.certificate={pems}/daemon.pem",
        f"tls.key={pems}/daemon.key",
        f"tls.client_ca={pems}/ca.pem",
    )
    with running_daemon(tmp_path, *settings) as daemon:
        shown = Connection(daemon.address, pems / "ca.pem", pems / "client.pem", pems / "client.key")
        async with Client(shown, options=SHORT) as client:
            assert (await client.create_learner("x", BIGRAMS)).created
        async with Client(Connection(daemon.address, ca=pems / "ca.pem"), options=SHORT) as client:
            with pytest.raises(Unreachable):
                await client.list_learners(timeout_s=1)


def test_a_token_never_travels_in_clear(pems: Path):
    with pytest.raises(WrongUsage, match="unencrypted"):
        Connection("daemon.example:7410", token="secret")
    assert Connection("localhost:7410", token="secret").metadata is not None
    assert Connection("[::1]:7410", token="secret").host == "::1"
    with pytest.raises(WrongUsage, match="both"):
        Connection(ca=pems / "ca.pem", certificate=pems / "client.pem")
    with pytest.raises(WrongUsage, match="TLS only"):
        Connection(certificate=pems / "client.pem", key=pems / "client.key")
    with pytest.raises(WrongUsage, match="cannot be read"):
        Client(Connection(ca=pems / "nothing.pem"))
