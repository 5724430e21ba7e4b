"""The rounds of a replay over a stream: `play`. Strictly progressive: each choice knows all lessons before it.

An utterance is sent when the lesson of the one before is learned and durable; its true text is sent when its
choice is there. Nothing is sent ahead, so what is measured is what a user would have seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from galloon.clients.api.client import Client
from galloon.clients.replay.material import shown_to_learner
from galloon.codec.answer import Choice, Lesson, Opened
from galloon.codec.explanation import Explanation
from galloon.codec.learner import Statistics
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import ALGORITHMS, CombinerSpec
from galloon.learners.observation import Utterance
from galloon.learners.paths.protocol import Setting


@dataclass(frozen=True, slots=True)
class Round:
    """One utterance, what was shown, and what was learned; no lesson where there is no true text."""

    utterance: Utterance
    choice: Choice
    lesson: Lesson | None
    explanation: Explanation | None = None  # of the one utterance that was asked about


@dataclass(frozen=True, slots=True)
class Played:
    """A run over a file. Statistics are of the learner's whole life, which may have begun before."""

    opened: Opened
    rounds: tuple[Round, ...]
    seconds: float  # from the first utterance to the last lesson
    statistics: Statistics

    @property
    def gain(self) -> float:
        return sum(round_.lesson.gain for round_ in self.rounds if round_.lesson is not None)

    @property
    def told_little(self) -> bool:
        """Whether the learner saw less than the truth."""
        spec = self.opened.spec
        return (Setting(spec.setting) if spec.setting else ALGORITHMS[spec.algorithm]) is not Setting.FULL


async def play(
    client: Client,
    name: str,
    utterances: Sequence[Utterance],
    create: CombinerSpec | None,
    *,
    alternatives: bool = False,
    explained: str | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Played:
    """Play the utterances to the learner of this name, made from the spec `create` if it is given.

    `explained` is the id of an utterance to ask about before it is learned from.
    """
    rounds = []
    async with client.stream(name, create=create, alternatives=alternatives) as stream:
        opened, labels = stream.opened, stream.opened.spec.labels
        # A learner that has played before may know the same ids: they would get their old answers.
        mark = f"@{opened.rounds_started}" if opened.rounds_started else ""
        start = perf_counter()
        for utterance in utterances:
            choice = await stream.choose(shown_to_learner(utterance, utterance.id + mark, labels))
            asked = utterance.id == explained
            why = await client.explain(name, utterance.id + mark) if asked else None
            lesson = None
            if utterance.target is not None:
                lesson = await stream.learn(utterance.id + mark, TrueText(utterance.target))
            rounds.append(Round(utterance, choice, lesson, why))
            advance()
        seconds = perf_counter() - start
    statistics = (await client.get_learner(name)).statistics
    assert statistics is not None, "one learner is always shown with its statistics"
    return Played(opened, tuple(rounds), seconds, statistics)
