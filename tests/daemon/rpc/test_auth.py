"""Who gets in: every method with every state of credentials, over TLS and without."""

import subprocess
from dataclasses import replace

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from galloon.daemon.app import App
from galloon.daemon.config import Config, Server, Tls, load
from galloon.daemon.errors import ConfigError, Unauthenticated
from galloon.daemon.rpc.auth import Gate, Principal, hash_token, new_token, read_principals
from galloon.daemon.rpc.server import check_exposure
from galloon.learners.combiners.build import build
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc
from tests.daemon.serving import Conversation, insisting, serving, simple_spec
from tests.system import needs


@pytest.fixture
def tokens(tmp_path):
    """A file of two tokens: alice may use alice/, the operator everything."""
    alice, alice_entry = new_token("alice", "alice/")
    root, root_entry = new_token("operator", "")
    path = tmp_path / "tokens.toml"
    path.write_text(f"{alice_entry}\n\n{root_entry}\n")
    assert alice not in path.read_text()
    return {"path": path, "alice": alice, "operator": root}


def bearer(token):
    return (("authorization", f"Bearer {token}"),)


CREDENTIALS = {
    "none": lambda tokens: (),
    "wrong token": lambda tokens: bearer("glln_wrong"),
    "empty token": lambda tokens: (("authorization", "Bearer "),),
    "other scheme": lambda tokens: (("authorization", f"Basic {tokens['alice']}"),),
    "bare token": lambda tokens: (("authorization", tokens["alice"]),),
    "two headers": lambda tokens: (*bearer(tokens["alice"]), *bearer(tokens["operator"])),
    "same header twice": lambda tokens: bearer(tokens["alice"]) * 2,
    "the hash": lambda tokens: bearer(hash_token(tokens["alice"]).hex()),
    "other case": lambda tokens: bearer(tokens["alice"].swapcase()),
}
METHODS = {
    "CreateLearner": learners_pb2.CreateLearnerRequest(name="alice/x", spec=simple_spec()),
    "GetLearner": learners_pb2.GetLearnerRequest(name="alice/x"),
    "ListLearners": learners_pb2.ListLearnersRequest(),
    "DeleteLearner": learners_pb2.DeleteLearnerRequest(name="alice/x"),
    "SnapshotLearner": learners_pb2.SnapshotLearnerRequest(name="alice/x"),
    "ExplainUtterance": learners_pb2.ExplainUtteranceRequest(name="alice/x", id="u"),
    "ExportLearner": learners_pb2.ExportLearnerRequest(name="alice/x"),
    "WatchStatistics": learners_pb2.WatchStatisticsRequest(name="alice/x"),
    "ImportLearner": learners_pb2.ImportLearnerRequest(name="alice/x"),
}
STREAMING = {"ExportLearner", "WatchStatistics"}


async def outcome(daemon, method, metadata):
    """The code that a call ends with."""
    call = getattr(daemon.learners, method)

    async def called():
        if method == "ImportLearner":
            await call(iter([METHODS[method]]), metadata=metadata)
        elif method in STREAMING:
            async for _ in call(METHODS[method], metadata=metadata):
                break
        else:
            await call(METHODS[method], metadata=metadata)

    try:
        await insisting(called)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def test_no_method_answers_without_a_good_token(tmp_path, tokens):
    """Every method of both services, with every kind of bad credentials: UNAUTHENTICATED."""
    async with serving(tmp_path / "data", auth__tokens=tokens["path"]) as daemon:
        for name, metadata in CREDENTIALS.items():
            for method in METHODS:
                code = await outcome(daemon, method, metadata(tokens))
                assert code == grpc.StatusCode.UNAUTHENTICATED, (name, method)
            request = wire.Open(learner="alice/x", create=simple_spec())
            with pytest.raises(grpc.RpcError) as refused:
                await insisting(lambda: daemon.stream(metadata=metadata(tokens)).ask(request))  # noqa: B023
            assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED, name
        assert len(daemon.app.registry) == 0


