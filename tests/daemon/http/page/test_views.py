"""What the page shows is what the daemon holds, and looking at it changes nothing."""

import pytest

from galloon.daemon.http.page.curves import MOST_SAMPLES, Curve, Sample, curve_to_json
from galloon.v1 import spec_pb2
from tests.daemon.http.page.visitor import play, visiting
from tests.daemon.serving import EXPERTS, feedback, serving, simple_spec, truth, utterance


async def test_a_learner_is_shown_with_its_counts_and_its_standing(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 8, "a/b")
        (brief,) = (await visitor.get("/api/learners"))["learners"]
        shown = await visitor.get("/api/learner", name="a/b")
        statistics = await daemon.app.registry.find("a/b").statistics()
    assert (brief["name"], brief["lessons"], brief["rounds"], brief["pending"]) == ("a/b", 8, 8, 0)
    assert shown["statistics"]["regret"] == pytest.approx(statistics.regret, rel=1e-5)
    assert shown["statistics"]["bound"] == pytest.approx(statistics.bound, rel=1e-5)
    assert shown["curve"]["lessons"][-1] == 8
    assert shown["curve"]["bound"][-1] == shown["statistics"]["bound"]


async def test_error_rates_are_those_of_engines_vote_and_combination(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 6)
        host = daemon.app.registry.find("test")
        while host.books.seq < host.seq:
            host.books.count_some(host.history, 60.0)
        shown = await visitor.get("/api/learner", name="test")
        errors = await visitor.get("/api/errors", name="test")
        compared = await visitor.get("/api/compare", name="test")
    assert list(shown["rates"]) == [*EXPERTS, "vote", "galloon"]
    words = sum(len([token for token in truth(number) if token]) for number in range(6))
    assert {rate["words"] for rate in shown["rates"].values()} == {words}
    assert shown["rates"]["ann"]["wer"] < shown["rates"]["cy"]["wer"]
    for name, rate in shown["rates"].items():
        assert errors["rates"][name]["wer"][-1] == pytest.approx(rate["wer"], rel=1e-3)
    assert (errors["counted"], errors["lessons"], errors["corrections"][-1]) == (6, 6, 6)
    assert errors["true_words"][-1] == words
    assert compared["learner"]["corrections"] == 6
    assert compared["verdict"] == "too_early"


async def test_utterances_come_newest_first_with_what_else_was_on_offer(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        stream = await daemon.open("test", simple_spec(derived=["vote"]))
        for number in range(3):
            await stream.choice(utterance(number))
        await stream.learned(feedback(1))
        newest, middle, oldest = (await visitor.get("/api/utterances", name="test"))["utterances"]
        await stream.close()
    assert [newest["id"], middle["id"], oldest["id"]] == ["u2", "u1", "u0"]
    assert (newest["state"], middle["state"]) == ("pending", "learned")
    assert middle["truth"] == " ".join(filter(None, truth(1)))
    assert newest["truth"] is None
    offers = {offer.engine: list(offer.tokens) for offer in utterance(2).slots.offers}
    for slot, shown in enumerate(newest["slots"]):
        others = {name: other["text"] for other in shown["alternatives"] for name in other["experts"]}
        said = {name: others.get(name, shown["text"]) for name in EXPERTS}
        assert said == {name: offers[name][slot] for name in EXPERTS}
        total = shown["probability"] + sum(other["probability"] for other in shown["alternatives"])
        assert total == pytest.approx(1, abs=1e-3)


async def test_utterances_survive_a_restart_without_their_alternatives(tmp_path):
    async with serving(tmp_path) as daemon:
        await play(daemon, 2)
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        latest = (await visitor.get("/api/utterances", name="test"))["utterances"]
    assert [(entry["id"], entry["state"], entry["detailed"]) for entry in latest] == [
        ("u1", "learned", False),
        ("u0", "learned", False),
    ]


async def test_weights_are_the_probabilities_of_each_expert_in_each_slot(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 20)
        table = (await visitor.get("/api/weights", name="test"))["weights"]
    assert (table["row_kind"], len(table["rows"]), table["columns"]) == ("slot", 4, list(EXPERTS))
    for row in table["probabilities"]:
        assert sum(row) == pytest.approx(1, abs=1e-3)
        assert row[0] > row[1] > row[2]


async def test_a_tied_learner_shows_its_contexts_and_all_its_experts(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 20, algorithm=spec_pb2.ALGORITHM_TIED)
        table = (await visitor.get("/api/weights", name="test"))["weights"]
        shown = await visitor.get("/api/learner", name="test")
        automata = await visitor.get("/api/automata", name="test")
    assert table["row_kind"] == "context"
    assert table["columns"] == [*shown["experts"], *shown["derived"]]
    assert table["counts"] == sorted(table["counts"], reverse=True)
    for row in table["probabilities"]:
        assert sum(row) == pytest.approx(1, abs=1e-2)
    assert "vote" in shown["derived"]
    assert automata["automata"] == []


async def test_an_algorithm_that_cannot_tell_its_probabilities_shows_none(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 2, algorithm=spec_pb2.ALGORITHM_PERTURBED_LEADER)
        table = (await visitor.get("/api/weights", name="test"))["weights"]
    assert {value for row in table["probabilities"] for value in row} == {None}


async def test_small_automata_are_drawn_and_large_ones_counted(tmp_path):
    bigrams = spec_pb2.Gain(ngram=spec_pb2.NgramGain(order=2))
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 1, "small")
        await play(daemon, 1, "large", window=30, gain=bigrams)
        small = (await visitor.get("/api/automata", name="small"))["automata"]
        large = (await visitor.get("/api/automata", name="large"))["automata"]
    assert [(entry["name"], entry["transitions"]) for entry in small] == [("A", 12), ("A′", 12)]
    for entry in small:
        assert len(entry["drawing"]["states"]) == entry["states"] == 5
        assert len(entry["drawing"]["arcs"]) == 12
        assert [state["final"] for state in entry["drawing"]["states"]] == [False] * 4 + [True]
    assert large[0]["drawing"] is not None  # 90 transitions
    assert large[1]["transitions"] > 160
    assert large[1]["drawing"] is None


