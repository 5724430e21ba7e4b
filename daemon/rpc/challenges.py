"""The service of those that are tried before they answer: challengers, and a learner in the shadow."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import grpc
from google.protobuf.message import Message

from galloon.codec.comparison import comparison_to_wire
from galloon.codec.spec import spec_from_wire
from galloon.daemon.errors import Invalid
from galloon.daemon.learner.comparison import compare
from galloon.daemon.learner.exchange import update
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.names import challenger_name, is_challenger
from galloon.daemon.learner.registry import Registry
from galloon.daemon.limits import Limits
from galloon.daemon.rpc.auth import Principal
from galloon.daemon.rpc.calls import Calls
from galloon.daemon.rpc.management import LearnerService
from galloon.learners.combiners.spec import VOTE
from galloon.v1 import challenge_pb2 as wire


class ChallengeService(Calls):
    """Adds challengers, compares, exchanges."""

    def __init__(self, registry: Registry, management: LearnerService, limits: Limits) -> None:
        super().__init__(management.gate, management.quota, management.metrics)
        self._registry, self._management, self._limits = registry, management, limits

    def handlers(self) -> grpc.GenericRpcHandler:
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "AddChallenger": self.unary(self.add, wire.AddChallengerRequest),
            "CompareLearner": self.unary(self.compare, wire.CompareLearnerRequest),
            "PromoteChallenger": self.unary(self.promote, wire.PromoteChallengerRequest),
            "GoLive": self.unary(self.go_live, wire.GoLiveRequest),
        }
        return grpc.method_handlers_generic_handler("galloon.v1.ChallengeService", methods)

    async def add(self, request: wire.AddChallengerRequest, caller: Principal) -> Message:
        champion = self._champion(request.name, caller)
        spec = spec_from_wire(request.spec, self._limits, "spec")
        if spec.answer:
            raise Invalid("a challenger answers nobody", "spec.answer", "leave it out")
        challenger, created = await self._registry.challenge(champion, request.label, spec, caller.may_use)
        shown = await self._management.shown(challenger)
        return wire.AddChallengerResponse(challenger=shown, created=created)

    async def compare(self, request: wire.CompareLearnerRequest, caller: Principal) -> Message:
        champion = self._champion(request.name, caller)
        others = self._registry.challengers(champion.name)
        found = await self._management.looks.look(caller.name, partial(compare, champion, others))
        return comparison_to_wire(found)

    async def promote(self, request: wire.PromoteChallengerRequest, caller: Principal) -> Message:
        champion = self._champion(request.name, caller)
        change = self._promote(champion, request.label, caller)
        await self._registry.to_the_end(change, champion.name)
        return wire.PromoteChallengerResponse(learner=await self._management.shown(champion))

    async def _promote(self, champion: Learner, label: str, caller: Principal) -> None:
        name = challenger_name(champion.name, label, "label")
        async with champion.promoting:  # or two at once would both exchange what answers now, and lose one
            promoted, before = self._registry.find(name, "label").spec, champion.spec
            if promoted == replace(before, answer=""):
                raise Invalid(f"the spec of {name!r} answers already", "label", "delete this challenger")
            answer = before.answer if before.answer in (*promoted.engines, VOTE) else ""
            # What it has played beside is what the history makes of its spec, so that is what takes over.
            await update(champion, replace(promoted, answer=answer), from_history=True, accept_loss=True)
            self.metrics.rebuilds.inc()
            await self._registry.delete(name)
            await self._registry.challenge(champion, label, replace(before, answer=""), caller.may_use)
            for challenger in self._registry.challengers(champion.name):
                await asyncio.to_thread(challenger.books.begin_again)

    async def go_live(self, request: wire.GoLiveRequest, caller: Principal) -> Message:
        learner = self._champion(request.name, caller)
        answered = learner.spec.answer
        await self._registry.to_the_end(update(learner, replace(learner.spec, answer="")), learner.name)
        shown = await self._management.shown(learner)
        return wire.GoLiveResponse(learner=shown, answered_before=answered)

    def _champion(self, name: str, caller: Principal) -> Learner:
        caller.check(name, "name")
        if is_challenger(name):
            raise Invalid(f"{name!r} is a challenger", "name", "name the learner that it challenges")
        return self._registry.find(name)
