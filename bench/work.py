"""The work that servers are measured by: utterances of 5 experts x 20 words, each with its feedback.

`rounds` makes requests as bytes, so that the load itself costs as little as it can: aligned slots with true
tokens, or plain texts with a true text.
"""

from dataclasses import dataclass
from random import Random

from galloon.codec.request import feedback_request, open_request, utterance_request
from galloon.learners.combiners.contract import TrueText, TrueTokens
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance

EXPERTS = ("tesseract", "whisper", "vosk", "kaldi", "kraken")
SLOTS = 20
WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "and", "runs", "away", "")
SPEC = CombinerSpec(
    engines=EXPERTS, algorithm="expanded_hedge", gain={"kind": "ngram", "order": 2}, window=8, seed=1
)
DEFAULT = CombinerSpec(
    engines=EXPERTS, decide="best"
)  # what a learner is that is given nothing but its engines


@dataclass(frozen=True, slots=True)
class Round:
    """One utterance and its feedback, as bytes of the wire."""

    id: str
    utterance: bytes
    feedback: bytes


def rounds(prefix: str, count: int, plain_text: bool = False) -> list[Round]:
    """Rounds whose ids start with the prefix; experts are right four times of five."""
    random, made = Random(prefix), []
    for number in range(count):
        id_ = f"{prefix}-{number}"
        truth = tuple(random.choices(WORDS, k=SLOTS))
        offers = {
            name: tuple(word if random.random() < 0.8 else random.choice(WORDS) for word in truth)
            for name in EXPERTS
        }
        if plain_text:
            texts = {name: " ".join(filter(None, words)) for name, words in offers.items()}
            utterance = utterance_request(Utterance.of_texts(id_, texts))
            feedback = feedback_request(id_, TrueText(" ".join(filter(None, truth))))
        else:
            utterance = utterance_request(Utterance.of_slots(id_, offers))
            feedback = feedback_request(id_, TrueTokens(truth))
        made.append(Round(id_, utterance.SerializeToString(), feedback.SerializeToString()))
    return made


def opening(learner: str, spec: CombinerSpec = SPEC) -> bytes:
    return open_request(learner, spec, alternatives=False, unsure_ids=()).SerializeToString()
