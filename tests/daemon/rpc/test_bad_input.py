"""Every bad input gets the documented code and sentence; the stream lives on and the state does not change."""

from pathlib import Path

import grpc
import pytest

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2, spec_pb2, utterance_pb2
from tests.daemon.rpc.bad_input import AUTOMATON, CALL_CASES, STREAM_CASES, Case, table
from tests.daemon.serving import as_request, serving, simple_spec, utterance

DOCS = Path(__file__).parents[3] / "docs" / "errors.md"
LEARNERS = {
    "full": simple_spec(),
    "semi": simple_spec(algorithm=spec_pb2.ALGORITHM_SEMI_BANDIT),
    "bandit": simple_spec(algorithm=spec_pb2.ALGORITHM_COM_BAND, window=6),
    "automaton": spec_pb2.LearnerSpec(automaton=AUTOMATON, algorithm=spec_pb2.ALGORITHM_EXPANDED_HEDGE),
}


def utterance_named(number, name):
    message = utterance(number)
    message.id = name
    return message


async def send_raw(daemon, case: Case) -> wire.Problem:
    """A request as bytes, after an open where the case has a learner."""
    call = daemon.channel.stream_stream(
        "/galloon.v1.CombineService/Combine",
        request_serializer=lambda data: data,
        response_deserializer=wire.CombineResponse.FromString,
    )()
    if case.learner is not None:
        await call.write(as_request(wire.Open(learner=case.learner)).SerializeToString())
        assert (await call.read()).HasField("opened")
    request = (
        case.request if isinstance(case.request, bytes) else as_request(case.request).SerializeToString()
    )
    await call.write(request)
    answer = await call.read()
    if not answer.HasField("problem"):
        await call.done_writing()
        return wire.Problem(message=f"no problem but {answer}"[:400])
    # The stream lives on.
    await call.write(as_request(wire.Open(learner=case.learner or "full")).SerializeToString())
    following = await call.read()
    assert following.WhichOneof("response") == ("problem" if case.learner else "opened")
    await call.done_writing()
    assert await call.read() is grpc.aio.EOF
    return answer.problem


async def digests(daemon):
    return [await daemon.digest(name) for name in LEARNERS]


async def test_every_bad_request_gets_its_answer(tmp_path):
    """All cases of the table, one after the other on one daemon; nothing changes, nothing is created."""
    assert len(STREAM_CASES) + len(CALL_CASES) >= 40
    async with serving(tmp_path) as daemon:
        await prepare(daemon)
        before = await digests(daemon)
        failures = []
        for case in STREAM_CASES:
            problem = await send_raw(daemon, case)
            if problem.code != case.code.value[0] or case.sentence not in problem.message:
                failures.append(f"{case.what}: {problem}")
            assert "Traceback" not in problem.message
            assert len(problem.message) < 500, problem.message
        for case in CALL_CASES:
            error = await call_error(daemon, case)
            if error.code() != case.code or case.sentence not in error.details():
                failures.append(f"{case.what}: {error.code()} {error.details()}")
        assert not failures, "\n".join(failures)
        assert await digests(daemon) == before
        assert len(daemon.app.registry) == len(LEARNERS)


async def prepare(daemon):
    """Learners with a pending round each; the first also with one that has learned."""
    for name, spec in LEARNERS.items():
        stream = daemon.stream()
        await stream.opened(wire.Open(learner=name, create=spec))
        if name == "automaton":
            continue
        if name == "full":
            await stream.choice(utterance_named(5, "old"))
            await stream.choice(utterance_named(6, "done"))
            await stream.learned(wire.Feedback(id="done", true_text="so far"))
            for number in (7, 8):
                await stream.choice(utterance_named(number, f"filler{number}"))
        await stream.choice(utterance_named(1, "pending"))
        await stream.close()


async def call_error(daemon, case: Case):
    method = type(case.request).__name__.removesuffix("Request")
    call = getattr(daemon.learners, method)
    try:
        if method == "ImportLearner":
            await call(iter([case.request]))
        elif method in {"ExportLearner", "WatchStatistics"}:
            async for _ in call(case.request):
                break
        else:
            await call(case.request)
    except grpc.RpcError as error:
        return error
    raise AssertionError(f"{case.what}: no error")


async def test_a_message_far_over_the_limit_ends_its_stream_alone(tmp_path):
    """Beyond four times the limit gRPC itself refuses; other streams do not notice."""
    async with serving(tmp_path) as daemon:
        other, stream = await daemon.open(), await daemon.open()
        with pytest.raises(grpc.RpcError) as refused:
            await stream.ask(utterance_pb2.Utterance(id="x" * 5_000_000))
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        await other.choice(utterance(1))


async def test_unreadable_calls_are_refused_without_the_parsers_words(tmp_path):
    """Every unary method, with bytes that are no message."""
    async with serving(tmp_path) as daemon:
        methods = learners_pb2.DESCRIPTOR.services_by_name["LearnerService"].methods
        for method in methods:
            if method.client_streaming or method.server_streaming:
                continue
            call = daemon.channel.unary_unary(f"/galloon.v1.LearnerService/{method.name}")
            with pytest.raises(grpc.RpcError) as refused:
                await call(b"\xff\xff\xff")
            assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert refused.value.details() == "request: not a readable message of this method"


def test_the_table_in_the_docs_is_this_table():
    """docs/errors.md says what the daemon says."""
    text = DOCS.read_text()
    for cases in (STREAM_CASES, CALL_CASES):
        assert table(cases) in text, "run `python -m tests.daemon.rpc.bad_input` and paste the tables"
