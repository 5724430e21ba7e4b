"""What an operator sees: drain, health, reflection, metrics, the command's exit statuses."""

import asyncio
import gc
import json
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from random import Random

import aiohttp
import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from galloon.daemon.learner.error_curve import Rates
from galloon.daemon.rpc.stream import Stream
from galloon.daemon.store.sqlite import SqliteBackend
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2
from tests.daemon.serving import EXPERTS, feedback, insisting, serving, simple_spec, utterance
from tests.daemon_process import Daemon
from tests.fault.nuisances import never_reading
from tests.system import needs

PROTO = Path(__file__).parents[2] / "proto"


async def test_draining_answers_everything_then_ends_every_stream(tmp_path):
    """Requests that were taken are answered, idle streams end at once, new ones are turned away."""
    async with serving(tmp_path) as daemon:
        busy, idle = await daemon.open(), await daemon.open()
        for number in range(5):
            await busy.send(utterance(number))
        await busy.send(feedback(0))
        while daemon.app.registry.find("test").rounds.started < 5:  # noqa: ASYNC110  # until all have been taken
            await asyncio.sleep(0.001)
        draining = asyncio.create_task(daemon.app.streams.drain())
        answers = [answer.WhichOneof("response") async for answer in _until_turned_away(busy)]
        assert answers.count("choice") == 5
        assert answers.count("learned") == daemon.app.registry.find("test").rounds.lessons
        assert [answer async for answer in _until_turned_away(idle)] == []
        await draining
        with pytest.raises(grpc.RpcError) as refused:
            await insisting(lambda: daemon.stream().ask(wire.Open(learner="test")))
        assert refused.value.code() == grpc.StatusCode.UNAVAILABLE


async def test_streams_that_are_cut_off_leave_nothing_to_the_collector(tmp_path):
    """It looks at old objects so rarely that what a flood of such streams held would stay for minutes."""
    async with serving(tmp_path) as daemon:
        gc.collect()
        gc.disable()
        try:
            await never_reading(daemon.app.address, Random(1), seconds=0.5)
            async with asyncio.timeout(5):  # before housekeeping collects
                while any(isinstance(each, Stream) for each in gc.get_objects()):  # noqa: ASYNC110  # no one tells
                    await asyncio.sleep(0.01)
        finally:
            gc.enable()


async def test_a_flood_waits_for_the_disk(tmp_path, monkeypatch):
    """What cannot be written is not read on, instead of waiting in memory."""
    lag, in_flight, streams, entry_bytes = 65_536, 2, 10, 8192  # of a round of such a flood, at most
    may_write = threading.Event()
    write = SqliteBackend.write

    def write_when_it_may(backend, batch):
        may_write.wait()
        write(backend, batch)

    monkeypatch.setattr("galloon.daemon.store.journal.LAG_BYTES", lag)
    monkeypatch.setattr(SqliteBackend, "write", write_when_it_may)
    async with serving(tmp_path, limits__in_flight=in_flight) as daemon:
        try:
            await never_reading(daemon.app.address, Random(1), streams, seconds=3.0)
            assert lag < daemon.app._journal._queued_bytes < lag + streams * in_flight * entry_bytes
        finally:
            may_write.set()


async def _until_turned_away(stream):
    """The answers that a stream still sees before it is told to reconnect."""
    try:
        while True:
            yield await stream.read()
    except grpc.RpcError as ended:
        assert ended.code() == grpc.StatusCode.UNAVAILABLE  # noqa: PT017  # it ends by an error or never
        assert "reconnect" in ended.details()  # noqa: PT017


