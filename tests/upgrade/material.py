"""What both sides play: specs, utterances and feedback as plain JSON values, in no version's vocabulary.

`games(rounds)` lists every algorithm in each of its settings, and the default learner on plain texts, n-best
lists, lattices, slots, characters and labels. Real engines' words come from the bundled sample, read here as JSON
so that no reader of either side has a part in it; lattices and slots are drawn at random around them.

A game is `{"name", "spec", "rounds"}`, a round `{"said", "truth", "feedback", "score", "delay"}`: feedback comes
`delay` rounds later, or never where it is None. Where feedback depends on what was shown, `player` computes it by
the same rule on both sides.
"""

import gzip
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parents[2] / "clients" / "samples"
EXPERTS = ("ann", "ben", "cid")
AUTOMATON = "0 1 a\n0 2 b\n1 3 c\n2 3 d\n1 2 e\n3 4 f\n3 4 g\n4\n"
GAINS: dict[str, dict[str, Any]] = {
    "slot_match": {"kind": "slot_match"},
    "ngram": {"kind": "ngram", "order": 2},
    "patterns": {
        "kind": "patterns",
        "patterns": [{"tokens": ["w1"]}, {"tokens": ["w2", "w3"], "weight": 2.0}],
    },
    "regex": {"kind": "regex", "expression": "w1 (w2 | w3)?"},
    "gappy": {"kind": "gappy", "lengths": [2], "discount": 0.5, "max_gap": 1},
}
FULL, SEMI, BANDIT = "full", "semi", "bandit"
PATH_LEARNERS = {
    "component_hedge": FULL,
    "expanded_hedge": FULL,
    "perturbed_leader": FULL,
    "semi_bandit": SEMI,
    "com_band": BANDIT,
    "exp3_paths": BANDIT,
}
# Of the catalogue, but of no commit that is played against yet: add them when one is.
NEWER = {"barrier_semi_bandit", "barrier_bandit", "fixed_share", "mirror_semi_bandit"}
LONG_DELAY = 70  # more rounds than a combiner keeps at hand: feedback is learned from the memory's bytes

Game = dict[str, Any]


def games(rounds: int) -> list[Game]:
    """All games, each of so many rounds; the default learner plays more, for its warm rounds to grow cold."""
    return [*_path_games(rounds), *_automaton_games(rounds), *_text_games(4 * rounds)]


def conversations(before: int, after: int) -> list[Game]:
    """Games for daemons that change after so many rounds: every algorithm, and all of the default learner."""
    rounds = before + after
    paths = [f"{algorithm}, slot_match, sample" for algorithm in PATH_LEARNERS]
    paths += ["expanded_hedge, automaton, ngram", "component_hedge, ngram, sample", "exp3_paths, arbitrary"]
    found = [*_path_games(rounds), *_automaton_games(rounds), *_text_games(rounds)]
    chosen = [game for game in found if game["name"] in paths or game["name"].startswith("default")]
    return [{**game, "before": before} for game in chosen]


def _path_games(rounds: int) -> Iterator[Game]:
    for algorithm, setting in PATH_LEARNERS.items():
        for kind, gain in GAINS.items():
            for decide in ("sample", "best") if kind == "slot_match" else ("sample",):
                spec = _spec(algorithm=algorithm, gain=gain, decide=decide, window=4)
                yield _game(f"{algorithm}, {kind}, {decide}", spec, setting, _slots(rounds))
        derived = _spec(algorithm=algorithm, window=5, derived=["vote", "frequency_vote"], seed=7)
        yield _game(f"{algorithm}, derived experts", derived, setting, _texts("asr", rounds))
        chars = _spec(algorithm=algorithm, window=6, unit="char", normalizer="basic", horizon=1000)
        yield _game(f"{algorithm}, characters", chars, setting, _short_texts(rounds))
    for bias in ("implicit", "everywhere", "none"):
        spec = _spec(algorithm="semi_bandit", window=4, options={"bias": bias})
        yield _game(f"semi_bandit, bias {bias}", spec, SEMI, _slots(rounds))
    arbitrary = _spec(algorithm="exp3_paths", gain={"kind": "arbitrary", "bound": 1.0}, window=4)
    yield _game("exp3_paths, arbitrary", arbitrary, "score", _slots(rounds, most=4))


