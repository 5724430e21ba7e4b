"""How many utterances a second one core aligns: 5 experts x 20 words, and lines of 60 characters.

`figures` returns the rates, normalising and numbering of tokens included. CPU time of this process, so that a
busy machine slows the figure less; the best of several rounds. Run: `python -m bench.alignment`.
"""

import json
import random
import time

from galloon.learners.alignment import align
from galloon.learners.observation import ExpertOutput, Utterance, Word
from galloon.learners.unit import CHAR, WORD

EXPERTS, WORDS, ERROR_SHARE = 5, 20, 0.15
UTTERANCES, ROUNDS = 300, 7
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo qu".split()


def figures() -> dict[str, float]:
    """Utterances per second by unit, with and without times."""
    plain = _utterances(timed=False)
    timed = _utterances(timed=True)
    return {
        "alignment_words_per_s": _rate(plain, WORD),
        "alignment_timed_words_per_s": _rate(timed, WORD),
        "alignment_chars_per_s": _rate(plain, CHAR),
    }


def _rate(utterances, unit):
    for utterance in utterances[:10]:
        align(utterance, unit)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for utterance in utterances:
            align(utterance, unit)
        best = min(best, time.process_time() - start)
    return round(len(utterances) / best)


def _utterances(*, timed):
    """Every expert repeats a random sentence with its own errors: words lost, changed by a letter, replaced."""
    draw = random.Random(1)
    lexicon = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(2000)]
    result = []
    for number in range(UTTERANCES):
        truth = draw.choices(lexicon, k=WORDS)
        outputs = []
        for expert in range(EXPERTS):
            words = []
            for place, true_word in enumerate(truth):
                luck = draw.random() / ERROR_SHARE
                if luck < 0.2:
                    continue
                word = true_word
                if luck < 0.6:
                    word = true_word[:-1] + draw.choice("aeiou")
                elif luck < 1.0:
                    word = draw.choice(lexicon)
                span = (float(place), place + 1.0) if timed else (None, None)
                words.append(Word(word, draw.random(), *span))
            outputs.append(ExpertOutput(f"expert{expert}", tuple(words)))
        result.append(Utterance(str(number), tuple(outputs)))
    return result


if __name__ == "__main__":
    print(json.dumps(figures(), indent=2))
