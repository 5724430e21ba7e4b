"""The one place that knows how each version names its things: specs, utterances, feedback, answers.

The player runs unchanged in the environment of an old commit and in that of the working tree. What they call
differently is looked up here; nothing else under `tests/upgrade` imports galloon.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np


def find(*places: str) -> Any:
    """The first of these `module:name` that this version has, below the package galloon."""
    for place in places:
        module, _, name = place.partition(":")
        try:
            return getattr(import_module(f"galloon.{module}"), name)
        except (ImportError, AttributeError):
            continue
    raise LookupError(f"this version has none of {', '.join(places)}: name the new place in {__name__}")


CONTRACT = ("learners.combiners.contract", "learners.combiner")
OBSERVATION = ("learners.observation", "learners.utterance")


def find_in(modules: Sequence[str], *names: str) -> Any:
    return find(*(f"{module}:{name}" for name in names for module in modules))


Refusal = find("learners.errors:LearnerError")
_build = find("learners.combiners.build:build", "learners.build:build")
_Spec = find("learners.combiners.spec:CombinerSpec", "learners.spec:CombinerSpec")
_SPEC_FIELDS = {field.name for field in dataclasses.fields(_Spec)}
_RENAMED = {"experts": "engines"}  # fields of a spec, in the material's words and in newer ones


def make_spec(spec: Mapping[str, Any]) -> Any:
    """A spec in the material's words as this version's."""
    values = {
        (name if name in _SPEC_FIELDS else _RENAMED[name]): tuple(value) if isinstance(value, list) else value
        for name, value in spec.items()
    }
    if spec["algorithm"] in _TUNED:
        # Rates by the measured gap became the default of these; the paper's are what both sides have.
        values["options"] = {"tuning": "paper", **values.get("options", {})}
    return _Spec(**values)


def _tuned() -> set[str]:
    try:
        catalogue = find("learners.paths.catalogue:CATALOGUE")
    except LookupError:
        return set()
    return {name for name, learner in catalogue.items() if "tuning" in learner.options}


_TUNED = _tuned()


def build(spec: Mapping[str, Any]) -> Any:
    """The combiner of a spec in the material's words."""
    return _build(make_spec(spec))


# What engines said.


Utterance = find_in(OBSERVATION, "Utterance")
_ONE_TYPE = hasattr(Utterance, "of_slots")  # whether slots and named tokens come as utterances too


def observation(number: int, said: Mapping[str, Any]) -> Any:
    match said:
        case {"slots": offers, "confidences": confidences, "labels": labels}:
            if _ONE_TYPE:
                return Utterance.of_slots(f"u{number}", offers, confidences, labels)
            return _network(offers, confidences, labels)
        case {"named": tokens}:
            if _ONE_TYPE:
                return Utterance.of_named_tokens(f"u{number}", tokens)
            return find_in(CONTRACT, "NamedTokens")(tokens)
        case {"outputs": outputs, "labels": labels}:
            return Utterance(f"u{number}", tuple(map(_output, outputs)), labels=labels)
    raise ValueError(f"material that nobody knows: {said}")


def _network(offers: Mapping[str, list[str]], confidences: Mapping[str, list[float]], labels: Any) -> Any:
    """Slots with the vocabulary in the order in which tokens come, null first."""
    ids = {"": 0}
    columns = [[ids.setdefault(token, len(ids)) for token in tokens] for tokens in offers.values()]
    given = [confidences.get(name, [math.nan] * len(tokens)) for name, tokens in offers.items()]
    return find_in(("learners.offers", *OBSERVATION), "Offers", "SlotNetwork")(
        tuple(offers),
        tuple(ids),
        np.array(columns, dtype=np.int32).T.copy(),
        np.array(given, dtype=np.float64).T.copy(),
        labels,
    )


def _output(output: Mapping[str, Any]) -> Any:
    word, hypothesis = find_in(OBSERVATION, "Word"), find_in(OBSERVATION, "Hypothesis")
    lattice = output.get("lattice")
    return find_in(OBSERVATION, "ExpertOutput")(
        output["name"],
        tuple(word(**each) for each in output["words"]),
        output["confidence"],
        tuple(
            hypothesis(tuple(word(text) for text in entry["words"]), entry["score"])
            for entry in output.get("nbest", ())
        ),
        None if lattice is None else _lattice(lattice),
    )


def _lattice(lattice: Mapping[str, Any]) -> Any:
    return find_in(OBSERVATION, "Lattice")(
        lattice["state_count"],
        0,
        tuple(lattice["finals"]),
        np.array(lattice["sources"], dtype=np.int32),
        np.array(lattice["targets"], dtype=np.int32),
        tuple(lattice["words"]),
        np.array(lattice["log_scores"]),
        None if lattice["times"] is None else np.array(lattice["times"]),
    )


# Feedback.


def learn(combiner: Any, made: Any, told: Any, warm: bool) -> Any:
    """The lesson of feedback on a choice; `warm` gives back the view that newer choices carry beside memory."""
    if warm and getattr(made, "view", None) is not None:
        return combiner.learn(made.memory, told, made.view)
    return combiner.learn(made.memory, told)


