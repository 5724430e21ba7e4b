"""The asynchronous client: combine three engines, learn from what was really said, survive a restart."""

import asyncio
import sys

from galloon import Client, Spec, TrueText, Utterance

SPEC = Spec(engines=("whisper", "vosk", "kaldi"), algorithm="expanded_hedge", window=4)
SPOKEN = ["call me ishmael", "some years ago", "never mind how long", "having little money"]


async def main(address: str) -> None:
    async with Client(address) as client, client.stream("example/async", create=SPEC) as stream:
        for number, spoken in enumerate(SPOKEN * 5):
            words = spoken.split()
            offers = {
                "whisper": words,
                "vosk": ["", *words[1:]],  # misses every first word
                "kaldi": [word[:3] for word in words],  # hears only beginnings
            }
            choice = await stream.choose(Utterance.of_slots(f"utterance-{number}", offers))
            lesson = await stream.learn(choice.id, TrueText(spoken))
            print(f"{choice.text!r} gained {lesson.gain:g} of {len(words)}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["127.0.0.1:7410"]))
