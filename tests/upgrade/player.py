"""Plays games in the environment that runs it and writes down every answer: `python -m tests.upgrade.player`.

Reads the material from a JSON file, writes one JSON line for each event (choice, lesson, refusal, statistics) to
another. Half way each combiner is written to bytes and read back by a new one, as a restart would do.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.upgrade import vocabulary

Event = dict[str, Any]


def main(material: str, answers: str) -> None:
    games = json.loads(Path(material).read_text(encoding="utf-8"))
    with Path(answers).open("w", encoding="utf-8") as lines:
        for game in games:
            for event in play(game):
                lines.write(json.dumps({"game": game["name"], **event}, sort_keys=True) + "\n")


def play(game: Mapping[str, Any]) -> Iterator[Event]:
    """Every answer of one game, in order."""
    combiner = vocabulary.build(game["spec"])
    rounds, due = game["rounds"], {}  # by the round after which it comes: what was chosen, and its feedback
    for number, each in enumerate(rounds):
        said = vocabulary.observation(number, each["said"])
        made = combiner.choose(said, number)
        yield {"round": number, "event": "choice", **vocabulary.choice(made)}
        if each["delay"] is not None:
            due.setdefault(number + each["delay"], []).append((number, each, made, combiner))
        for late in due.pop(number, []):
            yield from _learn(combiner, *late)
        if number % 10 == 9:
            yield {
                "round": number,
                "event": "explanation",
                "slots": vocabulary.explanation(combiner, made.memory),
            }
        if number == len(rounds) // 2:
            yield {"round": number, "event": "statistics", **vocabulary.statistics(combiner)}
            data, combiner = combiner.to_bytes(), vocabulary.build(game["spec"])
            combiner.restore(data)
    for late in (each for after in sorted(due) for each in due[after]):
        yield from _learn(combiner, *late)
    yield {"round": len(rounds), "event": "statistics", **vocabulary.statistics(combiner)}
    yield {"round": len(rounds), "event": "weights", **vocabulary.weights(combiner)}


def _learn(combiner: Any, number: int, told: Mapping[str, Any], made: Any, maker: Any) -> Iterator[Event]:
    """The lesson; what is refused first is an answer too. Warm views are given back for two rounds of three."""
    warm = combiner is maker and number % 3 > 0
    for kind, value in feedback_of(told, [token.text for token in made.tokens]):
        try:
            learned = vocabulary.learn(combiner, made, vocabulary.feedback(kind, value), warm)
        except vocabulary.Refusal:
            yield {"round": number, "event": "refusal", "feedback": kind}
        else:
            yield {"round": number, "event": "lesson", "feedback": kind, **vocabulary.lesson(learned)}
            return


def feedback_of(told: Mapping[str, Any], shown: list[str]) -> Iterator[tuple[str, Any]]:
    """Feedback of the kind that is wanted, until one is taken; at last the true text.

    Nobody but the learner knows how many transitions its shown path has: the number of slots, of all slots of
    its windows, or less by what a gain looks back; each is tried.
    """
    truth: list[str] = told["truth"]
    known = set(truth)
    match told["feedback"]:
        case "true_tokens":
            yield "true_tokens", truth
        case "score":
            yield "score", told["score"]
        case "shown_gains":
            gains = [0.5 if token in known else 0.0 for token in shown]
            for longer in range(-3, 6):
                yield "shown_gains", (gains + [0.0] * longer)[: max(0, len(gains) + longer)]
    yield "true_text", " ".join(token for token in truth if token)


if __name__ == "__main__":
    main(*sys.argv[1:])
