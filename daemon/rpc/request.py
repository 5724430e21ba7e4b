"""A request that waits for its answer, alone or as one of a page that is answered when all of it is.

`Page` gathers the answers of its requests; every one fills its own place, whatever becomes of the others.
"""

from time import perf_counter
from typing import Protocol

from galloon.codec.page import page_to_bytes
from galloon.codec.utterance import ID_BYTES
from galloon.daemon.http.metrics import Metrics
from galloon.v1 import combine_pb2 as wire

KINDS = {
    "utterance": wire.REQUEST_KIND_UTTERANCE,
    "feedback": wire.REQUEST_KIND_FEEDBACK,
    "open": wire.REQUEST_KIND_OPEN,
    "page": wire.REQUEST_KIND_PAGE,
}

FIELDS = {number: name for name, number in KINDS.items()} | {wire.REQUEST_KIND_UNSPECIFIED: "request"}


class Answers(Protocol):
    """Where answers go: a stream."""

    metrics: Metrics

    def send(self, request: "Request", answer: bytes | None, error: Exception | None) -> None: ...


class Page:
    """The answers to the requests of one message, as far as they are there."""

    __slots__ = ("_answers", "_missing", "size")

    def __init__(self, requests: int, size: int) -> None:
        self._answers = [b""] * requests
        self._missing, self.size = requests, size

    def __len__(self) -> int:
        return len(self._answers)

    def fill(self, place: int, answer: bytes) -> bytes | None:
        """One more answer; gives the answer to the page when it was the last."""
        self._answers[place] = answer
        self._missing -= 1
        return None if self._missing else page_to_bytes(self._answers)


class Request:
    """Whose it is, what it is about, since when it waits, and its place in a page if it came in one."""

    __slots__ = ("about", "answers", "id", "kind", "page", "place", "size", "started")

    def __init__(
        self, answers: Answers, message: wire.CombineRequest | None, page: Page | None = None, place: int = 0
    ) -> None:
        self.answers, self.size, self.started = answers, 0, perf_counter()
        self.page, self.place = page, place
        self.about: wire.RequestKind.ValueType = wire.REQUEST_KIND_UNSPECIFIED
        self.id, self.kind = "", None
        if message is not None:
            about = message.WhichOneof("request")
            self.about = KINDS.get(about or "", self.about)
            if about == "utterance":
                self.id = message.utterance.id[:ID_BYTES]
            elif about == "feedback":
                feedback = message.feedback
                self.id, self.kind = feedback.id[:ID_BYTES], feedback.WhichOneof("feedback")

    def __call__(self, answer: bytes | None, error: Exception | None) -> None:
        if error is None:
            metrics, elapsed = self.answers.metrics, perf_counter() - self.started
            if self.about == wire.REQUEST_KIND_UTTERANCE:
                metrics.choose_seconds.observe(elapsed)
                metrics.choices.inc()
            elif self.kind is not None:
                metrics.learn_seconds.observe(elapsed)
                metrics.feedback[self.kind].inc()
        self.answers.send(self, answer, error)
