"""How a learner compares with its challengers, the vote and every engine, in the corrections that both were in.

`compare` takes the figures from the books: differences are paired, and their intervals come from resampling blocks
of neighbouring corrections (lines of one page are alike). `advice` says in a sentence what to do.
"""

from collections.abc import Iterable, Sequence

from galloon.codec.comparison import Comparison, Contestant
from galloon.daemon.learner.books import COMBINED, VOTE, Books
from galloon.daemon.learner.challengers import CHAMPION
from galloon.daemon.learner.error_curve import Rates
from galloon.daemon.learner.learner import Learner
from galloon.daemon.learner.names import label_of
from galloon.learners.evaluation.bootstrap import paired_difference
from galloon.learners.evaluation.error_rate import ErrorCounts

LEAST_CORRECTIONS = 50  # below which nothing is advised, whatever the interval
LEAST_BLOCKS = 8  # of which an interval is made
Advice = tuple[str, str]  # the verdict, and the sentence


def compare(champion: Learner, challengers: Iterable[Learner]) -> Comparison:
    """By what was counted so far."""
    characters, books = champion.spec.unit.name == "char", champion.books
    rivals = [_challenger(each, champion.seq, characters) for each in challengers]
    if VOTE not in champion.spec.engines:
        rivals.append(_other(VOTE, "vote", books, characters))
    rivals += [
        _other(name, "engine", books, characters) for name in champion.spec.engines if name in books.rates
    ]
    own = books.rates.get(COMBINED, Rates())
    errors, _, length = _errors(own, characters)
    learner = Contestant(COMBINED, "learner", own.corrections, _percent(errors, length))
    verdict, sentence = advice(champion.name, champion.spec.answer, own.corrections, rivals)
    lessons = champion.rounds.lessons
    return Comparison(learner, tuple(rivals), verdict, sentence, champion.spec.answer, lessons, characters)


def advice(name: str, answered: str, corrections: int, others: Sequence[Contestant]) -> Advice:
    """What to do with a learner, and why, for people."""
    if answered:
        return _gate(name, answered, corrections, [each for each in others if each.name == answered])
    if challengers := [each for each in others if each.kind == "challenger"]:
        return _contest(name, challengers)
    rivals = _judged(others)
    if not rivals:
        return _too_early(corrections, f"how {COMBINED} compares")
    best = rivals[0]
    if (best.difference_low or 0.0) > 0:
        said = f"makes {_points(best)} fewer errors than the best of the others, {best.name}"
    else:
        said = f"is not better beyond doubt than {best.name}, which differs by {_points(best)}"
    return (
        "stay",
        f"{COMBINED} answers, and {said}, in {best.corrections:,} corrections; nobody challenges it.",
    )


def _gate(name: str, answered: str, corrections: int, today: Sequence[Contestant]) -> Advice:
    """Of a learner in the shadow of what is used today."""
    judged = _judged(today)
    if not judged:
        return _too_early(corrections, "whether it is time to go live")
    (today_,) = judged
    if (today_.difference_low or 0.0) > 0:
        return "go_live", (
            f"It is time to go live: {COMBINED} makes {_points(today_)} fewer errors than {answered}, which is "
            f"answered today, in {today_.corrections:,} corrections; `galloon learners go-live {name}` opens the "
            "gate."
        )
    return "stay", (
        f"Stay in the shadow: {COMBINED} is not better beyond doubt than {answered}, which differs by "
        f"{_points(today_)} in {today_.corrections:,} corrections."
    )


def _contest(name: str, challengers: Sequence[Contestant]) -> Advice:
    judged = _judged(challengers)
    if not judged:
        most = max(each.corrections for each in challengers)
        return _too_early(most, "whether a challenger should be promoted")
    best = judged[0]
    if (best.difference_high or 0.0) < 0:
        return "promote", (
            f"It is time to promote {best.name}: it makes {_points(best, turned=True)} fewer errors than the "
            f"learner that answers, in {best.corrections:,} corrections; `galloon learners promote {name} "
            f"{best.name}` exchanges them."
        )
    return "stay", (
        f"Keep the learner that answers: no challenger is better beyond doubt; the nearest, {best.name}, differs "
        f"by {_points(best)} in {best.corrections:,} corrections."
    )


def _judged(others: Iterable[Contestant]) -> list[Contestant]:
    """Those of whom enough is known, the best first."""
    known = [each for each in others if each.corrections >= LEAST_CORRECTIONS and each.difference is not None]
    return sorted(known, key=lambda each: each.difference or 0.0)


def _too_early(corrections: int, what: str) -> Advice:
    return "too_early", (
        f"Too early: {corrections:,} corrections are counted, and {LEAST_CORRECTIONS} are needed to say {what}."
    )


def _points(found: Contestant, turned: bool = False) -> str:
    value, low, high = (
        each or 0.0 for each in (found.difference, found.difference_low, found.difference_high)
    )
    if turned:
        value, low, high = -value, -high, -low
    return f"{value:.2f} points (95 % interval {low:.2f} to {high:.2f})"


# Figures.


def _other(name: str, kind: str, books: Books, characters: bool) -> Contestant:
    total = books.rates.get(name, Rates())
    blocks = [block.sums[name] for block in books.curve.blocks if name in block.sums]
    theirs, own, lengths = _columns(blocks, characters)
    return _contestant(name, kind, total, theirs, own, lengths)


def _challenger(challenger: Learner, last: int, characters: bool) -> Contestant:
    """In its books the champion stands beside; what is its own there is the challenger's."""
    total = challenger.books.rates.get(CHAMPION, Rates())
    blocks = [block.sums[CHAMPION] for block in challenger.books.curve.blocks if CHAMPION in block.sums]
    champions, own, lengths = _columns(blocks, characters)
    behind = max(0, last - challenger.followed)
    return _contestant(label_of(challenger.name), "challenger", total, own, champions, lengths, behind)


def _contestant(
    name: str,
    kind: str,
    total: Rates,
    theirs: Sequence[int],
    own: Sequence[int],
    lengths: Sequence[int],
    behind: int = 0,
) -> Contestant:
    """By errors of the contestant and of the learner in each block; of a crowd not every engine has blocks."""
    length = sum(lengths)
    rates = _percent(sum(theirs), length), _percent(sum(own), length)
    if len(lengths) < LEAST_BLOCKS:
        return Contestant(name, kind, total.corrections, *rates, behind=behind)
    first, second = (
        [ErrorCounts(errors, 0, 0, long) for errors, long in zip(column, lengths, strict=True)]
        for column in (theirs, own)
    )
    found = paired_difference(first, second)
    return Contestant(name, kind, total.corrections, *rates, found.value, found.low, found.high, behind)


def _columns(blocks: Iterable[Rates], characters: bool) -> tuple[list[int], list[int], list[int]]:
    rows = [row for row in (_errors(block, characters) for block in blocks) if row[2]]
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def _errors(rates: Rates, characters: bool) -> tuple[int, int, int]:
    """Theirs, the learner's own, and the length of the true texts."""
    if characters:
        return rates.chars.errors, rates.own_char_errors, rates.chars.reference_length
    return rates.words.errors, rates.own_word_errors, rates.words.reference_length


def _percent(errors: int, length: int) -> float | None:
    return 100.0 * errors / length if length else None
