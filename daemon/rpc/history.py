"""The history's service: rounds in pages, as they came and as they stand now."""

import asyncio
from functools import partial
from typing import Any

import grpc
from google.protobuf.message import Message

from galloon.daemon.errors import Invalid, LimitPassed
from galloon.daemon.http.metrics import Metrics
from galloon.daemon.learner.past_rounds import FOREVER, Wanted, by_ids, page
from galloon.daemon.learner.registry import Registry
from galloon.daemon.learner.round import Round, Status
from galloon.daemon.rpc.auth import Gate, Principal
from galloon.daemon.rpc.calls import Calls
from galloon.daemon.rpc.quota import Quota
from galloon.v1 import combine_pb2, utterance_pb2
from galloon.v1 import history_pb2 as wire

PAGE, PAGE_MOST = 100, 1000
IDS_MOST = 1000


class HistoryService(Calls):
    """Reads what was."""

    def __init__(self, registry: Registry, gate: Gate, quota: Quota, metrics: Metrics) -> None:
        super().__init__(gate, quota, metrics)
        self._registry = registry

    def handlers(self) -> grpc.GenericRpcHandler:
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "ListRounds": self.unary(self.list_rounds, wire.ListRoundsRequest)
        }
        return grpc.method_handlers_generic_handler("galloon.v1.HistoryService", methods)

    async def list_rounds(self, request: wire.ListRoundsRequest, caller: Principal) -> Message:
        caller.check(request.name, "name")
        learner, wanted = self._registry.find(request.name), _wanted(request)
        if len(request.ids) > IDS_MOST:
            raise LimitPassed("ids", len(request.ids), IDS_MOST, "ask for fewer at once", "ids")
        if not request.page_token:
            await learner.written()  # what was answered before this call is in the list
        history, response = learner.recorded(), wire.ListRoundsResponse()
        if request.ids:
            rounds, unknown = await asyncio.to_thread(by_ids, history, list(request.ids), wanted)
            response.unknown_ids.extend(unknown)
        else:
            most = min(request.page_size or PAGE, PAGE_MOST)
            look = partial(page, history, wanted, _place(request), most, learner.seq, request.newest_first)
            found = await asyncio.to_thread(look)
            rounds = list(found.rounds)
            response.next_page_token = "" if found.place is None else str(found.place)
        response.rounds.extend(_to_wire(round_, request.with_utterances) for round_ in rounds)
        return response


def _wanted(request: wire.ListRoundsRequest) -> Wanted:
    states = frozenset(status for status in Status if request.state in (0, status.on_the_wire))
    if not states:
        raise Invalid("state: a round is pending, learned or expired", "state")
    return Wanted(states, request.since, request.until or FOREVER)


def _place(request: wire.ListRoundsRequest) -> int | None:
    token = request.page_token
    if not token:
        return None
    if not token.isascii() or not token.isdigit() or len(token) > 18:
        raise Invalid("page_token: not one that this daemon gave", "page_token")
    return int(token)


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
