"""The judgement: clients, the store, the daemon and an uninterrupted run must all tell the same story."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from galloon.codec.learner import LearnerInfo
from galloon.daemon.learner.events import Chose, Taught
from galloon.v1 import combine_pb2 as wire
from tests.fault.archive import History
from tests.fault.workload import POSTS, Log


@dataclass(frozen=True, slots=True)
class Totals:
    """What was compared, summed over all learners."""

    acknowledged: int
    rounds: int
    lessons: int
    lost_and_recalled: int  # choices shown, taken by a kill and chosen anew
    uncertain: int  # feedback whose round was forgotten before its fate could be told
    archived: int
    choices_compared: int


def judge(
    log: Log,
    histories: list[History],
    shown: Mapping[str, LearnerInfo],
    replayed: Mapping[str, Mapping[str, Any]],
) -> Totals:
    """Raises AssertionError with the learner and the id where anything disagrees."""
    by_name = {history.name: history for history in histories}
    assert set(by_name) == {post.name for post in POSTS}
    totals: Counter[str] = Counter()
    for post in POSTS:
        history, info, again = by_name[post.name], shown[post.name], replayed[post.name]
        assert again["digest"] == info.digest, f"{post.name}: an uninterrupted run ends in another state"
        assert again["state_digest"] == again["state_digest_alone"] == info.state_digest, post.name
        totals += _compare(post.name, log, history, info)
        totals["choices_compared"] += again["choices_compared"]
        totals["archived"] += history.archived
    assert totals["acknowledged"] > 0, "nothing was acknowledged: the harness proved nothing"
    return Totals(**{field.name: totals[field.name] for field in fields(Totals)})


def _compare(name: str, log: Log, history: History, info: LearnerInfo) -> Counter[str]:
    taught = [event for event in history.events if isinstance(event, Taught)]
    chosen = [event for event in history.events if isinstance(event, Chose)]
    times = Counter(event.id for event in taught)
    twice = [id_ for id_, count in times.items() if count > 1]
    assert not twice, f"{name}: learned twice: {twice[:5]}"
    assert set(times) <= log.sent[name], f"{name}: learned what nobody sent"
    acknowledged = log.acknowledged[name]
    missing = [id_ for id_ in acknowledged if id_ not in times]
    assert not missing, f"{name}: acknowledged and lost: {missing[:5]}"
    # Every feedback was answered in the end, but for those whose rounds were forgotten before they could be.
    uncertain = log.uncertain[name]
    assert set(acknowledged) | uncertain == log.sent[name], f"{name}: sent and never answered"
    assert set(times) <= set(acknowledged) | uncertain, f"{name}: learned and never acknowledged"
    for place, event in enumerate(taught, start=1):
        lesson = acknowledged.get(event.id)
        number = place if lesson is None else lesson.lessons
        assert number == place, f"{name} {event.id}: acknowledged as lesson {number}, is {place}"
    numbers = [event.round_number for event in chosen]
    assert numbers == list(range(len(numbers))), f"{name}: rounds are missing or came twice"
    assert info.statistics is not None
    assert info.statistics.lessons == len(taught), name
    assert info.statistics.rounds_started == len(chosen), name
    if not uncertain:
        assert info.statistics.gain == _sum(acknowledged[event.id].gain for event in taught), name
    recalled = _recalled(name, log, {event.id: event for event in chosen})
    return Counter(
        acknowledged=len(acknowledged),
        rounds=len(chosen),
        lessons=len(taught),
        lost_and_recalled=recalled,
        uncertain=len(uncertain),
    )


def _recalled(name: str, log: Log, chosen: Mapping[str, Chose]) -> int:
    """How many judged choices differ from the durable ones; none where the judgement is about the shown path."""
    shown_judged = next(post for post in POSTS if post.name == name).judges_the_shown
    different = 0
    for id_, choice in log.judged[name].items():
        if id_ in log.uncertain[name]:
            continue
        durable = wire.CombineResponse.FromString(chosen[id_].answer).choice
        if tuple(durable.experts) != choice.experts or durable.round != choice.round:
            different += 1
        if shown_judged:
            assert tuple(durable.experts) == choice.experts, f"{name} {id_}: a score for a path nobody saw"
    return different


def _sum(gains: Any) -> float:
    """In the daemon's order of additions, to the bit."""
    total = 0.0
    for gain in gains:
        total += gain
    return total