def feedback(kind: str, value: Any) -> Any:
    names = {
        "true_text": "TrueText",
        "true_tokens": "TrueTokens",
        "shown_gains": "ShownGains",
        "score": "Score",
    }
    return find_in(CONTRACT, names[kind])(tuple(value) if isinstance(value, list) else value)


# What comes back, as JSON values in one vocabulary; numbers as hexadecimal, to the bit.


def number(value: float | None) -> str | None:
    return None if value is None else float(value).hex()


def numbers(values: Mapping[str, float]) -> dict[str, str | None]:
    return {name: number(value) for name, value in values.items()}


def choice(made: Any) -> dict[str, Any]:
    return {
        "text": made.text,
        "log_probability": number(made.log_probability),
        "tokens": [[token.text, token.expert, number(token.probability)] for token in made.tokens],
        "alternatives": [
            [[other.text, list(other.experts), number(other.probability)] for other in token.alternatives]
            for token in made.tokens
        ],
    }


def lesson(learned: Any) -> dict[str, Any]:
    return {"gain": number(learned.gain), "expert_gains": numbers(learned.expert_gains)}


def statistics(combiner: Any) -> dict[str, Any]:
    """All of them but the size of the state, which an upgrade may change."""
    found = combiner.statistics()
    told = {}
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if field.name != "state_bytes":
            told[field.name] = number(value) if isinstance(value, float) else value
    return told


def weights(combiner: Any) -> dict[str, Any]:
    table = combiner.weights(32)
    return {
        "rows": list(table.rows),
        "columns": list(table.columns),
        "probabilities": [[number(value) for value in row] for row in table.probabilities.tolist()],
        "counts": None if table.counts is None else list(table.counts),
    }


def explanation(combiner: Any, memory: bytes) -> list[dict[str, Any]]:
    return [
        {
            "offers": [
                [o.text, list(o.experts), number(o.probability), number(o.score), _reasons(o)]
                for o in slot.offers
            ],
            "trust": numbers(slot.trust),
            "contexts": [[context.name, number(context.weight)] for context in slot.contexts],
        }
        for slot in combiner.explain(memory, range(4))
    ]


def _reasons(offer: Any) -> list[list[Any]]:
    return [[reason.phrase, number(reason.part)] for reason in offer.reasons]


# The client and what it tells. On the wire probabilities have single precision: they come as exact as they went.

API = ("clients.api", "clients")
RefusedByDaemon = find_in([f"{package}.errors" for package in API], "Refused")


def connect(address: str) -> Any:
    return find(*(f"{package}.blocking:BlockingClient" for package in API))(address)


def question(said_id: str, said: Mapping[str, Any]) -> Any:
    """What a client asks a choice for."""
    questions = [f"{package}.questions" for package in API]
    match said:
        case {"slots": offers, "confidences": confidences, "labels": labels}:
            make = Utterance.of_slots if _ONE_TYPE else find_in(questions, "AlignedUtterance")
            return make(said_id, offers, confidences, labels)
        case {"named": tokens}:
            make = Utterance.of_named_tokens if _ONE_TYPE else find_in(questions, "NamedUtterance")
            return make(said_id, tokens)
        case {"outputs": outputs, "labels": labels}:
            return Utterance(said_id, tuple(map(_output, outputs)), labels=labels)
    raise ValueError(f"material that nobody knows: {said}")


def answered_choice(made: Any) -> dict[str, Any]:
    return {
        "round": made.round,
        "text": made.text,
        "tokens": list(made.tokens),
        "experts": list(made.experts),
        "probabilities": [number(value) for value in made.probabilities],
        "log_probability": number(made.log_probability),
        "lessons": made.lessons,
        "repeated": made.repeated_answer,
        "alternatives": [
            [o.slot, o.token, list(o.experts), number(o.probability)] for o in made.alternatives
        ],
    }


def answered_lesson(learned: Any) -> dict[str, Any]:
    return {
        "round": learned.round,
        "gain": number(learned.gain),
        "expert_gains": numbers(learned.expert_gains),
        "lessons": learned.lessons,
        "total_gain": number(learned.total_gain),
        "repeated": learned.repeated_answer,
    }


def answered_explanation(told: Any) -> dict[str, Any]:
    """All but the offers, which the library's games compare to the bit."""
    return {
        "round": told.round,
        "state": told.state,
        "text": told.text,
        "log_probability": number(told.log_probability),
        "lessons": [told.lessons, told.lessons_since],
        "slots": [[slot.token, slot.expert, number(slot.probability)] for slot in told.slots],
    }


def learner_facts(info: Any, digests: bool) -> dict[str, Any]:
    """Where a learner stands; sizes on disk are left out, digests where the two sides write different formats."""
    found, facts = info.statistics, {}
    for name in ("rounds_started", "lessons", "rounds_pending", "rounds_expired"):
        facts[name] = getattr(found, name)
    for name in ("gain", "regret", "regret_estimate", "bound"):
        facts[name] = number(getattr(found, name))
    facts["experts"] = list(info.experts)
    return facts | ({"digest": info.digest, "state_digest": info.state_digest} if digests else {})


def error_rates(info: Any) -> dict[str, Any]:
    counted = ("word_edits", "words", "char_edits", "chars")
    rates = info.statistics.error_rates
    return {name: [getattr(rate, each) for each in counted] for name, rate in rates.items()}
