"""Forged learners over the port: import, and where it is let in, play with it; nothing may crash or say too much.

`run` needs a daemon of its own process, because what is looked for may end it.
"""

import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import grpc

from galloon.daemon.errors import CODES, Internal
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import combine_pb2_grpc, learners_pb2, learners_pb2_grpc, spec_pb2
from tests.abuse.forgery import forged
from tests.abuse.words import has_internal_text
from tests.daemon.serving import Conversation, feedback, simple_spec, utterance
from tests.daemon_process import Daemon

SPECS = {
    "component_hedge": simple_spec(algorithm=spec_pb2.ALGORITHM_COMPONENT_HEDGE),
    "expanded_hedge": simple_spec(),
    "perturbed_leader": simple_spec(algorithm=spec_pb2.ALGORITHM_PERTURBED_LEADER),
    "semi_bandit": simple_spec(algorithm=spec_pb2.ALGORITHM_SEMI_BANDIT),
    "com_band": simple_spec(algorithm=spec_pb2.ALGORITHM_COM_BAND),
    "exp3_paths": simple_spec(algorithm=spec_pb2.ALGORITHM_EXP3_PATHS),
    "bigrams": simple_spec(gain=spec_pb2.Gain(ngram=spec_pb2.NgramGain(order=2)), window=4),
    "tied": spec_pb2.LearnerSpec(engines=["ann", "bob", "cy"]),
}
DOCUMENTED = {code.value[0] for refused, (code, _) in CODES.items() if refused is not Internal}
STOPPED = CODES[Internal][0].value[
    0
]  # a forged memory may stop the learner that it was forged for, and no other


async def exported(channel: grpc.aio.Channel, name: str) -> bytes:
    """A learner with lessons behind it and rounds pending, as bytes."""
    learners = learners_pb2_grpc.LearnerServiceStub(channel)
    stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
    await stream.opened(wire.Open(learner=name, create=SPECS[name]))
    for number in range(6):
        await stream.choice(utterance(number))
        if number < 3:
            await stream.learned(feedback(number))
    await stream.close()
    chunks = [
        answer.chunk async for answer in learners.ExportLearner(learners_pb2.ExportLearnerRequest(name=name))
    ]
    return b"".join(chunks)


async def run(channel: grpc.aio.Channel, trials: int, seed: int) -> Counter[str]:
    """For each kind of learner so many forgeries; raises at the first one that is handled wrongly."""
    outcomes: Counter[str] = Counter()
    for name in SPECS:
        random, good = Random(f"{seed} {name}"), await exported(channel, name)
        for trial in range(trials):
            outcome = await _try(channel, forged(good, random), f"{name}, seed {seed}, trial {trial}")
            outcomes[outcome] += 1
    return outcomes


async def _try(channel: grpc.aio.Channel, data: bytes, where: str) -> str:
    learners = learners_pb2_grpc.LearnerServiceStub(channel)
    call = learners.ImportLearner(iter([learners_pb2.ImportLearnerRequest(name="forged", chunk=data)]))
    code, words = await call.code(), await call.details() or ""
    _check(code.value[0], words, where)
    if code != grpc.StatusCode.OK:
        return f"import {code.name}"
    for number in (1, 3, 4, 5):  # one that has learned, three that wait
        asked = learners_pb2.ExplainUtteranceRequest(name="forged", id=f"u{number}")
        explained = learners.ExplainUtterance(asked)
        _check((await explained.code()).value[0], await explained.details() or "", where)
    stream = Conversation(combine_pb2_grpc.CombineServiceStub(channel).Combine())
    await stream.opened(wire.Open(learner="forged", unsure_ids=["u1", "u5"]))
    told: list[Any] = [feedback(3), feedback(4), utterance(9), feedback(9), utterance(5), feedback(1)]
    for request in told:
        answer = await stream.ask(request)
        if answer.HasField("problem") and answer.problem.code != STOPPED:
            _check(answer.problem.code, answer.problem.message, where)
    await stream.close()
    for message, method in (
        (learners_pb2.GetLearnerRequest(name="forged"), learners.GetLearner),
        (learners_pb2.DeleteLearnerRequest(name="forged"), learners.DeleteLearner),
    ):
        call = method(message)
        _check((await call.code()).value[0], await call.details() or "", where)
    return "let in"


def _check(code: int, words: str, where: str) -> None:
    assert code == 0 or code in DOCUMENTED, f"{where}: code {code}: {words}"
    assert not has_internal_text(words), f"{where}: {words}"


async def measured(directory: Path, trials: int, seed: int) -> Counter[str]:
    daemon = Daemon(directory, "log.level=error")
    await asyncio.to_thread(daemon.start)
    try:
        async with grpc.aio.insecure_channel(daemon.address) as channel:
            return await run(channel, trials, seed)
    except (AssertionError, grpc.RpcError) as problem:
        assert daemon.process is not None
        status = daemon.process.poll()
        raise AssertionError(
            f"{problem}\ndaemon's status {status}; its log:\n{daemon.log_tail(60)}"
        ) from problem
    finally:
        daemon.kill()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="galloon-abuse-") as scratch:
        print(dict(asyncio.run(measured(Path(scratch), int(sys.argv[1]), int(sys.argv[2])))))
