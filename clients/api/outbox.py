"""The requests of one stream that wait for an answer, and what to send next; knows nothing of sockets.

`accept` takes a request, `next_page` gives those whose turn it is, `answered` ends one, `postpone` and `again` put
one off. After a reconnect `resume` queues everything whose fate is unknown once more: ids make that safe.

Choices are answered before they are durable, so a crash of the daemon can lose one that the caller has seen. That
is why utterances are remembered until their feedback is learned: a lost one is *recalled* (sent again by itself)
when its feedback comes, and before it. When the recalled choice differs from the one shown, feedback about the
shown path fails with `ChoiceReplaced`, for it would be credited to a path that nobody saw. A round that has *gone*
from the daemon's history is never recalled: its feedback may have been learned, and nothing is learned twice.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from galloon.clients.api.errors import ChoiceReplaced, FateUnknown
from galloon.codec.answer import Choice
from galloon.codec.page import REQUEST_BYTES
from galloon.codec.utterance import with_late_outputs
from galloon.v1 import combine_pb2 as wire

MOST_UNSURE_IDS = 10_000  # that the daemon answers for in one open


class Kind(Enum):
    UTTERANCE = "utterance"
    FEEDBACK = "feedback"


class Place(Enum):
    """Where a request stands."""

    QUEUED = "queued"
    SENT = "sent"
    PARKED = "parked"  # behind another request, or until the daemon is ready for it


Key = tuple[Kind, str]


@dataclass(eq=False)
class Request:
    """One utterance or feedback on its way. No answer: it is a recall, which nobody awaits."""

    kind: Kind
    id: str
    message: wire.CombineRequest
    answer: asyncio.Future[Any] | None
    about_shown_path: bool = False
    place: Place = Place.QUEUED
    ever_sent: bool = False
    attempts: int = 0  # that the daemon put off
    followers: list["Request"] = field(default_factory=list)

    @property
    def key(self) -> Key:
        return self.kind, self.id

    @cached_property
    def size(self) -> int:
        """Bytes that it takes in a page, at most."""
        return self.message.ByteSize() + REQUEST_BYTES

    @property
    def given_up(self) -> bool:
        """Whether the caller waits no longer: answered, timed out or cancelled."""
        return self.answer is not None and self.answer.done()


@dataclass(slots=True)
class Shown:
    """A choice that the caller has seen and whose feedback is not known to be learned."""

    message: wire.CombineRequest
    choice: Choice
    replaced: bool = False  # by the answer to a recall, and the caller does not know it yet
    lost: bool = False  # the daemon knows nothing of it any more


class Outbox:
    """Bookkeeping of one stream. `remember` bounds the choices kept for a recall."""

    def __init__(self, remember: int) -> None:
        self._remember = remember
        self._requests: dict[Key, Request] = {}  # in the order of acceptance
        self._queue: deque[Request] = deque()
        self._shown: dict[str, Shown] = {}  # oldest first
        self.sent = 0

    def __len__(self) -> int:
        return len(self._requests)

    def accept(self, request: Request) -> None:
        """Queue a request; one with the key of another waits until that one is answered."""
        before = self._requests.setdefault(request.key, request)
        if before is request:
            self._enqueue(request)
        else:
            request.place = Place.PARKED
            before.followers.append(request)

    def next_page(self, requests: int, size: int) -> list[Request]:
        """The next requests, now sent: of one kind, so many and so many bytes at most, but one if there is any.

        Utterances and feedback do not share a page, for then choices would wait for the daemon's disk.
        """
        request, page = self.next_to_send(), []
        while request is not None:
            page.append(request)
            size -= request.size
            request = self.next_to_send(request.kind, size) if len(page) < requests else None
        return page

    def next_to_send(self, kind: Kind | None = None, size: int | None = None) -> Request | None:
        """The next request, now sent; None when there is none, or when it is of another kind or larger."""
        while self._queue:
            request = self._queue.popleft()
            self._complete(request)
            if request.given_up:
                self._forget(request)
            elif request.kind is Kind.FEEDBACK and not self._ready(request):
                continue
            elif (kind or request.kind) is not request.kind or (size is not None and size < request.size):
                self._queue.appendleft(request)
                return None
            else:
                request.place, request.ever_sent = Place.SENT, True
                self.sent += 1
                return request
        return None

    def answered(self, kind: Kind, request_id: str) -> Request | None:
        """End a request; None for an answer that nobody waits for."""
        request = self._requests.get((kind, request_id))
        if request is None or request.place is not Place.SENT:
            return None
        self.sent -= 1
        self._forget(request)
        return request

    def chosen(self, request: Request, choice: Choice) -> None:
        """Remember an answered utterance until its feedback is learned."""
        shown = self._shown.pop(request.id, None)
        replaced = (
            request.answer is None
            and shown is not None
            and (
                shown.replaced
                or (choice.tokens, choice.experts) != (shown.choice.tokens, shown.choice.experts)
            )
        )
        whole = request.message if shown is None else _whole(shown.message, request.message)
        self._shown[request.id] = Shown(whole, choice, replaced)
        while len(self._shown) > self._remember:
            del self._shown[next(iter(self._shown))]

    def drop_choice(self, utterance_id: str) -> None:
        """The round is over, or cannot be begun again: its choice needs no recall any more."""
        self._shown.pop(utterance_id, None)

    def postpone(self, kind: Kind, request_id: str) -> Request | None:
        """The daemon cannot take this one now: keep it, until `again`."""
        request = self._requests.get((kind, request_id))
        if request is None or request.place is not Place.SENT:
            return None
        self.sent -= 1
        request.place = Place.PARKED
        request.attempts += 1
        return request

    def again(self, request: Request) -> None:
        """Queue a postponed request, unless a reconnect has done so."""
        if self._requests.get(request.key) is request and request.place is Place.PARKED:
            self._enqueue(request)

    def unsure_ids(self) -> list[str]:
        """Utterances whose fate decides what is sent after a reconnect, the newest ones."""
        ids = dict.fromkeys(self._shown)
        ids.update(dict.fromkeys(key[1] for key in self._requests if key[0] is Kind.FEEDBACK))
        return list(ids)[-MOST_UNSURE_IDS:]

    def resume(self, states: Mapping[str, wire.RoundState.ValueType], whole_from: int = 0) -> None:
        """Queue everything again on a new connection, and note which choices were lost.

        From round `whole_from` on the daemon knows every round that was ever durable: one that it does not know
        was lost before, with its feedback. One of a smaller number may have been learned, and gone since.
        """
        self.sent = 0
        for utterance_id, state in states.items():
            if state == wire.ROUND_STATE_UNKNOWN and not self._is_lost(utterance_id, whole_from):
                self._gone(utterance_id)
        for request in [request for request in self._requests.values() if request.given_up]:
            self._forget(request)
        self._queue.clear()
        for request in self._requests.values():
            request.followers = [follower for follower in request.followers if follower.key == request.key]
            self._enqueue(request)
        for utterance_id in list(self._shown):
            self._resume_shown(utterance_id, states.get(utterance_id, wire.ROUND_STATE_PENDING))

    def fail_all(self, error: Callable[[], Exception]) -> None:
        """The stream is over: nobody will be answered."""
        for request in list(self._each_with_followers()):
            if request.answer is not None and not request.answer.done():
                request.answer.set_exception(error())
        self._requests.clear()
        self._queue.clear()
        self._shown.clear()
        self.sent = 0

    def _is_lost(self, utterance_id: str, whole_from: int) -> bool:
        shown = self._shown.get(utterance_id)
        if shown is None:
            return not whole_from
        return shown.lost or shown.choice.round >= whole_from

    def _gone(self, utterance_id: str) -> None:
        self._shown.pop(utterance_id, None)
        feedback = self._requests.get((Kind.FEEDBACK, utterance_id))
        if feedback is not None and feedback.ever_sent and not feedback.given_up:
            assert feedback.answer is not None, "only utterances are recalled"
            feedback.answer.set_exception(FateUnknown(utterance_id))

    def _resume_shown(self, utterance_id: str, state: wire.RoundState.ValueType) -> None:
        waits_for_lesson = (Kind.FEEDBACK, utterance_id) in self._requests
        if state == wire.ROUND_STATE_EXPIRED or (state == wire.ROUND_STATE_LEARNED and not waits_for_lesson):
            del self._shown[utterance_id]
        else:
            self._shown[utterance_id].lost = state == wire.ROUND_STATE_UNKNOWN

    def _complete(self, request: Request) -> None:
        """Where a crash took the round that late outputs are for, it begins again with all that was said."""
        shown = self._shown.get(request.id)
        if request.message.utterance.late and shown is not None and shown.lost:
            request.message = _whole(shown.message, request.message)
            request.__dict__.pop("size", None)

    def _ready(self, feedback: Request) -> bool:
        """Whether a feedback can be sent now; else it is parked behind its utterance, or has failed."""
        shown = self._shown.get(feedback.id)
        utterance = self._requests.get((Kind.UTTERANCE, feedback.id))
        if utterance is None and shown is not None and shown.lost:
            utterance = Request(Kind.UTTERANCE, feedback.id, shown.message, None)
            self._requests[utterance.key] = utterance
            self._queue.appendleft(utterance)
        if utterance is not None:
            feedback.place = Place.PARKED
            utterance.followers.append(feedback)
            return False
        if shown is not None and shown.replaced and feedback.about_shown_path:
            shown.replaced = False  # the caller learns of the new choice, and may judge that one
            assert feedback.answer is not None, "only utterances are recalled"
            feedback.answer.set_exception(ChoiceReplaced(feedback.id, shown.choice))
            self._forget(feedback)
            return False
        return True

    def _forget(self, request: Request) -> None:
        """Take a request off the books and let go of those behind it, in their order."""
        del self._requests[request.key]
        freed, request.followers = request.followers, []
        ready: list[Request] = []
        for follower in freed:
            before = self._requests.setdefault(follower.key, follower)
            (ready if before is follower else before.followers).append(follower)
        for follower in reversed(ready):
            follower.place = Place.QUEUED
            self._queue.appendleft(follower)

    def _enqueue(self, request: Request) -> None:
        request.place = Place.QUEUED
        self._queue.append(request)

    def _each_with_followers(self) -> Iterator[Request]:
        for request in self._requests.values():
            yield request
            yield from request.followers


def _whole(known: wire.CombineRequest, sent: wire.CombineRequest) -> wire.CombineRequest:
    """What was said of an utterance up to now: what was sent, with what it only adds to."""
    if not sent.utterance.late:
        return sent
    return wire.CombineRequest(utterance=with_late_outputs(known.utterance, sent.utterance))
