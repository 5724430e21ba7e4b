"""Features in words: `describe` says what a (template, a, b) of `kernels.offer_features` means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from galloon.learners.kernels import offer_features as kinds
from galloon.learners.kernels.quantiles import BUCKETS, EARLY, NONE
from galloon.learners.offer_model.characters import CLASS_NAMES

_SEEN = ("never", "once or twice", "3 to 6 times", "7 to 14 times", "15 times or more")


@dataclass(frozen=True, slots=True)
class Names:
    """What numbers in features stand for."""

    experts: Sequence[str]
    seats: Sequence[str]  # of sets of experts, bit by bit
    labels: Mapping[int, str]  # by hash


def describe(template: int, a: int, b: int, names: Names) -> str:
    """One feature of one offer, as a phrase."""
    if template < kinds.SEEN or template >= kinds.LABEL_SUPPORT:
        return _support(template, a, b, names)
    if template < kinds.SEQUENCE:
        return _looks(template, a, b)
    return _fits(template, a, b)


def _support(template: int, a: int, b: int, names: Names) -> str:
    """Who is for it, with what confidence, under which label."""
    match template:
        case kinds.VOTES:
            return "agreement of the engines"
        case kinds.AGREEMENT:
            return "what agreement is worth" + (", null" if a else "")
        case kinds.AGREEMENT_LEVEL:
            return (
                f"{'likeliest by agreement' if a < 0 else f'unlikely by agreement, {a / 1.5:.1f} nats'}"
                + (", null" if b else "")
            )
        case kinds.SUPPORT:
            return f"offered by {_experts(a, names)}" + (" as null" if b else "")
        case kinds.EXPERT:
            return f"{names.experts[a]} is {_side(b)}"
        case kinds.CONFIDENCE:
            return f"{names.experts[a]} for it {_bucket(b)}"
        case kinds.RIVAL_CONFIDENCE:
            return f"{names.experts[a]} for another {_bucket(b >> 1)}" + (", null" if b & 1 else "")
        case kinds.TRUST:
            return "records of the experts for it, at their confidences"
        case kinds.LATTICE:
            return f"its probability in the lattice of {names.experts[a]}" + (", null" if b else "")
        case kinds.LATTICES:
            return "its probability in all lattices" + (", null" if a else "")
        case kinds.LABEL_SUPPORT:
            return f"{_label(b, names)}: offered by {_experts(a, names)}"
        case kinds.LABEL_EXPERT:
            return f"{_label(b, names)}: {names.experts[a >> 2]} is {_side(a & 3)}"
        case kinds.LABEL_SHAPE:
            return f"{_label(b, names)}: shape {_shape(a)}"
    raise ValueError(f"no template has the number {template}")


def _looks(template: int, a: int, b: int) -> str:
    """What the token looks like, and whether it was seen."""
    match template:
        case kinds.SEEN:
            return f"seen {_SEEN[a]}"
        case kinds.SEEN_LENGTH:
            return f"{'seen' if a else 'unseen'}, {b}{' or more' if b == 8 else ''} long"
        case kinds.SEEN_CORE:
            return f"letters alone seen {_SEEN[a]}" + ("" if b else ", with marks")
        case kinds.SEEN_SUPPORT:
            return f"seen {_SEEN[a]}, with {b} for it"
        case kinds.SHAPE:
            return f"shape {_shape(a)}"
        case kinds.MAKEUP:
            return ("marks alone", "letters", "digits", "digits among letters")[a]
        case kinds.ODD:
            return f"{a} odd characters"
        case kinds.LAST:
            return f"ends in {_character(a)}"
        case kinds.SHORT:
            return f"is {_identity(a)!r}"
        case kinds.SPELLING:
            return "how likely its letters are"
        case kinds.SPELLING_LEVEL:
            return f"letters at {-a / 2:g} nats each"
        case kinds.SPELLING_BEST:
            return "best spelled offer" if a else "another is spelled better"
    raise ValueError(f"no template has the number {template}")


def _fits(template: int, a: int, b: int) -> str:
    """How it fits its neighbours and its rivals."""
    match template:
        case kinds.SEQUENCE:
            return "how it follows its neighbours" + (", null" if a else "")
        case kinds.SEQUENCE_LEVEL:
            fit = "fits its neighbours best" if a < 0 else f"fits worse than the best by {a / 1.5:.1f} nats"
            return fit + (", null" if b else "")
        case kinds.DISTANCE:
            return f"{a}{' or more' if a == 4 else ''} edits from the best supported"
        case kinds.EDIT:
            return f"{_character(b)} instead of {_character(a)}"
        case kinds.EDIT_CLASS:
            return f"{_class(a & 15)} instead of {_class(a >> 4)} {_place(b)}"
        case kinds.NEARNESS:
            return "likeness to the other offers"
        case kinds.NEARNESS_LEVEL:
            return f"unlike the other offers by {a}/8"
    raise ValueError(f"no template has the number {template}")


def _experts(mask: int, names: Names) -> str:
    members = [name for j, name in enumerate(names.seats) if mask >> j & 1]
    return "{" + ", ".join(members) + "}"


def _label(number: int, names: Names) -> str:
    return names.labels.get(number) or names.labels.get(number - 1, "another label")


def _side(bits: int) -> str:
    return ("against" if bits < 2 else "for") + (" null" if bits & 1 else "")


def _bucket(bucket: int) -> str:
    if bucket == NONE:
        return "without a confidence"
    if bucket == EARLY:
        return "with a confidence too early to judge"
    return f"with a confidence in its {bucket + 1}. of {BUCKETS} parts"


def _shape(packed: int) -> str:
    classes = []
    while packed:
        classes.append(CLASS_NAMES[packed & 15])
        packed >>= 4
    return "".join(reversed(classes))


def _identity(packed: int) -> str:
    letters = []
    while packed:
        letters.append(chr(packed & 0x1FFFFF))
        packed >>= 21
    return "".join(reversed(letters))


def _character(code: int) -> str:
    return repr(chr(code)) if code else "nothing"


def _place(bits: int) -> str:
    return ("within", "at the end", "at the beginning", "as a whole")[bits]


def _class(number: int) -> str:
    return CLASS_NAMES[number] or "nothing"
