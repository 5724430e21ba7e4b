"""A page: many requests in one message are answered by one, each as if it had come alone."""

import asyncio

from galloon.v1 import combine_pb2 as wire
from tests.daemon.serving import feedback, serving, simple_spec, utterance

LINES = 10


def _kinds(answers):
    return [answer.WhichOneof("response") for answer in answers]


async def test_a_page_is_answered_as_its_requests_alone_are(tmp_path):
    """The same choices and lessons, and the same state to the bit."""
    async with serving(tmp_path) as daemon:
        alone, paged = await daemon.open("alone"), await daemon.open("paged")
        choices = [await alone.ask(utterance(n)) for n in range(LINES)]
        lessons = [await alone.ask(feedback(n)) for n in range(LINES)]
        assert await paged.page([utterance(n) for n in range(LINES)]) == choices
        assert await paged.page([feedback(n) for n in range(LINES)]) == lessons
        assert await daemon.digest("alone") == await daemon.digest("paged")


async def test_an_utterance_and_its_feedback_may_share_a_page(tmp_path):
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        answers = await stream.page([utterance(1), feedback(1), utterance(2), feedback(2)])
        assert _kinds(answers) == ["choice", "learned", "choice", "learned"]
        assert [answer.learned.lessons for answer in answers[1::2]] == [1, 2]


async def test_each_request_of_a_page_has_its_own_problem(tmp_path):
    """What is wrong with one is told in its place, and harms no other."""
    async with serving(tmp_path) as daemon:
        stream = await daemon.open()
        inner = wire.CombineRequest(page=wire.Page(requests=[wire.CombineRequest(utterance=utterance(9))]))
        answers = await stream.page(
            [utterance(1), feedback(7), wire.Open(learner="other"), inner, wire.CombineRequest(), feedback(1)]
        )
        assert _kinds(answers) == ["choice", *["problem"] * 4, "learned"]
        unknown, *wrong = [answer.problem for answer in answers[1:5]]
        assert (unknown.id, unknown.reason) == ("u7", wire.REASON_UNKNOWN_ROUND)
        for place, problem in enumerate(wrong, start=2):
            assert (problem.reason, problem.field) == (wire.REASON_INVALID, f"page.requests[{place}]")
        assert (await stream.choice(utterance(9))).round == 1, "the inner page was not taken"


async def test_a_page_is_refused_whole_by_its_number_alone(tmp_path):
    """One problem that names the limit; none of its requests was taken. An empty page is refused too."""
    async with serving(tmp_path, limits__page_requests=3) as daemon:
        stream = daemon.stream()
        early = await stream.problem([utterance(0)])
        assert (early.reason, early.about) == (wire.REASON_WRONG_ORDER, wire.REQUEST_KIND_PAGE)
        opened = await stream.opened(wire.Open(learner="test", create=simple_spec()))
        assert (opened.max_page_requests, opened.max_message_bytes) == (3, 1_048_576)
        problem = await stream.problem([utterance(n) for n in range(4)])
        assert (problem.limit.name, problem.limit.allowed, problem.limit.needed) == ("page_requests", 3, 4)
        assert (problem.about, problem.id) == (wire.REQUEST_KIND_PAGE, "")
        empty = await stream.problem([])
        assert empty.field == "page.requests"
        assert [answer.choice.round for answer in await stream.page([utterance(n) for n in range(3)])] == [
            0,
            1,
            2,
        ]


async def test_requests_of_a_page_count_as_unanswered_ones(tmp_path):
    """The reader waits when a page fills the bound; everything is answered all the same."""
    async with serving(tmp_path, limits__in_flight=4) as daemon:
        stream = await daemon.open()
        pages = [[utterance(8 * page + line) for line in range(8)] for page in range(5)]

        async def send():
            for page in pages:
                await stream.send(page)

        sending = asyncio.create_task(send())
        answers = [each for _ in pages for each in (await stream.read()).page.responses]
        await sending
        assert sorted(answer.choice.round for answer in answers) == list(range(40))
        await stream.close()
        assert daemon.app._quota._bytes == {}, "every byte that was held is let go"
