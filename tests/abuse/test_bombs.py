"""Requests that are small to send and huge to honour are refused with a documented code, and the daemon
goes on.
"""

from pathlib import Path

import pytest

from tests.abuse.blast import sent
from tests.abuse.bombs import BOMBS
from tests.abuse.words import has_internal_text
from tests.daemon.serving import feedback, serving, utterance

# `make fault` sends all of them to a process of its own, and measures what they cost.
HERE = [
    bomb for bomb in BOMBS if not bomb.name.startswith(("(a|b)*", "64 experts")) or bomb.name.endswith("^40")
]


async def test_every_bomb_is_refused_by_name_and_the_daemon_goes_on(tmp_path: Path):
    """By its code and a sentence; what is legal is done. A learner beside it learns as if nothing had happened."""
    async with serving(tmp_path) as daemon:
        beside = await daemon.open("beside")
        for number, bomb in enumerate(HERE):
            code, words = await sent(daemon.channel, bomb, bomb.make())
            assert code in bomb.codes, (bomb.name, code, words)
            assert not has_internal_text(words), (bomb.name, words)
            await beside.choice(utterance(number))
            assert (await beside.learned(feedback(number))).lessons == number + 1, bomb.name


@pytest.mark.parametrize(
    "words", ["Traceback (most recent", 'File "x.py"', "/site-packages/", "KeyError: 'a'"]
)
def test_internal_text_is_told_from_sentences(words: str):
    """The check that the other tests rely on can fail."""
    assert has_internal_text(words)
    assert not has_internal_text("feedback.score: nan is not a finite number")
