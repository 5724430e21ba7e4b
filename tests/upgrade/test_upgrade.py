"""The harness that compares two versions, played with one: it finds nothing, and what is planted it finds."""

import json
import math
from pathlib import Path

import pytest

from tests.upgrade import sides, vocabulary
from tests.upgrade.__main__ import library_differences
from tests.upgrade.difference import differences, first_difference
from tests.upgrade.intended import NOTHING, intended_since
from tests.upgrade.material import NEWER, conversations, games
from tests.upgrade.player import play
from tests.upgrade.sides import NEW, Side
from tests.upgrade.stores import daemon_differences

GAMES = {game["name"]: game for game in games(3)}
SOME = ["default, texts, full, best", "default, lattices, bandit, sample", "com_band, automaton, ngram"]


def lines(game):
    return [json.dumps(event) + "\n" for event in play(game)]


def test_a_version_plays_as_itself(tmp_path):
    """In processes of their own, as two versions do."""
    assert not library_differences(Side("old", NEW.python), NEW, [GAMES[name] for name in SOME], tmp_path)


def test_a_store_is_gone_on_with(tmp_path):
    """Through real daemons: one begins, is killed, and two go on with copies of its store, equal to the bit."""
    played = [game for game in conversations(8, 6) if game["name"] in SOME]
    assert not daemon_differences(Side("old", NEW.python), NEW, played, tmp_path, shared=True)
    events = [
        json.loads(line) for line in (tmp_path / "new-goes-on" / "go_on.jsonl").read_text().splitlines()
    ]
    assert sum(event.get("repeated", False) for event in events if event["event"] == "choice") == 8 * len(
        played
    )
    assert {"digest", "state_digest"} <= {
        key for event in events if event["event"] == "facts" for key in event
    }


@pytest.mark.parametrize("name", SOME)
def test_every_kind_of_event_is_written_down(name):
    events = {event["event"] for event in play(GAMES[name])}
    assert events >= {"choice", "lesson", "statistics", "weights"}


def test_feedback_is_late_missing_and_of_every_kind():
    rounds = [each for game in games(30) for each in game["rounds"]]
    assert {each["feedback"] for each in rounds} == {"true_text", "true_tokens", "shown_gains", "score"}
    assert {0, 70, None} <= {each["delay"] for each in rounds}


def test_one_bit_of_one_number_is_noticed_and_named(monkeypatch):
    """A lesson whose gain is the next number that a float can be."""
    before = lines(GAMES[SOME[0]])
    told = vocabulary.lesson
    monkeypatch.setattr(
        vocabulary,
        "lesson",
        lambda learned: {**told(learned), "gain": math.nextafter(learned.gain, 99).hex()},
    )
    found = first_difference(before, lines(GAMES[SOME[0]]))
    assert "event lesson" in found
    assert "gain: old" in found


def test_every_game_that_differs_is_named_and_those_that_changed_on_purpose_are_not():
    old = [json.dumps({"game": name, "event": "choice", "text": "a"}) for name in ("one", "two", "three")]
    new = [line.replace('"a"', '"b"') for line in old[:2]] + old[2:]
    found = differences(old, new)
    assert [("game one" in each, "game two" in each) for each in found] == [(True, False), (False, True)]
    assert not differences(old, new, changed=("on", "two"))


def test_another_draw_is_noticed():
    game = GAMES["expanded_hedge, slot_match, sample"]
    other = {**game, "spec": {**game["spec"], "seed": 1}}
    assert "event choice" in first_difference(lines(game), lines(other))


def test_what_changed_on_purpose_is_not_compared_with_commits_before_the_change_alone():
    event = {"event": "statistics", "bound": "0x1p+0", "gain": "0x1p+0"}
    before, after = json.dumps(event), json.dumps({**event, "bound": "0x1p+1"})
    assert "bound" in first_difference([before], [after])
    assert not first_difference([before], [after], intended_since("b51cea8^").fields)
    assert first_difference([before], [after], intended_since("HEAD").fields)


def test_every_change_on_purpose_names_a_commit_of_this_history():
    assert intended_since("HEAD") == NOTHING


def test_a_commit_that_git_does_not_know_is_not_taken_for_one_before_a_change():
    with pytest.raises(LookupError, match="0123abc"):
        intended_since("0123abc")


def test_a_record_that_ends_early_is_noticed():
    game = lines(GAMES[SOME[0]])
    assert "the new side ended here" in first_difference(game, game[:-1])
    assert not first_difference(game, game)


def test_a_side_that_cannot_play_is_not_taken_for_an_equal_one(tmp_path):
    unable = Side("old", Path("/bin/false"))
    assert "could not play" in library_differences(unable, NEW, [GAMES[SOME[0]]], tmp_path)[0]


def test_the_material_names_no_learner_twice():
    names = [game["name"] for game in games(3)]
    assert len(set(names)) == len(names)


def test_every_algorithm_of_the_catalogue_is_played():
    algorithms = vocabulary.find("learners.combiners.spec:ALGORITHMS")
    assert {game["spec"]["algorithm"] for game in GAMES.values()} == set(algorithms) - NEWER


def test_this_commit_shares_its_own_stores():
    assert sides.shares_stores("HEAD")


def test_stores_are_shared_with_a_commit_whose_golden_one_has_another_name_here():
    """The store of the first history format was called format3 when it was made."""
    assert sides.shares_stores("33ffa60")
