"""The history's service: rounds in pages, as they came and as they stand now; and rounds that must go for good."""

from functools import partial
from typing import Any

import grpc
from google.protobuf.message import Message

from galloon.daemon.errors import Invalid, LimitPassed
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.erasing import Erasing, labelled
from galloon.daemon.learner.past_rounds import FOREVER, RoundPage, Wanted, by_ids, page
from galloon.daemon.learner.registry import Registry
from galloon.daemon.learner.round import Round, Status
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.calls import Calls
from galloon.daemon.rpc.looks import Looks
from galloon.daemon.rpc.quota import Quota
from galloon.v1 import combine_pb2, utterance_pb2
from galloon.v1 import history_pb2 as wire

PAGE, PAGE_MOST = 100, 1000
IDS_MOST = 1000
ERASED_MOST = 10_000


class HistoryService(Calls):
    """Reads what was, and erases it."""

    def __init__(
        self,
        registry: Registry,
        erasing: Erasing,
        gate: Gate,
        quota: Quota,
        metrics: Metrics,
        looks: Looks,
    ) -> None:
        super().__init__(gate, quota, metrics)
        self._registry, self._erasing, self._looks = registry, erasing, looks

    def handlers(self) -> grpc.GenericRpcHandler:
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "ListRounds": self.unary(self.list_rounds, wire.ListRoundsRequest),
            "EraseRounds": self.unary(self.erase_rounds, wire.EraseRoundsRequest),
        }
        return grpc.method_handlers_generic_handler("galloon.v1.HistoryService", methods)

    async def list_rounds(self, request: wire.ListRoundsRequest, caller: Principal) -> Message:
        caller.check(request.name, "name")
        learner, wanted = self._registry.find(request.name), _wanted(request)
        if len(request.ids) > IDS_MOST:
            raise LimitPassed("ids", len(request.ids), IDS_MOST, "ask for fewer at once", "ids")
        if not request.page_token:
            await learner.written()  # what was answered before this call is in the list
        history, place = learner.recorded(), _place(request)
        if request.ids:
            look = partial(by_ids, history, list(dict.fromkeys(request.ids)), wanted, place or 0)
        else:
            most = min(request.page_size or PAGE, PAGE_MOST)
            look = partial(page, history, wanted, place, most, learner.seq, request.newest_first)
        return await self._looks.look(caller.name, lambda: _page_to_wire(look(), request.with_utterances))

    async def erase_rounds(self, request: wire.EraseRoundsRequest, caller: Principal) -> Message:
        caller.check(request.name, "name")
        learner, ids = self._registry.find(request.name), list(request.ids)
        if bool(ids) == bool(request.label):
            raise Invalid("give ids, or the label whose rounds are erased, and not both", "ids")
        if len(ids) > ERASED_MOST:
            raise LimitPassed("ids", len(ids), ERASED_MOST, "erase fewer at once", "ids")
        if request.label:
            await learner.written()
            find = partial(labelled, learner.recorded(), request.label, request.label_value)
            ids = await self._looks.look(caller.name, find)
        others = self._registry.challengers(learner.name)
        done = await self._registry.to_the_end(
            self._erasing.erase(learner, ids, others, accept_loss=request.accept_loss), learner.name
        )
        digest, _ = await learner.digests()
        return wire.EraseRoundsResponse(
            erased=done.erased,
            erased_before=done.before,
            unknown_ids=done.unknown,
            lessons=learner.rounds.lessons,
            cpu_seconds=done.seconds,
            digest=digest,
        )


def _wanted(request: wire.ListRoundsRequest) -> Wanted:
    states = frozenset(status for status in Status if request.state in (0, status.on_the_wire))
    if not states:
        raise Invalid("a round is pending, learned or expired", "state")
    return Wanted(states, request.since, request.until or FOREVER)


def _place(request: wire.ListRoundsRequest) -> int | None:
    token = request.page_token
    if not token:
        return None
    if not token.isascii() or not token.isdigit() or len(token) > 18:
        raise Invalid("not one that this daemon gave", "page_token")
    return int(token)


def _page_to_wire(found: RoundPage, with_utterances: bool) -> wire.ListRoundsResponse:
    return wire.ListRoundsResponse(
        rounds=[_to_wire(round_, with_utterances) for round_ in found.rounds],
        next_page_token="" if found.place is None else str(found.place),
        unknown_ids=found.unknown,
    )


def _to_wire(round_: Round, with_utterance: bool) -> wire.PastRound:
    message = wire.PastRound(
        id=round_.id,
        round=round_.number,
        time=round_.time,
        state=round_.status.on_the_wire,
        text=combine_pb2.CombineResponse.FromString(round_.answer).choice.text,
    )
    if round_.status is Status.LEARNED and round_.truth:
        message.feedback.CopyFrom(combine_pb2.Feedback.FromString(round_.truth))
    if with_utterance and round_.utterance:
        message.utterance.CopyFrom(utterance_pb2.Utterance.FromString(round_.utterance))
    return message