async def test_a_token_opens_its_own_learners_and_no_others(tmp_path, tokens):
    """Prefixes hold for every method; lists show only what the caller may use."""
    async with serving(tmp_path / "data", auth__tokens=tokens["path"]) as daemon:
        alice, root = bearer(tokens["alice"]), bearer(tokens["operator"])
        for name, metadata in (("alice/x", alice), ("bob/x", root)):
            stream = daemon.stream(metadata=metadata)
            await stream.opened(wire.Open(learner=name, create=simple_spec()))
        stream = daemon.stream(metadata=alice)
        problem = await stream.problem(wire.Open(learner="bob/x"))
        assert problem.code == grpc.StatusCode.PERMISSION_DENIED.value[0]
        await stream.opened(wire.Open(learner="alice/x"))
        for request in METHODS.values():
            if hasattr(request, "name"):
                request.name = "bob/x"
        try:
            for method in set(METHODS) - {"ListLearners"}:
                assert await outcome(daemon, method, alice) == grpc.StatusCode.PERMISSION_DENIED, method
        finally:
            for request in METHODS.values():
                if hasattr(request, "name"):
                    request.name = "alice/x"
        for metadata, names in ((alice, ["alice/x"]), (root, ["alice/x", "bob/x"])):
            page = await daemon.learners.ListLearners(learners_pb2.ListLearnersRequest(), metadata=metadata)
            assert [learner.name for learner in page.learners] == names


async def test_the_health_check_needs_no_token(tmp_path, tokens):
    """An orchestrator has none. Reflection does need one."""
    async with serving(tmp_path / "data", auth__tokens=tokens["path"]) as daemon:
        health = health_pb2_grpc.HealthStub(daemon.channel)
        answer = await health.Check(health_pb2.HealthCheckRequest())
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        call = daemon.channel.stream_stream(method)()
        with pytest.raises(grpc.RpcError) as refused:
            await call.read()
        assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED


def test_tokens_are_compared_without_telling_anything_by_time():
    """Every principal is compared, whether or not an earlier one fits; the last good one wins nothing extra."""
    people = [Principal(name, (name,), hash_token(name)) for name in ("a", "b", "c")]
    gate = Gate(people, client_certificates=False)
    assert gate.by_headers(["Bearer b"]).name == "b"
    with pytest.raises(Unauthenticated):
        gate.by_headers(["Bearer d"])


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """An authority, a server's certificate, and three clients' (one of another authority, one that has expired),
    made by openssl.
    """
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    for authority in ("ca", "other"):
        openssl(
            *"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(),
            *f"-keyout {authority}.key -out {authority}.pem -subj /CN={authority}".split(),
        )
    (folder / "san").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost")
    made = (("server", "ca", 2), ("alice", "ca", 2), ("mallory", "other", 2), ("late", "ca", -1))
    for name, authority, days in made:
        person = "alice" if name == "late" else name
        openssl(
            *"req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes".split(),
            *f"-keyout {name}.key -out {name}.csr -subj /CN={person}".split(),
        )
        openssl(
            *f"x509 -req -in {name}.csr -CA {authority}.pem -CAkey {authority}.key -CAcreateserial".split(),
            *f"-days {days} -extfile san -out {name}.pem".split(),
        )
    return {path.name: path for path in folder.iterdir()}


def channel_to(app, certificates, client=None):
    read = {name: path.read_bytes() for name, path in certificates.items()}
    pair = (read[f"{client}.key"], read[f"{client}.pem"]) if client else (None, None)
    return grpc.aio.secure_channel(app.address, grpc.ssl_channel_credentials(read["ca.pem"], *pair))


async def opens(channel):
    async def opened():
        stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine(timeout=10))
        return await stream.opened(wire.Open(learner="alice/x", create=simple_spec()))

    try:
        return (await insisting(opened)).learner
    except grpc.RpcError as error:
        return error.code()


