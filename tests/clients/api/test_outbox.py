"""The bookkeeping of a stream: nothing is forgotten, nothing is sent out of turn, lost choices are recalled."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.clients.api.errors import ChoiceReplaced, FateUnknown
from galloon.clients.api.outbox import Kind, Outbox, Request
from galloon.codec.answer import Choice
from galloon.codec.request import feedback_request, utterance_request
from galloon.learners.combiners.contract import Score
from galloon.learners.observation import Utterance
from galloon.v1 import combine_pb2 as wire


async def utterance(id_: str) -> Request:
    message = utterance_request(Utterance.of_slots(id_, {"a": ["x"]}))
    return Request(Kind.UTTERANCE, id_, message, asyncio.get_running_loop().create_future())


async def feedback(id_: str, *, about_shown_path: bool = False) -> Request:
    answer = asyncio.get_running_loop().create_future()
    return Request(Kind.FEEDBACK, id_, feedback_request(id_, Score(1.0)), answer, about_shown_path)


def choice(id_: str, expert: str = "a", number: int = 0) -> Choice:
    return Choice(id_, number, "x", ("x",), (expert,), (1.0,), 0.0, 0)


def answer(books: Outbox, request: Request, expert: str = "a", number: int = 0) -> None:
    assert books.answered(request.kind, request.id) is request
    if request.kind is Kind.UTTERANCE:
        books.chosen(request, choice(request.id, expert, number))
    else:
        books.drop_choice(request.id)


async def shown(books: Outbox, id_: str, expert: str = "a", number: int = 0) -> None:
    answer(books, await sent(books, await utterance(id_)), expert, number)


async def sent(books: Outbox, request: Request) -> Request:
    books.accept(request)
    assert books.next_to_send() is request
    return request


async def test_requests_are_sent_in_order_and_once():
    books = Outbox(8)
    first, second = await utterance("u1"), await utterance("u2")
    books.accept(first)
    books.accept(second)
    assert [books.next_to_send(), books.next_to_send(), books.next_to_send()] == [first, second, None]
    assert books.sent == 2


async def test_a_page_holds_requests_of_one_kind_up_to_a_number_and_a_size():
    """What does not fit keeps its place; a request that is larger than a page goes by itself."""
    books = Outbox(8)
    for id_ in ("old1", "old2"):
        await shown(books, id_)
    asked = [await utterance(f"u{number}") for number in range(4)]
    taught = [await feedback("old1"), await feedback("old2")]
    for request in (*asked, *taught):
        books.accept(request)
    assert books.next_page(2, 10_000) == asked[:2]
    assert books.next_page(9, asked[2].size) == asked[2:3], "the next would be too many bytes"
    assert books.next_page(9, 1) == asked[3:], "never nothing where something waits"
    assert books.next_page(9, 10_000) == taught
    assert books.next_page(9, 10_000) == []
    assert books.sent == 6


async def test_feedback_waits_for_the_choice_of_its_utterance():
    books = Outbox(8)
    asked, taught, other = await utterance("u1"), await feedback("u1"), await utterance("u2")
    for request in (asked, taught, other):
        books.accept(request)
    assert books.next_to_send() is asked
    assert books.next_to_send() is other
    assert books.next_to_send() is None
    answer(books, asked)
    assert books.next_to_send() is taught


async def test_the_same_id_twice_waits_for_the_first_answer():
    books = Outbox(8)
    first, second, third = [await utterance("u1") for _ in range(3)]
    for request in (first, second, third):
        books.accept(request)
    for request in (first, second, third):
        assert books.next_to_send() is request
        assert books.next_to_send() is None
        answer(books, request)
    assert len(books) == 0


async def test_who_gave_up_is_never_sent_and_holds_nobody_up():
    books = Outbox(8)
    first, second, taught = await utterance("u1"), await utterance("u1"), await feedback("u1")
    for request in (first, second, taught):
        books.accept(request)
    assert first.answer is not None
    first.answer.cancel()
    assert books.next_to_send() is second
    answer(books, second)
    assert books.next_to_send() is taught


async def test_a_new_connection_sends_everything_unanswered_again_in_order():
    books = Outbox(8)
    requests = [await utterance("u1"), await utterance("u2"), await feedback("u2"), await utterance("u3")]
    for request in requests:
        books.accept(request)
    assert [books.next_to_send() for _ in range(3)] == [requests[0], requests[1], requests[3]]
    books.resume({}, 0)
    assert books.sent == 0
    assert [books.next_to_send() for _ in range(4)] == [requests[0], requests[1], requests[3], None]
    answer(books, requests[1])
    assert books.next_to_send() is requests[2]


async def test_a_lost_choice_is_recalled_before_its_feedback():
    books = Outbox(8)
    await shown(books, "u1")
    taught = await feedback("u1")
    books.accept(taught)
    assert books.next_to_send() is taught
    assert books.unsure_ids() == ["u1"]
    books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, 0)
    recall = books.next_to_send()
    assert recall is not None
    assert (recall.kind, recall.id, recall.answer) == (Kind.UTTERANCE, "u1", None)
    assert books.next_to_send() is None
    answer(books, recall)
    assert books.next_to_send() is taught


async def test_a_choice_that_survived_is_not_recalled():
    books = Outbox(8)
    await shown(books, "u1")
    taught = await feedback("u1")
    books.accept(taught)
    books.resume({"u1": wire.ROUND_STATE_PENDING}, 0)
    assert books.next_to_send() is taught


async def test_a_lost_choice_without_feedback_costs_nothing():
    books = Outbox(8)
    await shown(books, "u1")
    books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, 0)
    assert books.next_to_send() is None


async def test_feedback_about_a_path_that_the_daemon_no_longer_shows_fails_with_the_new_choice():
    books = Outbox(8)
    await shown(books, "u1", "a")
    books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, 0)
    judged = await feedback("u1", about_shown_path=True)
    books.accept(judged)
    recall = books.next_to_send()
    assert recall is not None
    answer(books, recall, "b")
    assert books.next_to_send() is None
    assert judged.answer is not None
    with pytest.raises(ChoiceReplaced) as raised:
        await judged.answer
    assert raised.value.replacement == choice("u1", "b")
    again = await feedback("u1", about_shown_path=True)  # about the replacement, now that the caller knows it
    books.accept(again)
    assert books.next_to_send() is again


async def test_a_true_text_fits_whatever_is_shown():
    books = Outbox(8)
    await shown(books, "u1", "a")
    books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, 0)
    taught = await feedback("u1")
    books.accept(taught)
    recall = books.next_to_send()
    assert recall is not None
    answer(books, recall, "b")
    assert books.next_to_send() is taught


async def test_feedback_is_not_sent_again_on_a_round_that_may_have_left_the_history():
    """It may have been learned before, and must not be twice. What was not sent yet the daemon answers itself."""
    books = Outbox(8)
    await shown(books, "cut", number=16)
    await shown(books, "unsent", number=16)
    await shown(books, "lost", number=17)
    doubtful, taught = await sent(books, await feedback("cut")), await sent(books, await feedback("lost"))
    unsent = await feedback("unsent")
    books.accept(unsent)
    books.resume(dict.fromkeys(("cut", "unsent", "lost"), wire.ROUND_STATE_UNKNOWN), 17)
    assert doubtful.answer is not None
    with pytest.raises(FateUnknown, match="learned once or not at all"):
        await doubtful.answer
    recall = books.next_to_send()
    assert recall is not None
    assert (recall.kind, recall.id) == (Kind.UTTERANCE, "lost")
    assert books.next_to_send() is unsent
    answer(books, recall)
    assert [books.next_to_send(), books.next_to_send()] == [taught, None]


async def test_feedback_on_the_choice_of_another_stream_is_sent_again_where_nothing_ever_left_the_history():
    for whole_from in (0, 1):
        books = Outbox(8)
        taught = await sent(books, await feedback("u1"))
        books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, whole_from)
        assert books.next_to_send() is (None if whole_from else taught)
        assert taught.answer is not None
        assert taught.answer.done() == bool(whole_from)
        if whole_from:
            assert isinstance(taught.answer.exception(), FateUnknown)


async def test_a_round_that_was_lost_while_it_was_recalled_is_recalled_again():
    """The first daemon lost it. The second began it again and was asked twice, and died before it was durable.

    The third one has given its number to another round, long ago.
    """
    books = Outbox(8)
    await shown(books, "u1", number=101)
    taught = await sent(books, await feedback("u1"))
    books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, 0)
    recall = books.next_to_send()
    assert recall is not None
    assert recall.kind is Kind.UTTERANCE
    books.resume({"u1": wire.ROUND_STATE_PENDING}, 0)
    assert books.next_to_send() is recall
    books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, 0)
    assert books.next_to_send() is recall
    answer(books, recall, number=140)
    assert books.next_to_send() is taught
    assert taught.answer is not None
    assert not taught.answer.done()


async def test_a_loss_is_remembered_until_the_choice_is_recalled():
    """Also when more leaves the history meanwhile: no feedback was sent on a round that is known to be lost."""
    books = Outbox(8)
    await shown(books, "u1")
    books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, 0)
    books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, 17)
    taught = await feedback("u1")
    books.accept(taught)
    recall = books.next_to_send()
    assert recall is not None
    assert (recall.kind, recall.id) == (Kind.UTTERANCE, "u1")
    answer(books, recall)
    assert books.next_to_send() is taught


async def test_only_so_many_choices_are_remembered():
    books = Outbox(2)
    for id_ in ("u1", "u2", "u3"):
        await shown(books, id_)
    assert books.unsure_ids() == ["u2", "u3"]


async def test_a_postponed_request_comes_back_once():
    books = Outbox(8)
    asked = await utterance("u1")
    books.accept(asked)
    books.next_to_send()
    assert books.postpone(Kind.UTTERANCE, "u1") is asked
    assert (books.sent, books.next_to_send()) == (0, None)
    books.resume({}, 0)  # a reconnect queues it too
    books.again(asked)
    assert [books.next_to_send(), books.next_to_send()] == [asked, None]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "teach", "send", "answer", "cancel", "cut", "lose", "forget", "postpone"]),
        st.integers(0, 3),
    ),
    max_size=60,
)


@given(STEPS)
@settings(deadline=None, max_examples=300)
def test_whatever_happens_every_request_that_is_still_wanted_gets_its_answer(steps: list[tuple[str, int]]):
    """Any order of sends, answers, cancellations, cuts and losses; then a peer that answers empties the books."""
    asyncio.run(_play(steps))


async def _play(steps: list[tuple[str, int]]) -> None:
    books, wanted, on_the_wire, postponed = Outbox(2), [], [], []

    def reply(request: Request) -> None:
        answer(books, request, expert=f"expert{len(wanted) % 2}")
        if request.answer is not None and not request.answer.done():
            request.answer.set_result(None)

    def cut(state: wire.RoundState.ValueType, whole_from: int = 0) -> None:
        on_the_wire.clear()
        books.resume(dict.fromkeys(books.unsure_ids(), state), whole_from)

    for what, number in steps:
        match what:
            case "ask" | "teach":
                make = utterance if what == "ask" else feedback
                request = await make(f"u{number}")
                wanted.append(request)
                books.accept(request)
            case "send":
                sent = books.next_to_send()
                if sent is not None:
                    assert all(other.key != sent.key for other in on_the_wire), (
                        "the same id twice on the wire"
                    )
                    on_the_wire.append(sent)
            case "answer" if on_the_wire:
                reply(on_the_wire.pop(number % len(on_the_wire)))
            case "cancel" if wanted:
                wanted[number % len(wanted)].answer.cancel()
            case "cut":
                cut(wire.ROUND_STATE_PENDING)
            case "lose":
                cut(wire.ROUND_STATE_UNKNOWN)
            case "forget":
                cut(wire.ROUND_STATE_UNKNOWN, 1)
            case "postpone" if on_the_wire:
                request = on_the_wire.pop(number % len(on_the_wire))
                assert books.postpone(request.kind, request.id) is request
                postponed.append(request)
        assert books.sent == len(on_the_wire)
    for request in postponed:
        books.again(request)
    for _ in range(4 * len(steps) + 4):
        sent = books.next_to_send()
        if sent is not None:
            on_the_wire.append(sent)
        elif on_the_wire:
            reply(on_the_wire.pop(0))
    assert all(request.answer.done() for request in wanted)
    assert (len(books), books.sent) == (0, 0)


async def test_what_came_late_is_recalled_with_the_rest():
    """Late outputs add to what was said: a round that a crash took begins again with all of it."""
    books = Outbox(8)
    await shown(books, "u1")

    async def late(engine: str) -> Request:
        message = utterance_request(Utterance.of_slots("u1", {engine: ["y"]}), late=True)
        return Request(Kind.UTTERANCE, "u1", message, asyncio.get_running_loop().create_future())

    first, second = await late("b"), await late("c")
    books.accept(first)
    assert books.next_to_send() is first
    assert first.message.utterance.late
    answer(books, first)
    books.accept(second)
    books.resume({"u1": wire.ROUND_STATE_UNKNOWN}, 0)
    assert books.next_to_send() is second
    whole = second.message.utterance
    assert ([offer.engine for offer in whole.slots.offers], whole.late) == (["a", "b", "c"], False)
