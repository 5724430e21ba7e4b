"""The blocking client: scores instead of true texts, many utterances in flight, a look at the learner."""

import sys

from galloon import Answered, BlockingClient, Choice, Score, Spec, Utterance

SPEC = Spec(engines=("tesseract", "kraken"), algorithm="exp3_paths", gain={"kind": "arbitrary"}, window=3)


def page(number: int) -> Utterance:
    return Utterance.of_slots(
        f"line-{number}", {"tesseract": ("rn", "the", "tea"), "kraken": ("in", "the", "sea")}
    )


def judge(choice: Choice) -> float:
    """Somebody reads the line and says how good it is, from 0 to 1."""
    return sum(shown == right for shown, right in zip(choice.tokens, ("in", "the", "sea"), strict=True)) / 3


def main(address: str) -> None:
    with BlockingClient(address) as client, client.stream("example/blocking", create=SPEC) as stream:
        choices = stream.choose_each(page(number) for number in range(50))
        answers = (Answered(choice.id, Score(judge(choice))) for choice in choices)
        for lesson in stream.learn_each(answers):
            print(f"{lesson.id}: score {lesson.gain:.2f}, {lesson.total_gain:.2f} altogether")
        print(f"digest {client.get_learner('example/blocking').digest}")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["127.0.0.1:7410"])