async def test_sigterm_ends_the_process_with_status_0_and_leaves_nothing_to_replay(tmp_path):
    """Under an open stream; the next start finds snapshots and an empty journal."""
    daemon = Daemon(tmp_path)
    await asyncio.to_thread(daemon.start)
    try:
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            from galloon.v1 import combine_pb2_grpc
            from tests.daemon.serving import Conversation

            stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
            await stream.opened(wire.Open(learner="test", create=simple_spec()))
            await stream.choice(utterance(1))
            await stream.learned(feedback(1))
            assert daemon.process is not None
            daemon.process.send_signal(signal.SIGTERM)
            with pytest.raises(grpc.RpcError):
                await stream.read()
            assert await asyncio.to_thread(daemon.process.wait) == 0
    finally:
        daemon.kill()
    assert '"event": "stopped"' in daemon.log.read_text()
    import sqlite3

    database = sqlite3.connect(daemon.data_dir / "galloon.db")
    ((snapshot,),) = database.execute("SELECT max(seq) FROM snapshots").fetchall()
    ((entry,),) = database.execute("SELECT max(seq) FROM journal").fetchall()
    assert snapshot == entry > 0
    database.close()


@pytest.mark.parametrize("option", ["--listen", "--http"])
def test_a_busy_port_ends_the_command_with_status_1_and_a_sentence(tmp_path, option):
    """It used to print the error and to wait for ever, because the store's thread was still running."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = f"127.0.0.1:{taken.getsockname()[1]}"
        ports = {"--listen": "127.0.0.1:0", "--http": "127.0.0.1:0", option: busy}
        flags = [text for pair in ports.items() for text in pair]
        result = subprocess.run(
            [sys.executable, "-m", "galloon", "serve", "--data-dir", str(tmp_path / "data"), *flags],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert result.returncode == 1
    assert f"cannot listen on {busy}" in result.stderr
    assert "choose another port" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_damaged_store_ends_the_command_with_status_1_and_a_sentence(tmp_path):
    """No traceback; what is wrong, and what to do."""
    (tmp_path / "galloon.db").write_bytes(b"rubbish" * 1000)
    command = [sys.executable, "-m", "galloon", "serve", "--listen", "127.0.0.1:0", "--http", ""]
    result = subprocess.run(
        [*command, "--data-dir", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert "galloon.db" in result.stderr
    assert "restore the data directory from a backup" in result.stderr
    assert "Traceback" not in result.stderr


async def test_health_of_the_daemon_and_of_each_learner(tmp_path):
    """Serving while it serves; unknown for a name without learner, also for one that had a learner."""
    async with serving(tmp_path) as daemon:
        await daemon.open()
        health = health_pb2_grpc.HealthStub(daemon.channel)
        for name in ("", "test"):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        watching = health.Watch(health_pb2.HealthCheckRequest(service="test"))
        assert (await watching.read()).status == health_pb2.HealthCheckResponse.SERVING
        await daemon.learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="test"))
        assert (await watching.read()).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        watching.cancel()
        for name in ("nobody", "test"):
            answer = health.Check(health_pb2.HealthCheckRequest(service=name))
            assert await answer.code() == grpc.StatusCode.NOT_FOUND


async def test_deleting_a_learner_ends_its_streams_and_no_others(tmp_path):
    """With NOT_FOUND and the name."""
    async with serving(tmp_path) as daemon:
        stream, other = await daemon.open("one"), await daemon.open("two")
        await daemon.learners.DeleteLearner(learners_pb2.DeleteLearnerRequest(name="one"))
        with pytest.raises(grpc.RpcError) as ended:
            await stream.read()
        assert ended.value.code() == grpc.StatusCode.NOT_FOUND
        await other.choice(utterance(1))


@pytest.fixture(scope="module")
def buf() -> str:
    subprocess.run(
        ["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=PROTO, check=True, capture_output=True
    )
    return str(PROTO / "node_modules/.bin/buf")


@needs("npm")
async def test_a_foreign_client_plays_a_round_through_reflection(tmp_path, buf):
    """`buf curl` knows nothing of this repository: it asks the daemon for the schema."""
    offers = [{"engine": name, "tokens": ["so", "far"]} for name in EXPERTS]
    spec = {"engines": list(EXPERTS), "algorithm": "ALGORITHM_EXPANDED_HEDGE", "window": 2}
    requests = [
        {"open": {"learner": "curl", "create": spec}},
        {"utterance": {"id": "x", "slots": {"offers": offers}}},
    ]
    async with serving(tmp_path) as daemon:

        async def curl(messages):
            process = await asyncio.create_subprocess_exec(
                buf,
                *("curl", "--protocol", "grpc", "--http2-prior-knowledge", "-d", "@-"),
                f"http://{daemon.app.address}/galloon.v1.CombineService/Combine",
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            out, errors = await process.communicate("\n".join(map(json.dumps, messages)).encode())
            assert process.returncode == 0, errors.decode()
            decoder, text, found = json.JSONDecoder(), out.decode().strip(), []
            while text:
                value, end = decoder.raw_decode(text)
                found.append(value)
                text = text[end:].lstrip()
            return found

        opened, choice = await curl(requests)
        assert opened["opened"]["created"]
        assert choice["choice"]["text"] == "so far"
        opened, learned = await curl(
            [
                {"open": {"learner": "curl", "unsureIds": ["x"]}},
                {"feedback": {"id": "x", "trueText": "so far"}},
            ]
        )
        assert opened["opened"]["rounds"] == [{"id": "x", "state": "ROUND_STATE_PENDING"}]
        assert learned["learned"]["gain"] == 2


async def test_reflection_can_be_switched_off(tmp_path):
    """Then the method does not exist."""
    async with serving(tmp_path, server__reflection="false") as daemon:
        method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
        with pytest.raises(grpc.RpcError) as missing:
            await daemon.channel.stream_stream(method)().read()
        assert missing.value.code() == grpc.StatusCode.UNIMPLEMENTED


async def scraped(daemon, path="/metrics", **headers):
    async with aiohttp.ClientSession() as session:
        async with session.get(f"http://{daemon.app.http_address}{path}", headers=headers) as answer:
            return answer.status, await answer.text()


def promtool(text):
    command = ["promtool", "check", "metrics"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


@needs("promtool")
async def test_metrics_pass_the_checks_of_prometheus(tmp_path):
    """After rounds, refusals and a snapshot; every metric of the design is there."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        for number in range(4):
            await stream.choice(utterance(number))
            await stream.learned(feedback(number))
        await stream.problem(feedback(99))
        await daemon.learners.SnapshotLearner(learners_pb2.SnapshotLearnerRequest(name="test"))
        daemon.app._housekeeping._count_errors(daemon.app.registry.learners())
        status, text = await scraped(daemon)
    assert status == 200
    assert promtool(text) == (0, "")
    for line in (
        "galloon_choices_total 4.0",
        'galloon_feedback_total{kind="true_tokens"} 4.0',
        'galloon_rejects_total{reason="unknown_round"} 1.0',
        'galloon_learner_lessons{learner="test"} 4.0',
        "galloon_snapshots_total 1.0",
        "galloon_streams 1.0",
        "galloon_pending_rounds 0.0",
    ):
        assert f"\n{line}\n" in text, line
    for name in (
        "galloon_learner_regret",
        "galloon_learner_regret_bound",
        "galloon_learner_context_transitions",
        "galloon_learner_snapshot_age_seconds",
        "galloon_learner_snapshot_bytes",
    ):
        assert f'\n{name}{{learner="test"}} ' in text, name
    for name in ("galloon_choose_seconds", "galloon_learn_seconds", "galloon_store_commit_seconds"):
        assert f"\n{name}_count " in text, name
    assert '\ngalloon_word_edits_total{expert="galloon",learner="test"} ' in text


