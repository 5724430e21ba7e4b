"""Plays games through a daemon with this environment's client: `python -m tests.upgrade.conversation`.

`begin` creates a learner for each game and plays the first rounds; some feedback is still due when it ends.
`go_on` comes back to the same learners, perhaps with another version's daemon: it asks everything again, which
must change nothing, gives the feedback that was due, and plays the next rounds.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.upgrade import vocabulary
from tests.upgrade.player import Event, feedback_of

STEADY_LOOKS = 10


def main(phase: str, address: str, material: str, answers: str, digests: str) -> None:
    games = json.loads(Path(material).read_text(encoding="utf-8"))
    client = vocabulary.connect(address)
    with client, Path(answers).open("w", encoding="utf-8") as lines:
        for game in games:
            played = _Played(client, game, with_digests=digests == "digests")
            for event in played.begin() if phase == "begin" else played.go_on():
                lines.write(json.dumps({"game": game["name"], **event}, sort_keys=True) + "\n")
        rates = _error_rates(client)
        for game in games:
            counted = {"game": game["name"], "event": "error rates", "rates": rates[_learner_name(game)]}
            lines.write(json.dumps(counted, sort_keys=True) + "\n")


class _Played:
    """One game on one learner."""

    def __init__(self, client: Any, game: Mapping[str, Any], with_digests: bool) -> None:
        self._client, self._with_digests = client, with_digests
        self._spec, self._rounds = vocabulary.make_spec(game["spec"]), game["rounds"]
        self._before: int = game["before"]  # rounds of the beginning
        self._name = _learner_name(game)
        self._due: dict[
            int, list[tuple[int, list[str]]]
        ] = {}  # what was shown, by the round after which truth comes

    def begin(self) -> Iterator[Event]:
        with self._client.stream(self._name, self._spec, alternatives=True) as stream:
            for number in range(self._before):
                yield from self._round(stream, number)
                if number == self._before // 3:
                    self._client.snapshot_learner(self._name)
        yield self._facts()

    def go_on(self) -> Iterator[Event]:
        yield self._facts()
        with self._client.stream(self._name, alternatives=True) as stream:
            for number in range(self._before):
                yield from self._round(stream, number)
            yield self._facts()
            for number in range(self._before, len(self._rounds)):
                yield from self._round(stream, number)
        yield self._facts()
        told = self._client.explain(self._name, _id(len(self._rounds) - 1))
        yield {"event": "explanation", **vocabulary.answered_explanation(told)}

    def _round(self, stream: Any, number: int) -> Iterator[Event]:
        each = self._rounds[number]
        made = stream.choose(vocabulary.question(_id(number), each["said"]))
        yield {"event": "choice", **vocabulary.answered_choice(made)}
        if each["delay"] is not None:
            self._due.setdefault(number + each["delay"], []).append((number, list(made.tokens)))
        for first, shown in self._due.pop(number, []):
            yield from self._learn(stream, first, shown)

    def _learn(self, stream: Any, number: int, shown: list[str]) -> Iterator[Event]:
        for kind, value in feedback_of(self._rounds[number], shown):
            try:
                learned = stream.learn(_id(number), vocabulary.feedback(kind, value))
            except vocabulary.RefusedByDaemon:
                yield {"round": number, "event": "refusal", "feedback": kind}
            else:
                yield {"event": "lesson", "feedback": kind, **vocabulary.answered_lesson(learned)}
                return

    def _facts(self) -> Event:
        info = self._client.get_learner(self._name)
        return {"event": "facts", **vocabulary.learner_facts(info, self._with_digests)}


def _error_rates(client: Any) -> dict[str, Any]:
    """Those of all learners. A daemon counts errors beside its other work: wait until it has counted them all."""
    names = [info.name for info in client.list_learners()]
    unchanged, found = 0, {}
    while unchanged < STEADY_LOOKS:
        before, found = found, {name: vocabulary.error_rates(client.get_learner(name)) for name in names}
        unchanged = unchanged + 1 if found == before else 0
        time.sleep(0.1)
    return found


def _learner_name(game: Mapping[str, Any]) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in game["name"])


def _id(number: int) -> str:
    return f"u{number}"


if __name__ == "__main__":
    main(*sys.argv[1:])
