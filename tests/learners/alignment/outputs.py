"""Utterances for the tests of the alignment: engines that err in the usual ways."""

from hypothesis import strategies as st

from galloon.learners.observation import ExpertOutput, Utterance, Word

VOCABULARY = "the whale whales white a ship shipwreck sea seas of off thewhale call me".split()


def utterance(*texts, target=None, confidences=None):
    """One expert per text, called e0, e1, ..."""
    outputs = tuple(
        ExpertOutput(
            f"e{i}",
            tuple(Word(word, None if confidences is None else confidences[i]) for word in text.split()),
        )
        for i, text in enumerate(texts)
    )
    return Utterance("u", outputs, target)


@st.composite
def utterances(draw, most_experts=5, most_words=7, times=False):
    """A sentence and what several engines made of it: words lost, added, changed, glued."""
    truth = draw(st.lists(st.sampled_from(VOCABULARY), max_size=most_words))
    outputs = []
    for i in range(draw(st.integers(1, most_experts))):
        words = []
        for word in truth:
            match draw(st.sampled_from("keep keep keep keep lose change add glue".split())):
                case "keep":
                    words.append(word)
                case "change":
                    words.append(draw(st.sampled_from(VOCABULARY)))
                case "add":
                    words.extend([word, draw(st.sampled_from(VOCABULARY))])
                case "glue" if words:
                    words[-1] += word
        timed = times and draw(st.booleans())
        scale = draw(st.sampled_from([1.0, 1.0, 2.5]))
        outputs.append(
            ExpertOutput(
                f"e{i}",
                tuple(
                    Word(
                        word,
                        draw(st.sampled_from([None, 0.25, 0.5, 0.75, 1.0])),
                        scale * p if timed else None,
                        scale * (p + 1) if timed else None,
                    )
                    for p, word in enumerate(words)
                ),
            )
        )
    return Utterance("u", tuple(outputs), " ".join(truth))


def columns(network):
    """The slots as texts: one tuple per slot, in the order of the experts' names."""
    order = sorted(range(len(network.experts)), key=lambda j: network.experts[j])
    return [tuple(network.vocabulary[row[j]] for j in order) for row in network.tokens]
