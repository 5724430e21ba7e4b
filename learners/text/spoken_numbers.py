"""Numbers in words become digits: "one hundred and sixty" 160, "nineteen oh five" 1905, "twenty first" 21st.

`numbers_as_digits` works on tokens that carry the words they came from. The grammar: a *small* number is
below one hundred; a *group* is a small number and perhaps "hundred"; groups with falling scales (thousand,
million ...) add up; small numbers in a row are read out digit by digit, as years and telephone numbers are.
The lone "one" stays a word: it is more often a pronoun.
"""

import re
from collections.abc import Sequence
from decimal import Decimal

Span = tuple[str, int, int]

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_UNIT_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
UNITS = {word: value for value, word in enumerate(_UNITS)}
TENS = {word: 10 * value for value, word in enumerate(_TENS, start=2)}
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
MULTIPLIERS = {"hundred": 100} | SCALES
ORDINALS = (
    {word: value for value, word in enumerate(_UNIT_ORDINALS)}
    | {word[:-1] + "ieth": value for word, value in TENS.items()}
    | {word + "th": value for word, value in MULTIPLIERS.items()}
)
ZEROS = frozenset({"zero", "oh", "o"})
CURRENCIES = {"dollar": "$", "dollars": "$", "pound": "£", "pounds": "£", "euro": "€", "euros": "€"}
PLAIN_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
PERCENT = frozenset({"percent", "percents"})


def numbers_as_digits(tokens: Sequence[Span]) -> list[Span]:
    """The same tokens with every number in digits."""
    words = ["one" if text == "1" else text for text, _, _ in tokens]
    result: list[Span] = []
    i = 0
    while i < len(words):
        text, end = _number(words, i)
        if end == i:
            result.append((words[i], tokens[i][1], tokens[i][2]))
            i += 1
            continue
        text, end = _with_unit(words, text, end)
        result.append((text, tokens[i][1], tokens[end - 1][2]))
        i = end
    return result


def _number(words: list[str], start: int) -> tuple[str, int]:
    """The digits of the longest number that starts here, and where it ends: `start` if there is none."""
    text, end = _scaled(words, start)
    if end > start:
        return text, end
    if (
        words[start].isdecimal()
        and start + 1 < len(words)
        and words[start + 1] in PERCENT | CURRENCIES.keys()
    ):
        return words[start], start + 1
    text, end = _read_out(words, start)
    if (
        text == "1"
        and end == start + 1
        and not (end < len(words) and words[end] in PERCENT | CURRENCIES.keys())
    ):
        return "one", end
    return text, end


def _with_unit(words: list[str], text: str, end: int) -> tuple[str, int]:
    """Takes "percent" and currencies into the token, where the number is a plain one."""
    if end < len(words) and text[-1].isdigit() and text[0].isdigit():
        if words[end] in PERCENT:
            return text + "%", end + 1
        if words[end] in CURRENCIES:
            return CURRENCIES[words[end]] + text, end + 1
    return text, end


def _scaled(words: list[str], start: int) -> tuple[str, int]:
    """A number with at least one multiplier, as in "two thousand and five" or "2.5 million"."""
    total, end, limit, multiplied = Decimal(0), start, Decimal(10**15), False
    while True:
        at = end
        if multiplied and at + 1 < len(words) and words[at] == "and":
            at += 1
        value, after = _group(words, at, digits_allowed=not multiplied)
        if after == at and multiplied:
            break
        scale = SCALES.get(words[after]) if after < len(words) else None
        ordinal_scale = _ordinal_scale(words, after)
        if scale is not None and scale < limit:
            total += (value if after > at else 1) * scale
            end, limit, multiplied = after + 1, Decimal(scale), True
            continue
        if ordinal_scale is not None and ordinal_scale < limit:
            return f"{_plain(total + (value if after > at else 1) * ordinal_scale)}th", after + 1
        hundred = any(word in {"hundred", "hundredth"} for word in words[at:after])
        if after > at and (hundred or multiplied) and value < limit:
            suffix = _suffix(words[after - 1])
            return f"{_plain(total + value)}{suffix}", after
        break
    return (_plain(total), end) if multiplied else ("", start)


def _ordinal_scale(words: list[str], at: int) -> int | None:
    if at < len(words) and words[at].endswith("th"):
        return SCALES.get(words[at].removesuffix("th"))
    return None


def _group(words: list[str], start: int, *, digits_allowed: bool) -> tuple[Decimal, int]:
    """A number below one thousand, or (where allowed) one in digits: value and end."""
    value, end = _small(words, start)
    if end == start and digits_allowed and start + 1 < len(words) and words[start + 1] in MULTIPLIERS:
        digits = _decimal(words[start])
        if digits is not None:
            value, end = digits, start + 1
    if end > start and _suffix(words[end - 1]):
        return value, end
    if end < len(words) and words[end] in {"hundred", "hundredth"}:
        value = (value if end > start else Decimal(1)) * 100
        end += 1
        if words[end - 1] == "hundred":
            at = end + 1 if end + 1 < len(words) and words[end] == "and" else end
            rest, after = _small(words, at)
            if after > at:
                return value + rest, after
    return value, end


def _small(words: list[str], start: int) -> tuple[Decimal, int]:
    """A number below one hundred, cardinal or ordinal: value and end."""
    if start >= len(words):
        return Decimal(0), start
    word = words[start]
    if word in TENS:
        following = words[start + 1] if start + 1 < len(words) else ""
        unit = UNITS.get(following, ORDINALS.get(following, 0))
        if 0 < unit < 10:
            return Decimal(TENS[word] + unit), start + 2
        return Decimal(TENS[word]), start + 1
    if word in UNITS:
        return Decimal(UNITS[word]), start + 1
    if word in ORDINALS and ORDINALS[word] < 100:
        return Decimal(ORDINALS[word]), start + 1
    return Decimal(0), start


def _read_out(words: list[str], start: int) -> tuple[str, int]:
    """Small numbers in a row, written one after the other, with perhaps a decimal point."""
    text, end = "", start
    while end < len(words):
        if words[end] in ZEROS - {"zero"} and text and end + 1 < len(words) and words[end + 1] in UNITS:
            text, end = text + "0", end + 1
            continue
        value, after = _small(words, end)
        if after == end or (text and _scaled(words, end)[1] > end):
            break
        text, end = text + str(value), after
        suffix = _suffix(words[after - 1])
        if suffix:
            return text + suffix, end
    if text and end + 1 < len(words) and words[end] == "point" and words[end + 1] in UNITS:
        decimals, after = end + 1, end + 1
        while after < len(words) and (words[after] in ZEROS or 0 < UNITS.get(words[after], 10) < 10):
            after += 1
        if after > decimals:
            digits = "".join(str(UNITS.get(word, 0)) for word in words[decimals:after])
            return f"{text}.{digits}", after
    return text, end


def _suffix(word: str) -> str:
    """How an ordinal's digits end: empty for a cardinal."""
    if word not in ORDINALS:
        return ""
    value = ORDINALS[word]
    return {1: "st", 2: "nd", 3: "rd"}.get(value, "th")


def _decimal(text: str) -> Decimal | None:
    """A plain number of a length that people write: an exponent would unfold into any number of digits."""
    return Decimal(text) if PLAIN_NUMBER.fullmatch(text) else None


def _plain(value: Decimal) -> str:
    """Digits without exponent or idle zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
