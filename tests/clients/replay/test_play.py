"""A replay is strictly progressive: no choice knows more, or less, than the lessons before it."""

from pathlib import Path

from galloon.clients.api.client import Client
from galloon.clients.replay.material import read_material
from galloon.clients.replay.play import play
from galloon.learners.combiners.spec import CombinerSpec
from tests.clients.replays import cats

SPEC = CombinerSpec(engines=("a", "b", "c"), algorithm="expanded_hedge", normalizer="basic")


async def test_every_choice_knows_all_lessons_before_it(client: Client, name: str, tmp_path: Path):
    utterances = read_material(cats(tmp_path / "u.jsonl", 9)).utterances
    played = await play(client, name, utterances, SPEC)
    assert [round_.choice.lessons for round_ in played.rounds] == list(range(9))
    assert [round_.lesson.lessons for round_ in played.rounds] == list(range(1, 10))
    assert played.gain == played.statistics.gain
    assert played.opened.created


async def test_played_again_the_same_ids_are_new_rounds(client: Client, name: str, tmp_path: Path):
    utterances = read_material(cats(tmp_path / "u.jsonl", 3)).utterances
    await play(client, name, utterances, SPEC)
    again = await play(client, name, utterances, None)
    assert [round_.choice.lessons for round_ in again.rounds] == [3, 4, 5]
    assert not any(round_.choice.repeated_answer for round_ in again.rounds)
