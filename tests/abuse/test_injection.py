"""Names that a client chooses cannot write lines into logs or series into metrics, nor payloads into either."""

import json
from pathlib import Path

import aiohttp
import grpc
import pytest
import structlog
from prometheus_client.parser import text_string_to_metric_families

from galloon.daemon.config import Log
from galloon.daemon.operate import logs
from galloon.v1 import combine_pb2 as wire
from tests.daemon.serving import serving, simple_spec, utterance

EVIL = ('x"} 1', "a\\", "{}", "%s", "'; DROP TABLE learners; --", "<script>", "{{7*7}}")
UNPRINTABLE = ("a\nb", "a\rb", "\x1b[2J", "a\x00b", "a\u2028b", "\u202eabc")


async def test_names_of_experts_stay_inside_their_labels(tmp_path: Path):
    """Quotes, backslashes and braces: the page of metrics parses, and has no series that is not ours."""
    async with serving(tmp_path) as daemon:
        stream = daemon.stream()
        await stream.opened(wire.Open(learner="test", create=simple_spec(engines=EVIL)))
        message = utterance(1)
        del message.slots.offers[:]
        for name in EVIL:
            message.slots.offers.add(engine=name, tokens=["a", "b"])
        await stream.choice(message)
        await stream.learned(wire.Feedback(id="u1", true_text="a b"))
        host = daemon.app.registry.find("test")
        while host.books.seq < host.seq:
            host.books.count_some(host.history, 60.0)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://{daemon.app.http_address}/metrics") as answer:
                text = await answer.text()
    families = list(text_string_to_metric_families(text))
    samples = [sample for family in families for sample in family.samples]
    assert {sample.name.split("_")[0] for sample in samples} <= {"galloon", "python", "process"}
    labelled = {label for sample in samples for label in sample.labels.values()}
    assert set(EVIL) <= labelled


@pytest.mark.parametrize("name", UNPRINTABLE)
async def test_unprintable_names_are_refused(tmp_path: Path, name: str):
    """Of learners and of experts; and the refusal does not repeat them raw."""
    async with serving(tmp_path) as daemon:
        stream = daemon.stream()
        for request in (
            wire.Open(learner=name, create=simple_spec()),
            wire.Open(learner="test", create=simple_spec(engines=["a", name])),
        ):
            problem = await stream.problem(request)
            assert problem.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
            assert problem.message.isprintable()


async def test_a_name_of_a_megabyte_is_refused_and_not_repeated(tmp_path: Path):
    """The answer stays short."""
    async with serving(tmp_path) as daemon:
        stream = daemon.stream()
        problem = await stream.problem(wire.Open(learner="x" * 1_000_000))
        assert len(problem.message) < 400


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_log_line_is_one_line_and_holds_no_values_of_variables(
    form: str, capsys: pytest.CaptureFixture[str]
):
    """A traceback says where, never what was being handled: that may be a payload or a token."""
    before = structlog.get_config()
    try:
        logs.configure(Log(format=form))
        token = "glln_" + "secret"
        try:
            {}[token[:4]]
        except KeyError:
            structlog.get_logger().exception("call failed", learner="a\nb")
    finally:
        structlog.configure(**before)
    written = capsys.readouterr().err
    assert token not in written
    if form == "json":
        (line,) = written.splitlines()
        assert json.loads(line)["learner"] == "a\nb"
