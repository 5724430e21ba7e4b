"""What a person types in becomes real rounds of a real learner."""

import io

import pytest

from galloon.v1 import spec_pb2
from tests.daemon.http.page.visitor import play, visiting
from tests.daemon.serving import serving

TEXTS = [
    {"expert": "a", "text": "the cat sat on a mat"},
    {"expert": "b", "text": "the bat sat on the mat"},
    {"expert": "c", "text": "the cat sit on the mat"},
]
TRY = {"learner": "try/abc", "create": True, "outputs": TEXTS}


async def test_texts_are_combined_and_the_truth_is_learned(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        status, choice = await visitor.post("/api/try", TRY)
        assert (status, choice["created"], choice["experts"]) == (200, True, ["a", "b", "c"])
        assert " ".join(slot["text"] for slot in choice["slots"] if slot["text"]) == choice["text"]
        truth = "the cat sat on the mat"
        status, lesson = await visitor.post(
            "/api/teach", {"learner": "try/abc", "id": choice["id"], "text": truth}
        )
        assert (status, lesson["lessons"]) == (200, 1)
        assert set(lesson["expert_gains"]) == {*choice["experts"], *choice["derived"]}
        assert [lesson["expert_gains"][name] for name in ("a", "b", "c", "vote")] == [5.0, 5.0, 5.0, 6.0]
        host = daemon.app.registry.find("try/abc")
        assert (host.rounds.started, host.rounds.lessons, host.journal_entries) == (1, 1, 3)
        digest = await daemon.digest("try/abc")
    async with serving(tmp_path) as daemon:
        assert await daemon.digest("try/abc") == digest


async def test_teaching_twice_gives_the_same_answer_and_no_second_lesson(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        _, choice = await visitor.post("/api/try", TRY)
        teach = {"learner": "try/abc", "id": choice["id"], "text": "the cat sat"}
        _, first = await visitor.post("/api/teach", teach)
        status, second = await visitor.post("/api/teach", teach)
        assert (status, second["repeated"], second["lessons"]) == (200, True, 1)
        assert {**second, "repeated": False} == first
        status, _ = await visitor.post("/api/teach", {**teach, "text": "something else"})
        assert status == 409


async def test_it_learns_whom_to_trust(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        for _ in range(12):
            _, choice = await visitor.post("/api/try", TRY)
            body = {"learner": "try/abc", "id": choice["id"], "text": TEXTS[1]["text"]}
            await visitor.post("/api/teach", body)
        _, choice = await visitor.post("/api/try", TRY)
    assert choice["text"] == TEXTS[1]["text"]


async def test_characters_can_be_combined_too(tmp_path):
    outputs = [{"expert": "a", "text": "whale ship"}, {"expert": "b", "text": "whole ship"}]
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        _, choice = await visitor.post(
            "/api/try", {"learner": "t", "create": True, "unit": "char", "outputs": outputs}
        )
    assert len(choice["slots"]) == len("whale ship")
    assert choice["text"] in {"whale ship", "whole ship"}


async def test_an_existing_learner_can_be_tried_and_an_engine_left_empty_did_not_run(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 1, algorithm=spec_pb2.ALGORITHM_TIED)
        outputs = [{"expert": "ann", "text": "so far"}, {"expert": "bob", "text": "so good"}]
        outputs.append({"expert": "cy", "text": ""})
        status, choice = await visitor.post("/api/try", {"learner": "test", "outputs": outputs})
        assert (status, choice["created"]) == (200, False)
        assert daemon.app.registry.find("test").rounds.started == 2


LONG = [TEXTS[0], {"expert": "b", "text": "x " * 5000}]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ([], 400, "learner"),
        ({"learner": "x"}, 400, "outputs"),
        ({"learner": "x", "outputs": TEXTS[:1], "create": True}, 400, "at least 2"),
        ({"learner": "x", "outputs": [TEXTS[0], TEXTS[0]], "create": True}, 400, "name of its own"),
        ({"learner": "x", "outputs": [{"expert": "a", "text": 1}, TEXTS[1]], "create": True}, 400, "text"),
        ({"learner": "x y", "outputs": TEXTS, "create": True}, 400, "name"),
        ({"learner": "x", "outputs": TEXTS, "create": True, "unit": "page"}, 400, "unit"),
        ({"learner": "x", "outputs": TEXTS}, 404, "no learner"),
        ({"learner": "test", "outputs": TEXTS}, 400, "not an engine"),
        ({"learner": "test", "outputs": TEXTS, "create": True}, 409, "another spec"),
        (
            {
                "learner": "x",
                "outputs": [{"expert": f"e{n}", "text": "x"} for n in range(65)],
                "create": True,
            },
            429,
            "engines",
        ),
        (
            {"learner": "x", "outputs": LONG, "create": True},
            429,
            "slots",
        ),
    ],
)
async def test_what_cannot_be_tried_is_said_why(tmp_path, body, status, said):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 1)
        answered, answer = await visitor.post("/api/try", body)
        assert answered == status, answer
        assert said in answer["problem"]["message"]


async def test_a_text_without_end_is_refused(tmp_path):
    headers = {"Content-Type": "application/json"}
    endless = io.BytesIO(b'{"learner": "' + b"x" * 1_100_000)
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        status, _, body = await visitor.raw("POST", "/api/try", data=endless, headers=headers)
    assert status == 429
    assert b"message_bytes" in body


async def test_what_is_not_json_is_refused(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        headers = {"Content-Type": "application/json"}
        status, _, body = await visitor.raw("POST", "/api/try", data=b"{", headers=headers)
    assert status == 400
    assert b"not JSON" in body


@pytest.mark.parametrize(
    "name", ["a\nb", "a\0b", "e" * 300_000, "\ud800"], ids=["line", "nul", "long", "half"]
)
async def test_names_of_engines_follow_the_rules_of_the_wire(tmp_path, name):
    """What CreateLearner refuses is refused here too, and the list of learners stays readable."""
    outputs = [{"expert": name, "text": "the cat"}, {"expert": "b", "text": "the bat"}]
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        status, answer = await visitor.post("/api/try", {**TRY, "outputs": outputs})
        assert status in {400, 429}
        assert answer["problem"]["message"]
        assert not daemon.app.registry.learners()


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
async def test_a_text_with_half_a_character_is_refused(tmp_path, text):
    outputs = [{"expert": "a", "text": text}, {"expert": "b", "text": "the bat"}]
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        status, answer = await visitor.post("/api/try", {**TRY, "outputs": outputs})
        assert (status, answer["problem"]["field"]) == (400, "text")


async def test_bodies_that_cannot_be_read_are_refused(tmp_path):
    """JSON nested too deep, and a charset that nobody knows."""
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        for body, charset in (("[" * 100_000, "utf-8"), ("{}", "klingon")):
            headers = {"Content-Type": f"application/json; charset={charset}"}
            status, _, _ = await visitor.raw("POST", "/api/try", data=body.encode(), headers=headers)
            assert status == 400