def _automaton_games(rounds: int) -> Iterator[Game]:
    for algorithm, setting in PATH_LEARNERS.items():
        for kind in ("slot_match", "ngram"):
            spec = _spec(algorithm=algorithm, gain=GAINS[kind], automaton=AUTOMATON, experts=[])
            yield _game(f"{algorithm}, automaton, {kind}", spec, setting, _named(rounds))


def _text_games(rounds: int) -> Iterator[Game]:
    material = {
        "texts": (_texts("ocr", rounds), {}),
        "speech": (_texts("asr", rounds), {"normalizer": "english"}),
        "n-best": (_nbest(rounds), {}),
        "lattices": (_lattices(rounds), {}),
        "slots": (_slots(rounds), {}),
        "characters": (_short_texts(rounds), {"unit": "char"}),
        "characters of lattices": (_lattices(rounds), {"unit": "char"}),
        "labels": (_labelled(rounds), {"labels": ["domain", "quality"]}),
        "other votes": (_texts("asr", rounds), {"derived": ["confidence_vote", "most_confident"], "seed": 3}),
    }
    for name, (said, more) in material.items():
        for setting in (FULL, SEMI, BANDIT):
            for decide in ("best", "sample") if setting == FULL or name == "texts" else ("sample",):
                spec = _spec(setting=setting, decide=decide, **more)
                yield _game(f"default, {name}, {setting}, {decide}", spec, setting, said)


def _spec(**values: Any) -> dict[str, Any]:
    """A spec that says what defaults have changed before, so that it means the same on both sides."""
    return {"experts": list(EXPERTS), "algorithm": "tied", "decide": "sample", **values}


def _game(name: str, spec: dict[str, Any], setting: str, said: list[dict[str, Any]]) -> Game:
    drawn = random.Random(name)
    kinds = {
        FULL: ["true_text", "true_tokens"],
        SEMI: ["shown_gains", "true_text", "shown_gains"],
        BANDIT: ["score", "true_text", "score", "shown_gains"],
        "score": ["score"],
    }[setting]
    if "outputs" in said[0]["said"]:  # no one knows the slots: a text is the natural truth
        kinds = [kind for kind in kinds if kind != "true_tokens"] + ["true_text"]
    rounds = []
    for number, each in enumerate(said):
        delay = drawn.choices([0, 1, 5, LONG_DELAY, None], [12, 3, 2, 1, 2])[0]
        kind = kinds[number % len(kinds)]
        rounds.append({**each, "feedback": kind, "score": drawn.random(), "delay": delay})
    return {"name": name, "spec": spec, "rounds": rounds}


# What engines say. Each function gives a list of {"said": ..., "truth": ...}.


def _slots(rounds: int, most: int = 9) -> list[dict[str, Any]]:
    drawn = random.Random("slots")
    found = []
    for _ in range(rounds):
        truth = [drawn.choice(["", "w1", "w2", "w3", "w4"]) for _ in range(drawn.randint(1, most))]
        offers = {
            name: [token if drawn.random() < right else drawn.choice(["", "w1", "w5"]) for token in truth]
            for name, right in zip(EXPERTS, (0.9, 0.6, 0.4), strict=True)
        }
        confidences = {EXPERTS[0]: [round(drawn.random(), 3) for _ in truth]}
        found.append({"said": {"slots": offers, "confidences": confidences, "labels": {}}, "truth": truth})
    return found


def _named(rounds: int) -> list[dict[str, Any]]:
    drawn = random.Random("named")
    found = []
    for _ in range(rounds):
        tokens = {name: drawn.choice(["", "w1", "w2", "w3"]) for name in "abcdefg"}
        truth = [drawn.choice(["w1", "w2", "w3"]) for _ in range(3)]
        found.append({"said": {"named": tokens, "labels": {}}, "truth": truth})
    return found


