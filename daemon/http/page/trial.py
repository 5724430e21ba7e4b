"""A round that a person typed in: the texts of a few engines, the combination, then perhaps the right text.

The rounds are real ones of a real learner, made on demand: they take the same way as those of a stream, through
the learner's work queue and the journal. `Trial.choose` and `Trial.teach` turn a request's JSON into the answer's.
"""

import asyncio
from functools import partial
from typing import Any
from uuid import uuid4

from galloon.codec.utterance import utterance_to_wire
from galloon.daemon.errors import Invalid
from galloon.daemon.futures import resolve
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.http.page.numbers import number
from galloon.daemon.http.page.utterance_view import slots_to_json, tokens_of
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.registry import Registry
from galloon.daemon.limits import Limits, check
from galloon.daemon.rpc.auth import Principal
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import ExpertOutput, Utterance, Word
from galloon.learners.unit import WORD, unit_named
from galloon.v1 import combine_pb2 as wire

FEWEST = 2  # texts: there is nothing to combine in one


class Trial:
    """Plays rounds for people."""

    def __init__(self, registry: Registry, limits: Limits, metrics: Metrics) -> None:
        self._registry, self._limits, self._metrics = registry, limits, metrics

    async def choose(self, body: Any, caller: Principal) -> dict[str, Any]:
        """`{"learner", "unit"?, "create"?, "outputs": [{"expert", "text"}]}` to the combination."""
        name, texts = _text(body, "learner"), _outputs(body, self._limits)
        caller.check(name, "learner")
        learner, created = await self._learner(name, body, texts, caller)
        # An engine that the person left empty did not run.
        outputs = tuple(
            ExpertOutput(expert, tuple(map(Word, words)))
            for expert, text in texts.items()
            if (words := text.split())
        )
        message = utterance_to_wire(Utterance(f"try-{uuid4().hex}", outputs))
        check(self._limits, "message_bytes", message.ByteSize(), "outputs")
        answer = await _answered(partial(learner.enter_utterance, message, message.ByteSize(), True))
        self._metrics.choices.inc()
        choice = wire.CombineResponse.FromString(answer).choice
        return {
            "learner": learner.name,
            "created": created,
            "unit": learner.spec.unit.name,
            "experts": list(learner.spec.engines),
            "derived": list(learner.describe().derived),
            "id": choice.id,
            "round": choice.round,
            "lessons": choice.lessons,
            "text": choice.text,
            "slots": slots_to_json(tokens_of(choice)),
        }

    async def teach(self, body: Any, caller: Principal) -> dict[str, Any]:
        """`{"learner", "id", "text"}` to what was learned."""
        name = _text(body, "learner")
        caller.check(name, "learner")
        message = wire.Feedback(id=_text(body, "id"), true_text=_text(body, "text"))
        answer = await _answered(partial(self._registry.find(name, "learner").enter_feedback, message))
        self._metrics.feedback["true_text"].inc()
        learned = wire.CombineResponse.FromString(answer).learned
        return {
            "id": learned.id,
            "gain": number(learned.gain),
            "expert_gains": {expert: number(gain) for expert, gain in sorted(learned.expert_gains.items())},
            "lessons": learned.lessons,
            "total_gain": number(learned.total_gain),
            "repeated": learned.repeated_answer,
        }

    async def _learner(
        self, name: str, body: Any, texts: dict[str, str], caller: Principal
    ) -> tuple[Learner, bool]:
        """The learner of this name; a new one for these engines, if the person wants it made."""
        if body.get("create") is not True:
            return self._registry.find(name, "learner"), False
        check(self._limits, "engines", len(texts), "outputs")
        spec = CombinerSpec(
            engines=tuple(texts),
            unit=unit_named(_text(body, "unit")) if "unit" in body else WORD,
            decide="best",
        )
        spec = self._registry.limited(spec, "outputs")
        return await self._registry.create(name, spec, "learner", may_use=caller.may_use)


async def _answered(ask: Any) -> bytes:
    """Await an answer; its error is raised."""
    future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    ask(partial(resolve, future))
    return await future


def _outputs(body: Any, limits: Limits) -> dict[str, str]:
    outputs = body.get("outputs") if isinstance(body, dict) else None
    if not isinstance(outputs, list) or len(outputs) < FEWEST:
        raise Invalid(f"give the texts of at least {FEWEST} engines", "outputs")
    check(limits, "outputs", len(outputs), "outputs")
    texts: dict[str, str] = {}
    for output in outputs:
        expert, text = _text(output, "expert"), _text(output, "text")
        if not expert or expert in texts:
            raise Invalid("every engine needs a name of its own", "outputs")
        texts[expert] = text
    return texts


def _text(body: Any, field: str) -> str:
    value = body.get(field) if isinstance(body, dict) else None
    if not isinstance(value, str):
        raise Invalid("must be a text", field)
    if not _is_unicode(value):
        raise Invalid("holds half of a surrogate pair, which is no character", field)
    return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
