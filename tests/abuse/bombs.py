"""Requests that are small to send and huge to honour: `BOMBS`, each to be refused, or to be done within its
budget.

A bomb is a learner's spec, or what is said to a learner that exists. `budget` says what the daemon must do
with it: REFUSED names the codes that are right; HONOURED means that the request is legal and must stay cheap.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import grpc

from galloon.v1 import combine_pb2 as wire
from galloon.v1 import spec_pb2 as spec
from galloon.v1 import utterance_pb2 as said

LIMIT, INVALID = grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT
OK = grpc.StatusCode.OK
EXPERTS = ("ann", "bob", "cy")
MESSAGE_BYTES = 1_000_000  # a little less than the default limit


@dataclass(frozen=True, slots=True)
class Bomb:
    """`make` gives the request: a LearnerSpec, or messages for a stream on the learner `learner`."""

    name: str
    make: Callable[[], Any]
    codes: tuple[grpc.StatusCode, ...]
    learner: str = "words"


LEARNERS = {
    "words": spec.LearnerSpec(engines=EXPERTS, algorithm=spec.ALGORITHM_EXPANDED_HEDGE, window=8),
    "letters": spec.LearnerSpec(
        engines=EXPERTS, algorithm=spec.ALGORITHM_EXPANDED_HEDGE, window=8, unit=spec.UNIT_CHAR
    ),
    "crowd": spec.LearnerSpec(
        engines=[f"e{n}" for n in range(64)], algorithm=spec.ALGORITHM_EXPANDED_HEDGE, window=8
    ),
    "tied": spec.LearnerSpec(engines=EXPERTS),
    "english": spec.LearnerSpec(
        engines=EXPERTS, algorithm=spec.ALGORITHM_EXPANDED_HEDGE, window=8, normalizer="english"
    ),
    "automaton": spec.LearnerSpec(automaton="0 1 a\n0 1 b\n1\n", algorithm=spec.ALGORITHM_EXPANDED_HEDGE),
}


def _spec(**changes: Any) -> spec.LearnerSpec:
    values: dict[str, Any] = {"engines": EXPERTS, "algorithm": spec.ALGORITHM_EXPANDED_HEDGE, "window": 60}
    return spec.LearnerSpec(**values | changes)


def _regex(expression: str) -> spec.LearnerSpec:
    return _spec(gain=spec.Gain(regex=spec.RegexGain(expression=expression)))


def _patterns(count: int, length: int) -> spec.LearnerSpec:
    patterns = [
        spec.Pattern(tokens=[f"w{(n * 31 + k * 7) % 97}" for k in range(length)]) for n in range(count)
    ]
    return _spec(gain=spec.Gain(patterns=spec.PatternsGain(patterns=patterns)))


def _layers(layers: int, width: int, order: int) -> spec.LearnerSpec:
    """An explicit automaton whose layers are connected completely."""
    lines, number = [], 0
    for layer in range(layers):
        for source in range(width if layer else 1):
            for target in range(width):
                start = 1 + (layer - 1) * width + source if layer else 0
                lines.append(f"{start} {1 + layer * width + target} t{number}")
                number += 1
    lines += [str(1 + (layers - 1) * width + target) for target in range(width)]
    gain = spec.Gain(ngram=spec.NgramGain(order=order))
    return spec.LearnerSpec(automaton="\n".join(lines), algorithm=spec.ALGORITHM_EXPANDED_HEDGE, gain=gain)


def _chain(states: int) -> spec.LearnerSpec:
    text = "\n".join(f"{n} {n + 1} t{n}" for n in range(states)) + f"\n{states}"
    return spec.LearnerSpec(automaton=text, algorithm=spec.ALGORITHM_EXPANDED_HEDGE)


def _outputs(words: dict[str, list[str]]) -> said.Utterance:
    outputs = [said.EngineOutput(engine=name, words=given) for name, given in words.items()]
    return said.Utterance(id="bomb", outputs=said.EngineOutputs(engines=outputs))


def _lattice(states: int, arcs: list[tuple[int, int, str]]) -> said.Utterance:
    sources, targets, words = zip(*arcs, strict=True)
    lattice = said.Lattice(
        state_count=states,
        finals=[states - 1],
        sources=sources,
        targets=targets,
        words=words,
        log_scores=[-1.0] * len(arcs),
    )
    others = [said.EngineOutput(engine=name, words=["a"]) for name in EXPERTS[1:]]
    first = said.EngineOutput(engine=EXPERTS[0], lattice=lattice)
    return said.Utterance(id="bomb", outputs=said.EngineOutputs(engines=[first, *others]))


def _taught(text: str) -> list[Any]:
    return [_outputs({name: ["a", "b"] for name in EXPERTS}), wire.Feedback(id="bomb", true_text=text)]


def _diamonds() -> said.Utterance:
    """A chain of forks: 2 to the power of 20,000 paths in 40,000 arcs."""
    return _lattice(20_001, [(n, n + 1, word) for n in range(20_000) for word in ("a", "b")])


def _twice_named() -> said.Utterance:
    names = [f"{n:x}" for n in range(100_000)]
    return said.Utterance(
        id="bomb", named_tokens=said.NamedTokens(names=[*names, names[-1]], tokens=["x"] * (len(names) + 1))
    )


def _bombs() -> Iterator[Bomb]:
    many = [f"e{n}" for n in range(64)]
    for order in (5, 9, 20, 60):
        gain = spec.Gain(ngram=spec.NgramGain(order=order))
        yield Bomb(f"r^n, n={order}", lambda gain=gain: _spec(engines=many, gain=gain), (LIMIT, INVALID))
    yield Bomb("the longest window", lambda: _spec(engines=many, window=4096), (OK, LIMIT))
    for lengths, gap in (([4], 40), ([2, 3, 4, 5, 6, 7, 8], 59), ([30], 2)):
        gappy = spec.Gain(gappy=spec.GappyGain(lengths=lengths, max_gap=gap))
        yield Bomb(f"gaps, {lengths} within {gap}", lambda gappy=gappy: _spec(gain=gappy), (LIMIT, INVALID))
    yield Bomb("patterns, 4,000 of 50", lambda: _patterns(4000, 50), (OK, LIMIT, INVALID))
    yield Bomb("patterns, 60,000 of 3", lambda: _patterns(60_000, 3), (OK, LIMIT, INVALID))
    for n in range(1, 41):
        yield Bomb(f"(a|b)*a(a|b)^{n}", lambda n=n: _regex("(a|b)*" + "a" + "(a|b)" * n), (LIMIT, INVALID))
    for n in (5, 20, 40):
        short = "(a|b)?" * n + "a" + "(a|b)" * n
        yield Bomb(f"(a|b)?^{n} a (a|b)^{n}", lambda short=short: _regex(short), (OK, LIMIT, INVALID))
    yield Bomb(
        "parentheses, 100,000 deep", lambda: _regex("(" * 100_000 + "a" + ")" * 100_000), (INVALID, LIMIT)
    )
    yield Bomb("an expression of 300,000 letters", lambda: _regex("a" * 300_000), (OK, INVALID, LIMIT))
    yield Bomb("300,000 alternatives", lambda: _regex("|".join("ab" * 150_000)), (OK, INVALID, LIMIT))
    yield Bomb("complete layers", lambda: _layers(10, 60, 5), (LIMIT, INVALID))
    yield Bomb("a chain of 50,000 states", lambda: _chain(50_000), (OK, LIMIT, INVALID))
    yield Bomb(
        "100,000 derived experts", lambda: _spec(derived=[f"d{n}" for n in range(100_000)]), (INVALID, LIMIT)
    )
    yield Bomb(
        "60,000 options", lambda: _spec(options={f"o{n}": 1.0 for n in range(60_000)}), (LIMIT, INVALID)
    )
    yield Bomb(
        "numbers at the edge",
        lambda: _spec(horizon=2**64 - 1, learning_rate=1e308, gain_bound=1e308),
        (OK, INVALID),
    )
    # What is said.
    yield Bomb(
        "64 experts of 1,400 words",
        lambda: _outputs(
            {name: [f"{(n * 7 + k) % 5000:x}" for k in range(1400)] for n, name in enumerate(many)}
        ),
        (OK, LIMIT),
        "crowd",
    )
    yield Bomb(
        "3 experts of 4,096 other words",
        lambda: _outputs({name: [f"{name}{k}" for k in range(4096)] for name in EXPERTS}),
        (OK, LIMIT),
    )
    yield Bomb(
        "3 words of 300,000 letters",
        lambda: _outputs({n: [n[0] * 300_000] for n in EXPERTS}),
        (OK, LIMIT, INVALID),
    )
    yield Bomb(
        "3 words of 300,000 letters, by letter",
        lambda: _outputs({n: [(n + "xyz") * 50_000] for n in EXPERTS}),
        (OK, LIMIT, INVALID),
        "letters",
    )
    yield Bomb(
        "64 experts of 4,000 words",
        lambda: _outputs(
            {name: [chr(97 + (n * 7 + k * k) % 26) for k in range(4000)] for n, name in enumerate(many)}
        ),
        (OK, LIMIT),
        "crowd",
    )
    yield Bomb("a lattice of forks", _diamonds, (OK, LIMIT, INVALID))
    yield Bomb("a lattice of forks, tied", _diamonds, (OK, LIMIT, INVALID), "tied")
    yield Bomb(
        "a complete lattice",
        lambda: _lattice(300, [(i, j, "abc"[(i + j) % 3]) for i in range(300) for j in range(i + 1, 300)]),
        (OK, LIMIT, INVALID),
    )
    yield Bomb(
        "a cyclic lattice", lambda: _lattice(3, [(0, 1, "a"), (1, 0, "b"), (1, 2, "c")]), (OK, INVALID)
    )
    yield Bomb("a name twice among 100,000", _twice_named, (INVALID, LIMIT), "automaton")
    yield Bomb("a truth of 200,000 words", lambda: _taught("word " * 200_000), (OK, LIMIT, INVALID))
    yield Bomb("a truth of one word", lambda: _taught("x" * MESSAGE_BYTES), (OK, LIMIT, INVALID))
    yield Bomb("a truth by letter", lambda: _taught("word " * 200_000), (OK, LIMIT, INVALID), "letters")
    yield Bomb(
        "a truth in numbers",
        lambda: _taught("one hundred million " * 50_000),
        (OK, LIMIT, INVALID),
        "english",
    )
    yield Bomb("a truth that swells", lambda: _taught("\ufdfa" * 300_000), (OK, LIMIT, INVALID), "english")
    yield Bomb("a truth for a tied learner", lambda: _taught("word " * 200_000), (OK, LIMIT, INVALID), "tied")
    # Just within the limits.
    for learner in ("words", "letters", "english", "tied"):
        yield Bomb(
            f"the longest true text, {learner}",
            lambda: _taught("one hundred " * 10_900),
            (OK, LIMIT, INVALID),
            learner,
        )
    for learner in ("words", "tied"):
        yield Bomb(
            f"the longest line, {learner}",
            lambda: _outputs(
                {name: [f"w{(k * k + n) % 600:x}" for k in range(4000)] for n, name in enumerate(EXPERTS)}
            ),
            (OK, LIMIT),
            learner,
        )


BOMBS = tuple(_bombs())