async def test_only_so_many_learners_are_shown_by_name(tmp_path):
    """The sums cover all of them."""
    async with serving(tmp_path, http__learners_shown=2) as daemon:
        for name in "abc":
            await (await daemon.open(name)).choice(utterance(1))
        _, text = await scraped(daemon)
    assert text.count("galloon_learner_lessons{") == 2
    assert "\ngalloon_rounds 3.0\n" in text
    assert "\ngalloon_learners 3.0\n" in text


async def test_health_over_http(tmp_path):
    """Alive and ready while it serves; alive and not ready while it drains."""
    async with serving(tmp_path) as daemon:
        assert (await scraped(daemon, "/healthz"))[0] == 200
        assert (await scraped(daemon, "/readyz"))[0] == 200
        daemon.app._serving = False
        assert (await scraped(daemon, "/healthz"))[0] == 200
        assert (await scraped(daemon, "/readyz"))[0] == 503


async def test_metrics_can_ask_for_a_token(tmp_path):
    """As the gRPC port does; the health checks never do."""
    from galloon.daemon.rpc.auth import new_token

    token, entry = new_token("prometheus", "")
    (tmp_path / "tokens.toml").write_text(entry)
    settings = {"auth__tokens": tmp_path / "tokens.toml", "http__require_token": "true"}
    async with serving(tmp_path / "data", **settings) as daemon:
        assert (await scraped(daemon))[0] == 401
        assert (await scraped(daemon, Authorization="Bearer wrong"))[0] == 401
        assert (await scraped(daemon, Authorization=f"Bearer {token}"))[0] == 200
        assert (await scraped(daemon, "/healthz"))[0] == 200


