"""The two directions between an utterance and its JSON record: `expert_from_json`, `utterance_to_json`."""

import math
from collections.abc import Mapping
from typing import Any

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text
from galloon.learners.observation import ExpertOutput, Hypothesis, Lattice, Utterance, Word


def expert_from_json(
    name: str, said: object, lattice: Lattice | None, source: Source, at: int
) -> ExpertOutput:
    """What one engine said; `lattice` is the one that its record names, already read."""
    if not isinstance(said, dict):
        raise source.error(at, f'{name}: an engine\'s output is an object such as {{"text": "..."}}')
    where = name
    words = _words(said.get("words"), where, source, at)
    text = said.get("text")
    if text is not None and not isinstance(text, str):
        raise source.error(at, f'{where}: "text" must be a string')
    nbest = _nbest(said.get("nbest"), where, source, at)
    if text is not None:
        words = _reconcile(words, text, source, at)
    elif words is None:
        words = _fallback(nbest, lattice, where, source, at)
    confidence = _number(said, "line_conf", where, source, at)
    return ExpertOutput(name, words, confidence, nbest, lattice)


def utterance_to_json(utterance: Utterance, lattice_paths: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The record of an utterance; `lattice_paths` says where each engine's lattice was written."""
    record: dict[str, Any] = {"id": utterance.id}
    if utterance.target is not None:
        record["target"] = utterance.target
    record.update(
        {key: value for key, value in utterance.labels.items() if key not in {"id", "target", "experts"}}
    )
    record["experts"] = {
        output.name: _expert_to_json(output, (lattice_paths or {}).get(output.name))
        for output in utterance.outputs
    }
    return record


def _expert_to_json(output: ExpertOutput, lattice_path: str | None) -> dict[str, Any]:
    said: dict[str, Any] = {"text": output.text}
    if any(_has_numbers(word) for word in output.words):
        said["words"] = [_word_to_json(word) for word in output.words]
    if output.confidence is not None:
        said["line_conf"] = output.confidence
    if output.nbest:
        said["nbest"] = [_hypothesis_to_json(entry) for entry in output.nbest]
    if lattice_path is not None:
        said["lattice"] = lattice_path
    return said


def _hypothesis_to_json(entry: Hypothesis) -> dict[str, Any]:
    said: dict[str, Any] = {"text": " ".join(word.text for word in entry.words)}
    if any(_has_numbers(word) for word in entry.words):
        said["words"] = [_word_to_json(word) for word in entry.words]
    if entry.score is not None:
        said["score"] = entry.score
    return said


def _has_numbers(word: Word) -> bool:
    return word.confidence is not None or word.start is not None or word.end is not None


def _word_to_json(word: Word) -> dict[str, Any]:
    fields = {"w": word.text, "conf": word.confidence, "start": word.start, "end": word.end}
    return {key: value for key, value in fields.items() if value is not None}


def _words(entries: object, where: str, source: Source, at: int) -> tuple[Word, ...] | None:
    if entries is None:
        return None
    if not isinstance(entries, list):
        raise source.error(at, f'{where}: "words" must be a list')
    source.count_words(len(entries), at)
    try:
        # The path of nearly every file, and the only loop that its speed depends on.
        words = [
            Word(entry["w"], entry.get("conf"), entry.get("start"), entry.get("end")) for entry in entries
        ]
    except (TypeError, KeyError, AttributeError):
        words = [_word(entry, where, source, at) for entry in entries]
    for word in words:
        if not _is_sound(word, source.limits.word_characters):
            return tuple(_checked(word, where, source, at) for word in words)
    return tuple(words)


def _word(entry: object, where: str, source: Source, at: int) -> Word:
    if isinstance(entry, str):
        return Word(entry)
    if not isinstance(entry, dict) or "w" not in entry:
        raise source.error(at, f'{where}: a word is a string or an object such as {{"w": "so", "conf": 0.9}}')
    return Word(entry["w"], entry.get("conf"), entry.get("start"), entry.get("end"))


def _is_sound(word: Word, longest: int) -> bool:
    text: Any = word.text  # whatever the file held
    if type(text) is not str or not 0 < len(text) <= longest or len(text.split()) != 1:
        return False
    numbers: tuple[Any, ...] = (word.confidence, word.start, word.end)
    for number in numbers:
        kind = type(number)
        if kind is float:
            if not math.isfinite(number):
                return False
        elif number is not None and (kind is not int or abs(number) > 1 << 53):
            return False
    return True


def _checked(word: Word, where: str, source: Source, at: int) -> Word:
    """The word if it is sound, else an error that says what is wrong with it."""
    if not isinstance(word.text, str):
        raise source.error(at, f'{where}: "w" must be a string')
    source.check("word_characters", len(word.text), at)
    if len(word.text.split()) != 1:
        raise source.error(at, f"{where}: {word.text!r} is not one word", "words hold no white space")
    for key, number in (("conf", word.confidence), ("start", word.start), ("end", word.end)):
        _finite(number, f'{where}: "{key}" of {word.text!r}', source, at)
    return word


def _nbest(entries: object, where: str, source: Source, at: int) -> tuple[Hypothesis, ...]:
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise source.error(at, f'{where}: "nbest" must be a list')
    source.check("nbest", len(entries), at)
    return tuple(
        _hypothesis(entry, f"{where}, nbest[{rank}]", source, at) for rank, entry in enumerate(entries)
    )


def _hypothesis(entry: object, where: str, source: Source, at: int) -> Hypothesis:
    if isinstance(entry, str):
        return Hypothesis(split_text(entry, source, at))
    if not isinstance(entry, dict):
        raise source.error(at, f'{where}: an alternative is a string or {{"text": "...", "score": -1.5}}')
    words, text = _words(entry.get("words"), where, source, at), entry.get("text")
    if text is not None and not isinstance(text, str):
        raise source.error(at, f'{where}: "text" must be a string')
    if text is None and words is None:
        raise source.error(at, f'{where}: "text" or "words" is missing')
    chosen = words if words is not None else split_text(text or "", source, at)
    return Hypothesis(chosen, _number(entry, "score", where, source, at))


def _reconcile(words: tuple[Word, ...] | None, text: str, source: Source, at: int) -> tuple[Word, ...]:
    """Words where they spell the text; else the text, with the words' numbers where they correspond."""
    if words is None:
        return split_text(text, source, at)
    if " ".join([word.text for word in words]) == text:
        return words
    spelled = split_text(text, source, at)
    if [word.text for word in words] == [word.text for word in spelled]:
        return words
    if len(words) == len(spelled):
        source.note(
            "words do not spell the text: the text was used, with the words' confidences and times", at
        )
        return tuple(
            Word(new.text, old.confidence, old.start, old.end)
            for new, old in zip(spelled, words, strict=True)
        )
    source.note("words do not spell the text: the text was used, without confidences and times", at)
    return spelled


def _fallback(
    nbest: tuple[Hypothesis, ...], lattice: Lattice | None, where: str, source: Source, at: int
) -> tuple[Word, ...]:
    """The 1-best of an engine that gives none: its first alternative, or its lattice's best path."""
    if nbest:
        return nbest[0].words
    if lattice is not None:
        from galloon.clients.formats.word_graph import best_path

        return best_path(lattice)
    source.note(f"{where} says nothing: no text, words, nbest or lattice", at)
    return ()


def _number(said: Mapping[str, Any], key: str, where: str, source: Source, at: int) -> float | None:
    value = said.get(key)
    _finite(value, f'{where}: "{key}"', source, at)
    return value


def _finite(value: object, what: str, source: Source, at: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise source.error(at, f"{what} must be a number")
    if not abs(value) < 1e300:
        raise FormatError(source.name, at, f"{what} must be a finite number")