@needs("openssl")
async def test_tls_and_client_certificates(tmp_path, certificates):
    """TLS keeps plain clients out; mTLS those without a certificate, with another authority's, or with one that
    has expired, though an entry names its owner.
    """
    flags = {
        "server.listen": "127.0.0.1:0",
        "http.listen": "",
        "store.data_dir": str(tmp_path / "data"),
        "tls.certificate": str(certificates["server.pem"]),
        "tls.key": str(certificates["server.key"]),
    }
    app = App(load(None, {}, flags), build)
    await app.start()
    try:
        async with channel_to(app, certificates) as channel:
            assert await opens(channel) == "alice/x"
        async with grpc.aio.insecure_channel(app.address) as channel:
            assert await opens(channel) == grpc.StatusCode.UNAVAILABLE
    finally:
        await app.stop()
    entries = tmp_path / "principals.toml"
    entries.write_text('[[principal]]\nname = "alice"\ncertificate = "alice"\nlearners = ["alice/"]\n')
    flags |= {"tls.client_ca": str(certificates["ca.pem"]), "auth.tokens": str(entries)}
    app = App(load(None, {}, flags), build)
    await app.start()
    try:
        for client, outcome in ((None, "out"), ("mallory", "out"), ("late", "out"), ("alice", "alice/x")):
            async with channel_to(app, certificates, client) as channel:
                found = await opens(channel)
                assert found == outcome or (outcome == "out" and found == grpc.StatusCode.UNAVAILABLE), client
        async with channel_to(app, certificates, "server") as channel:
            assert await opens(channel) == grpc.StatusCode.UNAUTHENTICATED, "no entry names this certificate"
        async with channel_to(app, certificates, "alice") as channel:
            learners = learners_pb2_grpc.LearnerServiceStub(channel)
            with pytest.raises(grpc.RpcError) as refused:
                await learners.GetLearner(learners_pb2.GetLearnerRequest(name="bob/x"))
            assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
    finally:
        await app.stop()


PUBLIC = Config(server=Server(listen="0.0.0.0:7410"))


@pytest.mark.parametrize(
    ("config", "refused"),
    [
        (Config(), False),
        (Config(server=Server(listen="localhost:1")), False),
        (Config(server=Server(listen="[::1]:1")), False),
        (PUBLIC, True),
        (Config(server=Server(listen="example.org:1")), True),
        (replace(PUBLIC, tls=Tls("c", "k")), True),
        (replace(PUBLIC, tls=Tls("c", "k", "ca")), False),
        (Config(server=Server(listen="0.0.0.0:1", insecure_public=True)), False),
    ],
)
def test_a_public_address_needs_protection(config, refused):
    """TLS and tokens or client certificates, or a word from the operator."""
    if refused:
        with pytest.raises(ConfigError, match="not a loopback address"):
            check_exposure(config)
    else:
        check_exposure(config)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no \\[\\[principal\\]\\]"),
        ("[[principal]]\nname = 3\nlearners = []\ntoken_sha256 = ''", "name: must be a text"),
        ("[[principal]]\nname = 'a'\nlearners = 'x'\n", "learners: must be a list"),
        ("[[principal]]\nname = 'a'\nlearners = ['x']\n", "give token_sha256 or certificate"),
        ("[[principal]]\nname = 'a'\nlearners = ['x']\ntoken_sha256 = 'abcd'", "64 hexadecimal digits"),
        ("[[principal]]\nname = 'a'\nlearners = ['x']\ntoken = 'abcd'", "nothing else"),
        ("[[principal]]\nname = 'a'\nlearners = []\ncertificate = 'c'\n" * 2, "same name"),
        ("][", "cannot be read"),
    ],
)
def test_a_wrong_file_of_tokens_is_named(tmp_path, text, words):
    """With the entry and what it must be."""
    path = tmp_path / "tokens.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        read_principals(path)