async def test_metrics_name_the_learners_of_the_caller_alone(tmp_path):
    """Another tenant's learners and engines count in the sums, and nobody reads their names."""
    from galloon.daemon.rpc.auth import new_token

    (alice, first), (_, second) = new_token("alice", "alice/"), new_token("bob", "bob/")
    (tmp_path / "tokens.toml").write_text(f"{first}\n{second}\n")
    async with serving(tmp_path / "data", auth__tokens=tmp_path / "tokens.toml") as daemon:
        spec = CombinerSpec(("engine_of_bob",))
        await daemon.app.registry.create("bob/secret", spec, "name")
        await daemon.app.registry.create("alice/open", CombinerSpec(("engine_of_alice",)), "name")
        _, text = await scraped(daemon, Authorization=f"Bearer {alice}")
        assert "alice/open" in text
        assert "bob" not in text
        status, text = await scraped(daemon)
        assert status == 200
        assert "alice" not in text
        assert "\ngalloon_learners 2.0\n" in text


async def test_metrics_show_the_first_engines_of_a_crowd(tmp_path):
    """And what is combined of all of them: a scrape is written on the event loop."""
    async with serving(tmp_path) as daemon:
        engines = tuple(f"e{number}" for number in range(300))
        learner, _ = await daemon.app.registry.create("crowd", CombinerSpec(engines), "name")
        learner.books.rates = dict.fromkeys((*engines, "galloon"), Rates())
        _, text = await scraped(daemon)
        assert 'expert="e63"' in text
        assert 'expert="galloon"' in text
        assert 'expert="e64"' not in text


async def test_metrics_are_not_for_other_sites(tmp_path):
    """A page of another site that points here, or a name of another site for this machine, gets nothing."""
    async with serving(tmp_path) as daemon:
        assert (await scraped(daemon, Origin="https://elsewhere.example"))[0] == 403
        assert (await scraped(daemon, Host="elsewhere.example"))[0] == 403
        assert (await scraped(daemon))[0] == 200


async def test_an_authorization_that_is_no_text_is_refused(tmp_path):
    """Bytes that are not UTF-8 are a wrong token like any other."""
    from galloon.daemon.rpc.auth import new_token

    (tmp_path / "tokens.toml").write_text(new_token("alice", "")[1])
    settings = {"auth__tokens": tmp_path / "tokens.toml", "http__require_token": "true"}
    async with serving(tmp_path / "data", **settings) as daemon:
        host, _, port = daemon.app.http_address.rpartition(":")
        for path in (b"/metrics", b"/api/session"):
            reader, writer = await asyncio.open_connection(host, int(port))
            head = b"GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xfe\r\n\r\n" % path
            writer.write(head)
            assert b" 401 " in await reader.readline()
            writer.close()
