"""Those that are tried before they answer: `Challenges` adds, compares, promotes, and opens a shadow's gate."""

from typing import TYPE_CHECKING, Any

from grpc import aio

from galloon.clients.api.documents import Repeat
from galloon.clients.api.refusals import reading_answers, refusal_from_status
from galloon.clients.api.routes import Routes, owner_in
from galloon.codec.comparison import Comparison, comparison_from_wire
from galloon.codec.learner import LearnerInfo, learner_from_wire
from galloon.codec.spec import given_to_wire
from galloon.learners.combiners.spec import CombinerSpec
from galloon.v1 import challenge_pb2 as wire
from galloon.v1.challenge_pb2_grpc import ChallengeServiceStub

if TYPE_CHECKING:
    from galloon.v1.challenge_pb2_grpc import ChallengeServiceAsyncStub


class Challenges:
    """What one client's connection asks. `repeat` tries a call again while the daemon is away."""

    def __init__(self, routes: Routes, repeat: Repeat[Any]) -> None:
        self._routes, self._repeat = routes, repeat

    def _at(self, name: str) -> "ChallengeServiceAsyncStub":
        return ChallengeServiceStub(self._routes.channel(name))

    async def add(self, name: str, label: str, spec: CombinerSpec, timeout_s: float | None) -> LearnerInfo:
        request = wire.AddChallengerRequest(name=name, label=label, spec=given_to_wire(spec))
        response = await self._repeat(
            lambda left: self._at(name).AddChallenger(
                request, timeout=left, metadata=self._routes.metadata(name)
            ),
            f"challenger {label!r} of {name!r}",
            timeout_s,
            name,
        )
        with reading_answers():
            return learner_from_wire(response.challenger, created=response.created)

    async def compare(self, name: str, timeout_s: float | None) -> Comparison:
        request = wire.CompareLearnerRequest(name=name)
        response = await self._repeat(
            lambda left: self._at(name).CompareLearner(
                request, timeout=left, metadata=self._routes.metadata(name)
            ),
            f"comparison of {name!r}",
            timeout_s,
            name,
        )
        with reading_answers():
            return comparison_from_wire(response)

    async def promote(self, name: str, label: str, timeout_s: float | None) -> LearnerInfo:
        """Once: a second attempt after a lost answer would exchange them back."""
        request = wire.PromoteChallengerRequest(name=name, label=label)
        while True:
            try:
                response = await self._at(name).PromoteChallenger(
                    request, timeout=timeout_s, metadata=self._routes.metadata(name)
                )
            except aio.AioRpcError as error:
                owner = owner_in(error)
                if not owner:
                    raise refusal_from_status(error, f"promotion of {label!r} of {name!r}") from error
                self._routes.lost(name, owner)  # nothing was done there
            else:
                with reading_answers():
                    return learner_from_wire(response.learner)

    async def go_live(self, name: str, timeout_s: float | None) -> tuple[LearnerInfo, str]:
        request = wire.GoLiveRequest(name=name)
        response = await self._repeat(
            lambda left: self._at(name).GoLive(request, timeout=left, metadata=self._routes.metadata(name)),
            f"learner {name!r}",
            timeout_s,
            name,
        )
        with reading_answers():
            return learner_from_wire(response.learner), response.answered_before
