"""The history of a daemon's learners: `History.rounds` gives rounds as they stand now, page by page."""

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from galloon.clients.api.documents import Repeat
from galloon.clients.api.errors import WrongUsage
from galloon.clients.api.refusals import reading_answers
from galloon.clients.api.routes import Routes
from galloon.codec.past_round import STATES, PastRound, past_round_from_wire, state_to_wire
from galloon.v1 import history_pb2 as wire
from galloon.v1.history_pb2_grpc import HistoryServiceStub

if TYPE_CHECKING:
    from galloon.v1.history_pb2_grpc import HistoryServiceAsyncStub

PAGE = 200
IDS_AT_ONCE = 500


class History:
    """What one client's connection reads. `repeat` tries a call again while the daemon is away."""

    def __init__(self, routes: Routes, repeat: Repeat[Any]) -> None:
        self._routes, self._repeat = routes, repeat

    async def rounds(
        self,
        name: str,
        *,
        state: str = "",
        since: float = 0.0,
        until: float = 0.0,
        ids: Sequence[str] = (),
        newest_first: bool = False,
        with_utterances: bool = False,
        unknown: list[str] | None = None,
        timeout_s: float | None = None,
    ) -> AsyncIterator[PastRound]:
        if state and state not in STATES:
            raise WrongUsage(f"{state!r} is no state of a round: it is {', '.join(STATES)}")
        request = wire.ListRoundsRequest(
            name=name,
            page_size=PAGE,
            state=state_to_wire(state),
            since=since,
            until=until,
            newest_first=newest_first,
            with_utterances=with_utterances,
        )
        for start in range(0, len(ids) or 1, IDS_AT_ONCE):
            request.ClearField("ids")
            request.ids.extend(ids[start : start + IDS_AT_ONCE])
            async for page in self._pages(request, timeout_s):
                if unknown is not None:
                    unknown += page.unknown_ids
                for message in page.rounds:
                    with reading_answers():
                        round_ = past_round_from_wire(message)
                    yield round_

    async def _pages(
        self, request: wire.ListRoundsRequest, timeout_s: float | None
    ) -> AsyncIterator[wire.ListRoundsResponse]:
        request.page_token = ""
        while True:
            response: wire.ListRoundsResponse = await self._repeat(
                lambda left: self._at(request.name).ListRounds(
                    request, timeout=left, metadata=self._routes.metadata(request.name)
                ),
                f"history of learner {request.name!r}",
                timeout_s,
                request.name,
            )
            yield response
            if not response.next_page_token:
                return
            request.page_token = response.next_page_token

    def _at(self, learner: str) -> "HistoryServiceAsyncStub":
        return HistoryServiceStub(self._routes.channel(learner))