async def test_the_store_shows_commits_journal_and_snapshots(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        await play(daemon, 5)
        before = await visitor.get("/api/store")
        await daemon.app.registry.find("test").snapshot()
        after = await visitor.get("/api/store")
    assert before["journal_entries"] >= 10
    assert before["learners"][0]["snapshot_age_s"] is None
    assert sum(bucket["count"] for bucket in before["commit_seconds"]) == before["commits"]
    assert sum(bucket["count"] for bucket in before["commit_entries"]) == before["commits"]
    assert (before["failures"], before["takes_more"]) == (0, True)
    assert after["journal_entries"] == 0
    assert after["learners"][0]["snapshot_bytes"] > 0


async def test_looking_changes_no_digest(tmp_path):
    async with serving(tmp_path / "seen") as daemon, visiting(daemon) as visitor:
        for first in range(0, 12, 3):
            await play(daemon, 3, first=first)
            for path in ("learner", "utterances", "weights", "automata"):
                await visitor.get(f"/api/{path}", name="test")
            async with visitor.listen(learner="test") as news:
                await anext(news)
        seen = await daemon.digest()
    async with serving(tmp_path / "unseen") as daemon:
        for first in range(0, 12, 3):
            await play(daemon, 3, first=first)
        unseen = await daemon.digest()
    assert seen == unseen


async def test_what_is_not_there_is_said_so(tmp_path):
    async with serving(tmp_path) as daemon, visiting(daemon) as visitor:
        for path in ("learner", "utterances", "weights", "automata"):
            status, body = await visitor.ask(f"/api/{path}", name="nobody")
            assert status == 404
            assert "nobody" in body["problem"]["message"]
        status, _ = await visitor.ask("/api/learner", name="not a name")
        assert status == 400


async def test_a_long_history_stays_bounded_and_keeps_its_beginning_and_end(tmp_path):
    async with serving(tmp_path) as daemon:
        await play(daemon, 1)
        curve = Curve(daemon.app.registry.find("test"))
        taken = 0
        for lessons in range(1, 20_001):
            curve.learner.rounds.lessons = lessons
            if curve.is_due():
                taken += 1
                curve.add(
                    Sample(lessons, 0.0, None, None, None)  # the bound is unknown
                )
        curve.learner.rounds.lessons = 1
    assert len(curve.samples) <= MOST_SAMPLES
    assert taken < 2000
    columns = curve_to_json(curve, None)["lessons"]
    assert columns == sorted(columns)
    assert columns[0] <= 256
    assert columns[-1] > 19_800
