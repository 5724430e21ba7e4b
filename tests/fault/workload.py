"""The work that is interrupted: learners, and streams that keep them busy and log what they see.

The default learner on everything that engines can say, and the paper's learners in every setting.

Utterances, truths and feedback are functions of the id alone (and of what was shown), so a log of ids is enough to
play everything again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from galloon.clients.api.client import Client
from galloon.clients.api.errors import ChoiceReplaced, FateUnknown, NotFound
from galloon.clients.api.stream import CombineStream, StreamOptions
from galloon.codec.answer import Choice, Lesson
from galloon.learners.combiners.contract import Feedback, Score, ShownGains, TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from tests.engines import ENGINES, FORMS, WORDS

IN_FLIGHT = 16
WITHOUT_FEEDBACK, WITH_DELAY, TWICE = 0.1, 0.2, 0.05  # shares of rounds


@dataclass(frozen=True, slots=True)
class Post:
    """A learner, the streams on it, the slots of its utterances, how they are judged, and what engines say."""

    name: str
    spec: CombinerSpec
    streams: int
    slots: int
    judge: Callable[[tuple[str, ...], Choice], Feedback]
    form: str = "slots"

    @property
    def judges_the_shown(self) -> bool:
        """Whether feedback is about the tokens that were shown, and worth nothing for others."""
        return self.judge not in {tell_all, tell_text}


def tell_text(truth: tuple[str, ...], choice: Choice) -> Feedback:
    del choice
    return TrueText(" ".join(word for word in truth if word))


def tell_all(truth: tuple[str, ...], choice: Choice) -> Feedback:
    del choice
    return TrueTokens(truth)


def tell_shown(truth: tuple[str, ...], choice: Choice) -> Feedback:
    return ShownGains(tuple(float(right) for right in _right(truth, choice)))


def tell_score(truth: tuple[str, ...], choice: Choice) -> Feedback:
    return Score(sum(_right(truth, choice)) / len(truth))


def _right(truth: tuple[str, ...], choice: Choice) -> list[bool]:
    """Of each shown token; in slots that the daemon has made, whether it was said at all."""
    if len(choice.tokens) != len(truth):
        return [token in truth for token in choice.tokens]
    return [shown == true for shown, true in zip(choice.tokens, truth, strict=True)]


BIGRAMS = {"kind": "ngram", "order": 2}
POSTS = (
    Post("texts", CombinerSpec(ENGINES, decide="best"), 2, 12, tell_text, "texts"),
    Post("nbest", CombinerSpec(ENGINES, seed=5), 1, 8, tell_text, "nbest"),
    Post("lattices", CombinerSpec(ENGINES, decide="best"), 1, 8, tell_text, "lattices"),
    Post("characters", CombinerSpec(ENGINES, decide="best", unit="char"), 1, 4, tell_text, "texts"),
    Post("labels", CombinerSpec(ENGINES, labels=("page",), seed=6), 1, 8, tell_text, "labelled"),
    Post("shown", CombinerSpec(ENGINES, setting="semi", seed=7), 1, 6, tell_shown, "texts"),
    Post("hedge", CombinerSpec(ENGINES, "expanded_hedge", BIGRAMS, window=8, seed=1), 2, 20, tell_all),
    Post("component", CombinerSpec(ENGINES, "component_hedge", BIGRAMS, window=4, seed=2), 1, 4, tell_all),
    Post("semi", CombinerSpec(ENGINES, "semi_bandit", window=5, seed=3), 1, 5, tell_shown),
    Post(
        "bandit",
        CombinerSpec(ENGINES, "exp3_paths", {"kind": "arbitrary", "bound": 1.0}, window=5, seed=4),
        1,
        5,
        tell_score,
    ),
)


def utterance_of(post: Post, id_: str) -> Utterance:
    return FORMS[post.form](id_, truth_of(post, id_))


def truth_of(post: Post, id_: str) -> tuple[str, ...]:
    return tuple(Random(f"truth {id_}").choices(WORDS, k=post.slots))


@dataclass(slots=True)
class Log:
    """What the clients saw, by learner: feedback sent, lessons acknowledged, the choice that each judged last."""

    sent: dict[str, set[str]] = field(default_factory=lambda: {post.name: set() for post in POSTS})
    acknowledged: dict[str, dict[str, Lesson]] = field(default_factory=lambda: {p.name: {} for p in POSTS})
    judged: dict[str, dict[str, Choice]] = field(default_factory=lambda: {post.name: {} for post in POSTS})
    uncertain: dict[str, set[str]] = field(default_factory=lambda: {post.name: set() for post in POSTS})
    replaced: int = 0
    reconnects: int = 0

    @property
    def acknowledgements(self) -> int:
        return sum(map(len, self.acknowledged.values()))


async def keep_busy(
    address: str,
    post: Post,
    number: int,
    log: Log,
    stop: asyncio.Event,
    random: Random,
    pause_s: float = 0.0,
) -> None:
    """One stream with many rounds in flight, until told to stop; ends when all that it sent is answered.

    With a pause between two rounds, the daemon is at work all the time and the machine is not.
    """
    patient = StreamOptions(max_in_flight=IN_FLIGHT, timeout_s=300, open_timeout_s=300, give_up_s=300)
    async with (
        Client(address, options=patient, random=random) as client,
        client.stream(post.name, create=post.spec) as stream,
        asyncio.TaskGroup() as rounds,
    ):
        places, count = asyncio.Semaphore(IN_FLIGHT), 0
        while not stop.is_set():
            await places.acquire()
            task = rounds.create_task(_play(stream, post, f"{number}-{count}", log, random))
            task.add_done_callback(lambda _: places.release())
            count += 1
            if pause_s:
                await asyncio.sleep(pause_s)
    log.reconnects += stream.reconnects


async def _play(stream: CombineStream, post: Post, id_: str, log: Log, random: Random) -> None:
    choice = await stream.choose(utterance_of(post, id_))
    if random.random() < WITHOUT_FEEDBACK:
        return
    if random.random() < WITH_DELAY:
        await asyncio.sleep(random.uniform(0.0, 0.1))
    log.sent[post.name].add(id_)
    truth, lesson = truth_of(post, id_), None
    while lesson is None:
        log.judged[post.name][id_] = choice
        try:
            lesson = await stream.learn(id_, post.judge(truth, choice))
        except ChoiceReplaced as replaced:
            choice, log.replaced = replaced.replacement, log.replaced + 1
        except FateUnknown:
            log.uncertain[post.name].add(id_)
            return
    log.acknowledged[post.name][id_] = lesson
    if random.random() < TWICE:
        try:
            again = await stream.learn(id_, post.judge(truth, choice))
        except (NotFound, FateUnknown):
            return  # so late that the daemon has forgotten the round
        assert again.repeated_answer, f"{post.name} {id_} was learned twice"
        assert (again.round, again.gain, again.lessons) == (lesson.round, lesson.gain, lesson.lessons)