def _texts(kind: str, rounds: int) -> list[dict[str, Any]]:
    return [_outputs(line) for line in _sample(kind)[:rounds]]


def _short_texts(rounds: int) -> list[dict[str, Any]]:
    """The first words alone: characters make long rounds."""
    return [_outputs(line, most=3) for line in _sample("ocr")[:rounds]]


def _labelled(rounds: int) -> list[dict[str, Any]]:
    drawn, found = random.Random("labels"), []
    for line in _sample("ocr")[:rounds]:
        each = _outputs(line)
        each["said"]["labels"] = {"domain": line["domain"], "unknown": "x"}
        if drawn.random() < 0.7:
            each["said"]["labels"]["quality"] = drawn.choice(["good", "bad"])
        found.append(each)
    return found


def _nbest(rounds: int) -> list[dict[str, Any]]:
    drawn, found = random.Random("n-best"), []
    for line in _sample("asr")[:rounds]:
        each = _outputs(line)
        for output in each["said"]["outputs"][:2]:
            texts = [word["text"] for word in output["words"]]
            others = [texts, *(_misheard(texts, drawn) for _ in range(drawn.randint(1, 4)))]
            scored = drawn.random() < 0.8
            output["nbest"] = [
                {"words": words, "score": -1.5 * n - drawn.random() if scored else None}
                for n, words in enumerate(others)
            ]
        found.append(each)
    return found


def _lattices(rounds: int) -> list[dict[str, Any]]:
    drawn, found = random.Random("lattices"), []
    for line in _sample("asr")[:rounds]:
        each = _outputs(line, most=8)
        for output in each["said"]["outputs"][:2]:
            output["lattice"] = _lattice([word["text"] for word in output["words"]], drawn)
        found.append(each)
    return found


def _outputs(line: dict[str, Any], most: int = 10**9) -> dict[str, Any]:
    """The first three engines of a line of the sample, under our names."""
    outputs = []
    for name, said in zip(EXPERTS, list(line["experts"].values())[-3:], strict=True):
        words = [
            {
                "text": word["w"],
                "confidence": word.get("conf"),
                "start": word.get("start"),
                "end": word.get("end"),
            }
            for word in said.get("words") or [{"w": text} for text in said["text"].split()]
        ]
        outputs.append({"name": name, "words": words[:most], "confidence": said.get("conf")})
    return {"said": {"outputs": outputs, "labels": {}}, "truth": line["target"].split()[:most]}


def _lattice(words: list[str], drawn: random.Random) -> dict[str, Any]:
    """A chain of the words with other words beside them, some skips, and times where a coin says so."""
    arcs = []
    for state, word in enumerate(words):
        arcs.append((state, state + 1, word, -drawn.random()))
        arcs += [
            (state, state + 1, _misread(word, drawn), -0.5 - 2 * drawn.random())
            for _ in range(drawn.randint(0, 2))
        ]
        if state + 2 <= len(words) and drawn.random() < 0.2:
            arcs.append((state, state + 2, word, -2 - drawn.random()))
        if drawn.random() < 0.2:
            arcs.append((state, state + 1, "", -3 - drawn.random()))
    return {
        "state_count": len(words) + 1,
        "finals": [len(words)],
        "sources": [arc[0] for arc in arcs],
        "targets": [arc[1] for arc in arcs],
        "words": [arc[2] for arc in arcs],
        "log_scores": [arc[3] for arc in arcs],
        "times": [0.25 * state for state in range(len(words) + 1)] if drawn.random() < 0.5 else None,
    }


def _misheard(words: list[str], drawn: random.Random) -> list[str]:
    heard = [_misread(word, drawn) if drawn.random() < 0.3 else word for word in words]
    return [word for word in heard if drawn.random() < 0.95]


def _misread(word: str, drawn: random.Random) -> str:
    place = drawn.randrange(len(word))
    return word[:place] + drawn.choice("aeinrst") + word[place + 1 :]


@cache
def _sample(kind: str) -> tuple[dict[str, Any], ...]:
    with gzip.open(SAMPLES / f"{kind}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)
