"""Every request kind at its legal maximum, through the port: `LARGEST`, in the order in which they are sent.

Each takes a `Client`, sends its request, perhaps after others that it needs, and gives a few words on what came of
it. What is refused by a limit's name is at its maximum too, and says so.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import grpc

from galloon.codec.page import page_request
from galloon.v1 import (
    challenge_pb2,
    challenge_pb2_grpc,
    combine_pb2_grpc,
    document_pb2,
    document_pb2_grpc,
    history_pb2,
    history_pb2_grpc,
    learners_pb2_grpc,
)
from galloon.v1 import combine_pb2 as wire
from galloon.v1 import learners_pb2 as learners
from galloon.v1 import spec_pb2 as spec
from galloon.v1 import utterance_pb2 as said
from tests.abuse.bombs import EXPERTS
from tests.daemon.serving import as_request

MESSAGE = 1_040_000  # bytes, a little less than the limit
MANY = tuple(f"e{number}" for number in range(4096))
CROWD = tuple(f"e{number}" for number in range(64))
PHRASE = [f"w{k:x}" for k in range(60)]
ROUNDS = 60  # large ones, for the history


class Client:
    """One client that uses everything it may."""

    def __init__(self, address: str, http: str) -> None:
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        self.channel = grpc.aio.insecure_channel(address, options=options)
        self.learners = learners_pb2_grpc.LearnerServiceStub(self.channel)
        self.documents = document_pb2_grpc.DocumentServiceStub(self.channel)
        self.history = history_pb2_grpc.HistoryServiceStub(self.channel)
        self.challenges = challenge_pb2_grpc.ChallengeServiceStub(self.channel)
        self._http = f"http://{http}"
        self.exported = b""

    async def create(self, name: str, made: spec.LearnerSpec) -> str:
        return await told(self.learners.CreateLearner(learners.CreateLearnerRequest(name=name, spec=made)))

    async def say(self, learner: str, *requests: Any, **options: Any) -> str:
        """Send these on a stream, one after the other; what the last one got."""
        stream = combine_pb2_grpc.CombineServiceStub(self.channel).Combine()
        await stream.write(as_request(wire.Open(learner=learner, **options)))
        answer = await stream.read()
        for request in requests:
            if answer.HasField("problem"):
                break
            await stream.write(as_request(request))
            answer = await stream.read()
        await stream.done_writing()
        return _answered(answer)

    async def get(self, path: str, body: Any = None) -> str:
        async with aiohttp.ClientSession() as session:
            call = (
                session.get(self._http + path) if body is None else session.post(self._http + path, json=body)
            )
            async with call as answer:
                return f"{answer.status}, {len(await answer.read()):,} bytes"


def _answered(answer: wire.CombineResponse) -> str:
    kind = answer.WhichOneof("response")
    if kind == "problem":
        return f"refused: {answer.problem.message[:70]}"
    if kind == "page":
        return "; ".join(sorted({_answered(each) for each in answer.page.responses}))
    return f"{kind}, {answer.ByteSize():,} bytes"


async def told(call: Any) -> str:
    """What came of a call, answered once or in a stream."""
    try:
        if hasattr(call, "read"):
            size = 0
            async for answer in call:
                size += answer.ByteSize()
            return f"{size:,} bytes"
        return f"{(await call).ByteSize():,} bytes"
    except grpc.aio.AioRpcError as error:
        return f"{error.code().name}: {(error.details() or '')[:70]}"


async def all_told(calls: Iterable[Any]) -> str:
    """The same of many at once."""
    found = await asyncio.gather(*map(told, calls))
    return "; ".join(f"{found.count(each)} x {each}" for each in sorted(set(found))[:3])


# What is said.


def outputs(name: str, words: dict[str, list[str]]) -> said.Utterance:
    engines = [said.EngineOutput(engine=engine, words=given) for engine, given in words.items()]
    return said.Utterance(id=name, outputs=said.EngineOutputs(engines=engines))


def line(name: str, words: int, engines: tuple[str, ...] = EXPERTS) -> said.Utterance:
    """Words that engines agree on here and there."""
    return outputs(
        name, {e: [f"w{(k * k + n * (k % 3)) % 600:x}" for k in range(words)] for n, e in enumerate(engines)}
    )


def _hypotheses() -> said.Utterance:
    nbest = [
        said.Hypothesis(words=[f"{(n * k) % 977:x}" for k in range(60)], score=-float(n)) for n in range(1000)
    ]
    first = said.EngineOutput(engine=EXPERTS[0], words=PHRASE, nbest=nbest)
    others = [said.EngineOutput(engine=engine, words=PHRASE) for engine in EXPERTS[1:]]
    return said.Utterance(id="nbest", outputs=said.EngineOutputs(engines=[first, *others]))


def _lattice() -> said.Utterance:
    arcs = [(n, n + 1, w) for n in range(16_000) for w in ("a", "b")]
    sources, targets, words = zip(*arcs, strict=True)
    lattice = said.Lattice(
        state_count=16_001,
        finals=[16_000],
        sources=sources,
        targets=targets,
        words=words,
        log_scores=[-1.0] * len(arcs),
    )
    first = said.EngineOutput(engine=EXPERTS[0], lattice=lattice)
    others = [said.EngineOutput(engine=engine, words=["a"]) for engine in EXPERTS[1:]]
    return said.Utterance(id="lattice", outputs=said.EngineOutputs(engines=[first, *others]))


# Documents.


def page(lines: int, words: int, boxes: bool = False, timed: bool = False) -> document_pb2.DocumentPage:
    return document_pb2.DocumentPage(
        engines=[
            document_pb2.EnginePage(
                engine=engine, lines=list(_lines(lines, words, boxes, timed, number)), timed=timed
            )
            for number, engine in enumerate(EXPERTS)
        ]
    )


def _lines(
    lines: int, words: int, boxes: bool, timed: bool, engine: int
) -> Iterator[document_pb2.DocumentLine]:
    for number in range(lines):
        text = [f"{(number * 31 + k * k + engine * (k % 5 == 0)) % 4099:x}" for k in range(words)]
        made = document_pb2.DocumentLine(words=text)
        if boxes:
            made.starts.extend(10.0 * k for k in range(words))
            made.ends.extend(10.0 * k + 9 for k in range(words))
            made.tops.extend([20.0 * number] * words)
            made.bottoms.extend([20.0 * number + 15] * words)
        if timed:
            made.start, made.end = float(number), number + 0.9
            made.starts.extend(number + k / words for k in range(words))
            made.ends.extend(number + (k + 0.9) / words for k in range(words))
        yield made


# The largest of each kind.

Send = Callable[[Client], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Largest:
    """`send` is measured; `before` is not."""

    name: str
    send: Send
    before: Send | None = None


HUGE = spec.LearnerSpec(
    engines=CROWD,
    algorithm=spec.ALGORITHM_EXPANDED_HEDGE,
    window=400,
    gain=spec.Gain(ngram=spec.NgramGain(order=2)),
)
WORDY = spec.LearnerSpec(
    engines=EXPERTS,
    algorithm=spec.ALGORITHM_EXPANDED_HEDGE,
    window=2,
    gain=spec.Gain(
        patterns=spec.PatternsGain(patterns=[spec.Pattern(tokens=[f"{n:0250x}"]) for n in range(3_900)])
    ),
)


async def _rounds(client: Client) -> str:
    for number in range(ROUNDS):
        name = f"large-{number}"
        await client.say("tied", line(name, 3500), wire.Feedback(id=name, true_text="w1 " * 2000))
    return ""


async def _wordy(client: Client) -> str:
    for number in range(60):
        await client.create(f"wordy/{number}", WORDY)
    return ""


async def _export(client: Client) -> str:
    call = client.learners.ExportLearner(learners.ExportLearnerRequest(name="huge"))
    client.exported = b"".join([answer.chunk async for answer in call])
    return f"{len(client.exported):,} bytes"


async def _import(client: Client) -> str:
    data = client.exported
    pieces = [data[start : start + MESSAGE] for start in range(0, len(data), MESSAGE)]
    requests = [
        learners.ImportLearnerRequest(name="" if number else "again", chunk=piece)
        for number, piece in enumerate(pieces)
    ]
    return await told(client.learners.ImportLearner(iter(requests)))


async def _watch(client: Client) -> str:
    calls = [
        client.learners.WatchStatistics(learners.WatchStatisticsRequest(name="tied", interval_s=0.1))
        for _ in range(200)
    ]
    await asyncio.gather(*(call.read() for call in calls))
    await asyncio.sleep(3)
    for call in calls:
        call.cancel()
    return "200 streams, ten answers a second each"


async def _rebuild(client: Client) -> str:
    request = learners.RebuildLearnerRequest
    return await all_told(client.learners.RebuildLearner(request(name="tied")) for _ in range(8))


# Learners that change, on a history of `ROUNDS` large rounds.


async def _changing(client: Client) -> str:
    """A learner that has such a history."""
    await client.create("changing", spec.LearnerSpec(engines=EXPERTS))
    for number in range(ROUNDS):
        name = f"changing-{number}"
        await client.say("changing", line(name, 3500), wire.Feedback(id=name, true_text="w1 " * 2000))
    return ""


def _updated(more: bool = False, **changes: Any) -> Send:
    request = learners.UpdateLearnerRequest(
        name="changing", spec=spec.LearnerSpec(**changes), rebuild=more, accept_loss=True
    )
    return lambda client: told(client.learners.UpdateLearner(request))


def _erased(**what: Any) -> Send:
    request = history_pb2.EraseRoundsRequest(name="changing", **what)
    return lambda client: told(client.history.EraseRounds(request))


async def _many_late(client: Client) -> str:
    """63 engines that come after the first, one after the other."""
    first, *others = CROWD
    parts = []
    for number, engine in enumerate(others):
        part = line("late", 240, (first, engine) if not number else (engine,))
        part.late = number > 0
        parts.append(part)
    return await client.say("crowd", *parts)


def _challenge(client: Client) -> Awaitable[str]:
    request = challenge_pb2.AddChallengerRequest
    specs = [spec.LearnerSpec(engines=EXPERTS, seed=number + 1) for number in range(8)]
    return all_told(
        client.challenges.AddChallenger(request(name="changing", label=f"c{number}", spec=each))
        for number, each in enumerate(specs)
    )


def _compare(client: Client) -> Awaitable[str]:
    request = challenge_pb2.CompareLearnerRequest(name="changing")
    return all_told(client.challenges.CompareLearner(request) for _ in range(50))


def _promote(client: Client) -> Awaitable[str]:
    request = challenge_pb2.PromoteChallengerRequest(name="changing", label="c0")
    return told(client.challenges.PromoteChallenger(request))


def _by_name(method: str, request: Any, name: str, times: int = 1) -> Send:
    return lambda client: all_told(getattr(client.learners, method)(request(name=name)) for _ in range(times))


def _document(name: str, *size: int, pages: int = 1, **kind: bool) -> Send:
    def send(client: Client) -> Awaitable[str]:
        made = document_pb2.Document(id=name, pages=[page(*size, **kind)] * pages)
        request = document_pb2.CombineDocumentRequest(learner="tied", document=made)
        return told(client.documents.CombineDocument(request))

    return send


def _explained(learner: str, utterance: str) -> Send:
    request = learners.ExplainUtteranceRequest(name=learner, id=utterance)
    return lambda client: told(client.learners.ExplainUtterance(request))


def _learners(client: Client) -> Awaitable[str]:
    return told(client.learners.ListLearners(learners.ListLearnersRequest(page_size=1000)))


def _corrected(client: Client, name: str, pages: list[str], **more: Any) -> Any:
    return told(
        client.documents.CorrectDocument(
            document_pb2.CorrectDocumentRequest(learner="tied", id=name, pages=pages, **more)
        )
    )


def _listed(client: Client, **more: Any) -> Any:
    return told(client.history.ListRounds(history_pb2.ListRoundsRequest(name="tied", page_size=1000, **more)))


NUMBERS = ["one", "hundred", "and", "twenty", "of", "nine"] * 650
TRIED = " ".join(f"{k:x}" for k in range(4000))
TEXT = " ".join(f"{(k * k) % 4099:x}" for k in range(26_000))  # 128 KiB
ENGLISH = spec.LearnerSpec(engines=EXPERTS, normalizer="english")
LETTERS = spec.LearnerSpec(engines=EXPERTS, unit=spec.UNIT_CHAR)

LARGEST = (
    Largest("create: the largest automaton", lambda c: c.create("huge", HUGE)),
    Largest(
        "create: engines, 4,096",
        lambda c: c.create("many", spec.LearnerSpec(engines=MANY)),
    ),
    Largest("create: the default learner", lambda c: c.create("tied", spec.LearnerSpec(engines=EXPERTS))),
    Largest("create: 64 engines", lambda c: c.create("crowd", spec.LearnerSpec(engines=CROWD))),
    Largest("open: 10,000 ids", lambda c: c.say("tied", unsure_ids=[f"id-{n}" for n in range(10_000)])),
    Largest("utterance: 3 engines of 4,000 words", lambda c: c.say("tied", line("long", 4000))),
    Largest("utterance: the same again", lambda c: c.say("tied", line("long", 4000))),
    Largest("utterance: with alternatives", lambda c: c.say("tied", line("long2", 4000), alternatives=True)),
    Largest("utterance: 64 engines of 1,400 words", lambda c: c.say("crowd", line("wide", 1400, CROWD))),
    Largest("utterance: windows of 64 engines", lambda c: c.say("huge", line("wide", 1400, CROWD))),
    Largest("utterance: 1,000 hypotheses", lambda c: c.say("tied", _hypotheses())),
    Largest("utterance: a lattice of 32,000 arcs", lambda c: c.say("tied", _lattice())),
    Largest(
        "utterance: letters",
        lambda c: c.say(
            "letters",
            outputs("letters", {e: [f"w{k:x}" for k in range(1000)] for e in EXPERTS}),
            create=LETTERS,
        ),
    ),
    Largest(
        "utterance: english numbers",
        lambda c: c.say("english", outputs("n", dict.fromkeys(EXPERTS, NUMBERS)), create=ENGLISH),
    ),
    Largest(
        "feedback: a true text of 128 KiB", lambda c: c.say("tied", wire.Feedback(id="long", true_text=TEXT))
    ),
    Largest(
        "feedback: a true text of 4,000 words",
        lambda c: c.say("tied", wire.Feedback(id="long2", true_text=" ".join(["w1"] * 4000))),
    ),
    Largest(
        "feedback: replaced",
        lambda c: c.say("tied", wire.Feedback(id="long2", true_text=" ".join(["w2"] * 4000), replace=True)),
    ),
    Largest(
        "feedback: of 64 engines",
        lambda c: c.say("crowd", wire.Feedback(id="wide", true_text=" ".join(["w1"] * 1400))),
    ),
    Largest(
        "page: 64 utterances in a megabyte",
        lambda c: c.say("tied", page_request(as_request(line(f"p{n}", 900)) for n in range(64))),
    ),
    Largest(
        "page: 64 true texts",
        lambda c: c.say(
            "tied",
            page_request(
                as_request(wire.Feedback(id=f"p{n}", true_text=" ".join(["w1"] * 900))) for n in range(64)
            ),
        ),
    ),
    Largest(
        "document: boxes, 3 engines of 8,000 words",
        _document("boxes", 400, 20, boxes=True),
    ),
    Largest("document: one line of boxes", _document("row", 1, 8000, boxes=True)),
    Largest(
        "document: words of boxes in a column",
        _document("column", 4000, 2, boxes=True),
    ),
    Largest("document: no boxes, 3 engines of 60,000 words", _document("plain", 3000, 20)),
    Largest("document: no boxes, one line", _document("line", 1, 60_000)),
    Largest("document: a word a line", _document("words", 40_000, 1)),
    Largest("document: a recording", _document("talk", 1500, 15, timed=True)),
    Largest(
        "document: a recording of one segment",
        _document("monologue", 1, 22_000, timed=True),
    ),
    Largest("document: 1,000 pages", _document("book", 4, 15, pages=1000)),
    Largest("correct: a whole book", lambda c: _corrected(c, "book", ["word " * 200_000], whole=True)),
    Largest("correct: its pages", lambda c: _corrected(c, "book", [TEXT[:1000]] * 1000)),
    Largest("correct: 300,000 pages", lambda c: _corrected(c, "book", [""] * 300_000)),
    Largest("correct: one line of 60,000 words", lambda c: _corrected(c, "line", [TEXT * 6])),
    Largest("list: 1,000 rounds", _listed, before=_rounds),
    Largest("list: with utterances", lambda c: _listed(c, with_utterances=True, newest_first=True)),
    Largest(
        "list: by 1,000 ids",
        lambda c: _listed(c, ids=[f"large-{n}" for n in range(1000)]),
    ),
    Largest(
        "explain: 32 slots",
        _explained("tied", "long"),
    ),
    Largest(
        "explain: 64 engines",
        lambda c: told(
            c.learners.ExplainUtterance(learners.ExplainUtteranceRequest(name="crowd", id="wide"))
        ),
    ),
    Largest("get: the largest learner", _by_name("GetLearner", learners.GetLearnerRequest, "huge")),
    Largest("get: 200 at once", _by_name("GetLearner", learners.GetLearnerRequest, "huge", 200)),
    Largest(
        "snapshot: the largest learner", _by_name("SnapshotLearner", learners.SnapshotLearnerRequest, "huge")
    ),
    Largest("snapshot: 50 at once", _by_name("SnapshotLearner", learners.SnapshotLearnerRequest, "huge", 50)),
    Largest("rebuild: 8 at once", _rebuild),
    Largest("export: the largest learner", _export),
    Largest("import: the largest learner", _import),
    Largest("watch: 200 streams", _watch),
    Largest(
        "list learners: specs of a megabyte",
        _learners,
        before=_wordy,
    ),
    Largest("page: metrics", lambda c: c.get("/metrics")),
    Largest("page: learners", lambda c: c.get("/api/learners")),
    Largest("page: the largest learner", lambda c: c.get("/api/learner?name=huge")),
    Largest("page: its weights", lambda c: c.get("/api/weights?name=huge")),
    Largest("page: its automata", lambda c: c.get("/api/automata?name=huge")),
    Largest("page: utterances", lambda c: c.get("/api/utterances?name=tied")),
    Largest(
        "page: try it",
        lambda c: c.get(
            "/api/try",
            {
                "learner": "tried",
                "create": True,
                "outputs": [{"expert": e, "text": "some words " * 1900} for e in EXPERTS],
            },
        ),
    ),
    Largest("late: 62 engines, one after the other", _many_late),
    Largest("update: 4,000 engines join", _updated(engines=(*EXPERTS, *MANY[:4000])), before=_changing),
    Largest("update: from the history", _updated(more=True, seed=5)),
    Largest("erase: 10,000 ids, one known", _erased(ids=["changing-0", *(f"no-{n}" for n in range(9_999))])),
    Largest("erase: by a label that nothing has", _erased(label="kind", label_value="x" * 256)),
    Largest("challenge: 8 challengers", _challenge),
    Largest("compare: 50 at once", _compare),
    Largest("promote: a challenger", _promote),
    Largest("page: error curves", lambda c: c.get("/api/errors?name=changing")),
    Largest("page: comparison", lambda c: c.get("/api/compare?name=changing")),
    Largest("delete: the largest learner", _by_name("DeleteLearner", learners.DeleteLearnerRequest, "huge")),
)
