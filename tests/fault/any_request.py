"""The steps of the state machine: one request each, with what its answer says of the model.

Before a request goes out, the model allows for both outcomes; its answer, if one comes, says which it was.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import grpc

from galloon.v1 import (
    challenge_pb2,
    challenge_pb2_grpc,
    combine_pb2_grpc,
    document_pb2,
    document_pb2_grpc,
    history_pb2,
    history_pb2_grpc,
    learners_pb2,
    learners_pb2_grpc,
    spec_pb2,
    utterance_pb2,
)
from galloon.v1 import combine_pb2 as wire
from tests.daemon.serving import EXPERTS, Conversation, feedback, simple_spec, truth, utterance

Code = grpc.StatusCode
TENANTS = ("ann", "bea")
NAMES = tuple(f"{tenant}/{number}" for tenant in TENANTS for number in range(3))
TIED = spec_pb2.LearnerSpec(engines=EXPERTS)
SPECS = (simple_spec(), TIED)
LABELS = ("first", "second")
DEFECTS = (Code.INTERNAL, Code.UNKNOWN, Code.DATA_LOSS)
REFUSED = (  # surely without effect
    *(Code.NOT_FOUND, Code.ALREADY_EXISTS, Code.INVALID_ARGUMENT, Code.FAILED_PRECONDITION),
    *(Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED),
)
MANY = 10**9
KINDS = dict(
    [("round", 48), ("create", 24), ("late", 4), ("replace", 4), ("withdraw", 3), ("document", 2)],
    **dict.fromkeys(("snapshot", "delete", "get", "list", "stranger"), 6),
    **dict.fromkeys(("export", "import", "watch", "explain", "rounds"), 5),
    **dict.fromkeys(("update", "erase", "challenge", "compare", "rebuild"), 4),
    **dict.fromkeys(("promote", "go_live", "unchallenge"), 3),
)


@dataclass(slots=True)
class Life:
    """What is known of a name: whether there is a learner (None: nobody can say), and its lessons."""

    there: bool | None = False
    least: int = 0
    most: int = 0
    going: int = 0  # rounds that may be erased yet, whenever the daemon comes to it

    def forget(self) -> None:
        self.there, self.least, self.most = None, 0, MANY

    def begin(self, lessons: int = 0) -> None:
        self.there, self.least, self.most, self.going = True, lessons, lessons, 0

    @contextmanager
    def may_lose(self, lessons: int = 1) -> Iterator[None]:
        """So many lessons fewer, unless the request is refused."""
        before, self.least = self.least, self.least - lessons
        try:
            yield
        except grpc.aio.AioRpcError as error:
            if error.code() in REFUSED:
                self.least = before
            raise

    @contextmanager
    def may_erase(self) -> Iterator[None]:
        """A lesson fewer, at once or later: what was begun is finished after a crash too."""
        self.going += 1
        try:
            with self.may_lose():
                yield
        except grpc.aio.AioRpcError as error:
            self.going -= error.code() in REFUSED
            raise
        self.going -= 1


class Requests:
    """One method for each kind of step."""

    def __init__(self, tokens: dict[str, str], random: Random) -> None:
        self.random = random
        self._metadata = {name: (("authorization", f"Bearer {token}"),) for name, token in tokens.items()}
        self._exports: dict[str, bytes] = {}
        self._utterances = 0
        self._taught: dict[str, int] = {}  # the last utterance of each learner that was taught
        self._erased: set[str] = set()  # no id is used twice, so what is erased never comes back
        self.acknowledged = 0

    def connect(self, channel: grpc.aio.Channel) -> None:
        self._combine = combine_pb2_grpc.CombineServiceStub(channel)
        self.learners = learners_pb2_grpc.LearnerServiceStub(channel)
        self._history = history_pb2_grpc.HistoryServiceStub(channel)
        self._challenges = challenge_pb2_grpc.ChallengeServiceStub(channel)
        self._documents = document_pb2_grpc.DocumentServiceStub(channel)

    def of(self, name: str) -> Any:
        return self._metadata[name.partition("/")[0]]

    # Learners come and go.

    async def create(self, name: str, life: Life) -> None:
        request = learners_pb2.CreateLearnerRequest(name=name, spec=SPECS[NAMES.index(name) % len(SPECS)])
        answer = await self.learners.CreateLearner(request, metadata=self.of(name))
        assert life.there is not False or answer.created, f"{name}: a learner that nobody made"
        assert life.there is not True or not answer.created, f"{name}: a learner that had gone"
        if answer.created:
            life.begin()
        life.there = True

    async def delete(self, name: str, life: Life) -> None:
        request = learners_pb2.DeleteLearnerRequest(name=name)
        await self.learners.DeleteLearner(request, metadata=self.of(name))
        life.begin()
        life.there = False

    async def export(self, name: str, life: Life) -> None:
        request = learners_pb2.ExportLearnerRequest(name=name)
        answers = self.learners.ExportLearner(request, metadata=self.of(name))
        self._exports[name] = b"".join([answer.chunk async for answer in answers])

    async def import_(self, name: str, life: Life) -> None:
        if not self._exports:
            return
        data = self.random.choice(list(self._exports.values()))
        request = learners_pb2.ImportLearnerRequest(name=name, chunk=data)
        answer = await self.learners.ImportLearner(iter([request]), metadata=self.of(name))
        life.begin(int(answer.learner.statistics.lessons))

    # They are looked at.

    async def get(self, name: str, life: Life) -> None:
        await self.learners.GetLearner(learners_pb2.GetLearnerRequest(name=name), metadata=self.of(name))

    async def list(self, name: str, life: Life) -> None:
        tenant = name.partition("/")[0]
        found = await self.learners.ListLearners(learners_pb2.ListLearnersRequest(), metadata=self.of(name))
        assert all(each.name.startswith(f"{tenant}/") for each in found.learners)
        assert not found.out_of_service, found.out_of_service

    async def rounds(self, name: str, life: Life) -> None:
        """A page of the history: what was erased is not in it."""
        request = history_pb2.ListRoundsRequest(
            name=name, newest_first=self.random.random() < 0.5, with_utterances=self.random.random() < 0.5
        )
        found = await self._history.ListRounds(request, metadata=self.of(name))
        assert self._erased.isdisjoint(each.id for each in found.rounds), f"{name}: erased rounds are there"

    async def explain(self, name: str, life: Life) -> None:
        request = learners_pb2.ExplainUtteranceRequest(name=name, id=f"u{self._taught.get(name, 0)}")
        await self.learners.ExplainUtterance(request, metadata=self.of(name))

    async def watch(self, name: str, life: Life) -> None:
        request = learners_pb2.WatchStatisticsRequest(name=name)
        call = self.learners.WatchStatistics(request, metadata=self.of(name))
        await call.read()
        call.cancel()

    async def compare(self, name: str, life: Life) -> None:
        request = challenge_pb2.CompareLearnerRequest(name=name)
        await self._challenges.CompareLearner(request, metadata=self.of(name))

    async def stranger(self, name: str, life: Life) -> None:
        """The other tenant's token opens nothing."""
        theirs = self._metadata[next(tenant for tenant in TENANTS if not name.startswith(tenant))]
        call = self.random.choice(
            [
                self.learners.GetLearner(learners_pb2.GetLearnerRequest(name=name), metadata=theirs),
                self.learners.UpdateLearner(learners_pb2.UpdateLearnerRequest(name=name), metadata=theirs),
                self._history.ListRounds(history_pb2.ListRoundsRequest(name=name), metadata=theirs),
                self._history.EraseRounds(history_pb2.EraseRoundsRequest(name=name), metadata=theirs),
                self._challenges.CompareLearner(
                    challenge_pb2.CompareLearnerRequest(name=name), metadata=theirs
                ),
                self._documents.CorrectDocument(
                    document_pb2.CorrectDocumentRequest(learner=name), metadata=theirs
                ),
            ]
        )
        code = await call.code()
        assert code in (Code.PERMISSION_DENIED, Code.UNAVAILABLE), code

    # They change.

    async def snapshot(self, name: str, life: Life) -> None:
        request = learners_pb2.SnapshotLearnerRequest(name=name)
        await self.learners.SnapshotLearner(request, metadata=self.of(name))

    async def update(self, name: str, life: Life) -> None:
        """Another seed is carried over, or learned again from the history."""
        request = learners_pb2.UpdateLearnerRequest(
            name=name,
            spec=spec_pb2.LearnerSpec(seed=self.random.randrange(1000)),
            rebuild=self.random.random() < 0.5,
        )
        await self.learners.UpdateLearner(request, metadata=self.of(name))

    async def rebuild(self, name: str, life: Life) -> None:
        taught = self._taught.get(name)
        without = [f"u{taught}"] if taught and self.random.random() < 0.5 else []
        request = learners_pb2.RebuildLearnerRequest(name=name, without_ids=without)
        with life.may_lose(len(without)):
            await self.learners.RebuildLearner(request, metadata=self.of(name))
        life.most -= len(without)

    async def erase(self, name: str, life: Life) -> None:
        taught = self._taught.get(name, 0)
        request = history_pb2.EraseRoundsRequest(name=name, ids=[f"u{taught}"])
        with life.may_erase():
            answer = await self._history.EraseRounds(request, metadata=self.of(name))
        if answer.erased:
            self._erased.add(f"u{taught}")
        assert life.least <= answer.lessons <= life.most, (name, life, answer)

    async def challenge(self, name: str, life: Life) -> None:
        spec = self.random.choice(SPECS)
        request = challenge_pb2.AddChallengerRequest(name=name, label=self.random.choice(LABELS), spec=spec)
        await self._challenges.AddChallenger(request, metadata=self.of(name))

    async def unchallenge(self, name: str, life: Life) -> None:
        challenger = f"{name}:{self.random.choice(LABELS)}"
        request = learners_pb2.DeleteLearnerRequest(name=challenger)
        await self.learners.DeleteLearner(request, metadata=self.of(name))

    async def promote(self, name: str, life: Life) -> None:
        request = challenge_pb2.PromoteChallengerRequest(name=name, label=self.random.choice(LABELS))
        with life.may_lose(MANY):  # of an import, where the other spec cannot go on with it
            await self._challenges.PromoteChallenger(request, metadata=self.of(name))

    async def go_live(self, name: str, life: Life) -> None:
        request = challenge_pb2.GoLiveRequest(name=name)
        await self._challenges.GoLive(request, metadata=self.of(name))

    # Rounds.

    async def round(self, name: str, life: Life) -> None:
        number = self._new()
        async with _conversation(self._combine, name, self.of(name)) as stream:
            if stream is None or not _answered(await stream.ask(utterance(number)), "choice"):
                return
            await self._teach(stream, name, life, feedback(number), number)

    async def late(self, name: str, life: Life) -> None:
        """An engine comes late; learners on windows refuse this."""
        number = self._new()
        whole = utterance(number)
        first, late = utterance_pb2.Utterance(id=whole.id), utterance_pb2.Utterance(id=whole.id, late=True)
        first.slots.offers.extend(whole.slots.offers[:2])
        late.slots.offers.extend(whole.slots.offers[2:])
        async with _conversation(self._combine, name, self.of(name)) as stream:
            if stream is None or not _answered(await stream.ask(first), "choice"):
                return
            answer = await stream.ask(late)
            if _answered(answer, "choice"):
                assert answer.choice.revised
                await self._teach(stream, name, life, feedback(number), number)

    async def replace(self, name: str, life: Life) -> None:
        """Other feedback in the place of what was taught; a round that waits learns it."""
        number = self._taught.get(name, 0)
        other = wire.Feedback(
            id=f"u{number}", true_tokens=wire.TrueTokens(tokens=truth(self.random.randrange(9))), replace=True
        )
        async with _conversation(self._combine, name, self.of(name)) as stream:
            if stream is not None:
                await self._teach(stream, name, life, other, number)

    async def withdraw(self, name: str, life: Life) -> None:
        message = wire.Feedback(id=f"u{self._taught.get(name, 0)}", withdrawn=True, replace=True)
        async with _conversation(self._combine, name, self.of(name)) as stream:
            if stream is None:
                return
            life.least -= 1
            answer = await stream.ask(message)
            if _answered(answer, "learned"):
                life.most -= 1
            elif answer is not grpc.aio.EOF:
                life.least += 1

    async def document(self, name: str, life: Life) -> None:
        """Two lines are combined and corrected."""
        number = self._new()
        said = ["so far so good", "said the other one"]
        lines = [document_pb2.DocumentLine(words=line.split()) for line in said]
        page = document_pb2.DocumentPage(
            engines=[document_pb2.EnginePage(engine=each, lines=lines) for each in EXPERTS]
        )
        made = document_pb2.Document(id=f"d{number}", pages=[page])
        request = document_pb2.CombineDocumentRequest(learner=name, document=made)
        _ = [part async for part in self._documents.CombineDocument(request, metadata=self.of(name))]
        life.most += len(lines)
        answer = await self._documents.CorrectDocument(
            document_pb2.CorrectDocumentRequest(learner=name, id=made.id, pages=["\n".join(said)]),
            metadata=self.of(name),
        )
        life.least += len(answer.taught)
        if not any("lags" in each.why or "write" in each.why for each in answer.untaught):
            life.most -= len(lines) - len(answer.taught)
        self.acknowledged += len(answer.taught)

    def _new(self) -> int:
        self._utterances += 1
        return self._utterances

    async def _teach(
        self, stream: Conversation, name: str, life: Life, message: wire.Feedback, number: int
    ) -> None:
        life.most += 1
        answer = await stream.ask(message)
        if _answered(answer, "learned"):
            self._taught[name] = number
            if answer.learned.amended or answer.learned.repeated_answer:
                life.most -= 1
            else:
                life.least += 1
                self.acknowledged += 1
        elif answer is not grpc.aio.EOF:
            life.most -= 1


@asynccontextmanager
async def _conversation(stub: Any, name: str, metadata: Any) -> AsyncIterator[Conversation | None]:
    """A stream on a learner, or None where it cannot be opened; cancelled at the end."""
    call = stub.Combine(metadata=metadata)
    stream = Conversation(call)
    try:
        yield stream if _answered(await stream.ask(wire.Open(learner=name)), "opened") else None
    finally:
        call.cancel()


def _answered(answer: Any, kind: str) -> bool:
    """Whether the answer is of this kind; a problem must be no defect."""
    if answer is grpc.aio.EOF:
        return False
    if answer.HasField("problem"):
        assert answer.problem.code not in [code.value[0] for code in DEFECTS], answer.problem
    return bool(answer.HasField(kind))
