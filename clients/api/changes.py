"""What changes a learner that serves: `update` lets it go on with another spec, `erase` without some rounds."""

from collections.abc import Mapping, Sequence
from typing import Any

from galloon.clients.api.documents import Repeat
from galloon.clients.api.errors import WrongUsage
from galloon.clients.api.refusals import reading_answers
from galloon.clients.api.routes import Routes
from galloon.codec.learner import Update, update_from_wire
from galloon.codec.past_round import Erasure, erasure_from_wire
from galloon.codec.spec import given_to_wire
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import history_pb2 as history
from galloon.v1 import learners_pb2 as wire
from galloon.v1.history_pb2_grpc import HistoryServiceStub
from galloon.v1.learners_pb2_grpc import LearnerServiceStub

IDS_AT_ONCE = 10_000
CHANGE_S = (
    3600.0  # that learning again may take, unless the caller says otherwise; a million rounds take minutes
)


class Changes:
    """The part of `Client` that changes learners."""

    def __init__(self, routes: Routes, repeat: Repeat[Any]) -> None:
        self._routes, self._repeat = routes, repeat

    async def update(
        self,
        name: str,
        present: CombinerSpec,
        engines: tuple[Sequence[str], Sequence[str]],
        changes: Mapping[str, Any],
        request: wire.UpdateLearnerRequest,
        timeout_s: float | None,
    ) -> Update:
        """`engines` are those to add, and those to remove."""
        spec = CombinerSpec(**_changed(present, *engines, changes))
        request.spec.CopyFrom(given_to_wire(spec))
        response: wire.UpdateLearnerResponse = await self._repeat(
            lambda left: LearnerServiceStub(self._routes.channel(name)).UpdateLearner(
                request, timeout=left, metadata=self._routes.metadata(name)
            ),
            f"update of learner {name!r}",
            CHANGE_S if timeout_s is None else timeout_s,
            name,
        )
        with reading_answers():
            return update_from_wire(response)

    async def erase(
        self,
        name: str,
        ids: Sequence[str],
        label: tuple[str, str],
        accept_loss: bool,
        timeout_s: float | None,
    ) -> Erasure:
        """Ids in parts, because a request holds so many; each part is learned without anew."""
        done: list[history.EraseRoundsResponse] = []
        for start in range(0, len(ids) or 1, IDS_AT_ONCE):
            request = history.EraseRoundsRequest(
                name=name,
                ids=ids[start : start + IDS_AT_ONCE],
                label=label[0],
                label_value=label[1],
                accept_loss=accept_loss,
            )
            done.append(await self._erase_some(request, timeout_s))
        return erasure_from_wire(done)

    async def _erase_some(
        self, request: history.EraseRoundsRequest, timeout_s: float | None
    ) -> history.EraseRoundsResponse:
        name = request.name
        response: history.EraseRoundsResponse = await self._repeat(
            lambda left: HistoryServiceStub(self._routes.channel(name)).EraseRounds(
                request, timeout=left, metadata=self._routes.metadata(name)
            ),
            f"erase rounds of learner {name!r}",
            CHANGE_S if timeout_s is None else timeout_s,
            name,
        )
        return response


def _changed(
    present: CombinerSpec, added: Sequence[str], removed: Sequence[str], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields that are sent: the engines as a whole, so that the same request again is the same."""
    engines = list(changes.get("engines", present.engines))
    for name in removed:
        if name not in engines:
            raise WrongUsage(f"{name!r} is not an engine of this learner; known are {', '.join(engines)}")
        engines.remove(name)
    for name in added:
        if name in engines:
            raise WrongUsage(f"{name!r} is an engine of this learner already")
        engines.append(name)
    automaton = {"automaton": present.automaton} if present.automaton else {}
    return {**automaton, **changes, "engines": tuple(engines)}
