"""What an alert looks at: the two sides of each of its comparisons.

An alert returns nothing while all is well, so that its own silence proves nothing. `figures` takes the thresholds
away; each figure that is left must be there at all times.
"""

import re

JOIN = re.compile(r"\s+(?:and|or|unless)\s+(?:on\s*\([^)]*\)\s*|ignoring\s*\([^)]*\)\s*)?")
COMPARISON = re.compile(r"\s*(?:==|!=|>=|<=|>|<)\s*")
NUMBER = re.compile(r"-?[0-9.]+(?:e-?[0-9]+)?")


def figures(expression: str) -> list[str]:
    """The figures of an alert's expression; one without a comparison is none that could be silent by rights."""
    found = []
    for part in _split(expression, JOIN):
        sides = _split(part, COMPARISON)
        assert len(sides) == 2, f"{part!r} compares nothing: write alerts as `figure > threshold`"
        found += [side for side in sides if not NUMBER.fullmatch(side)]
    assert found, f"{expression!r} looks at nothing"
    return found


def _split(text: str, at: re.Pattern[str]) -> list[str]:
    """Split where nothing is open: neither a bracket nor a quote."""
    depth, quoted, start, parts, place = 0, False, 0, [], 0
    while place < len(text):
        letter = text[place]
        if letter == '"':
            quoted = not quoted
        elif not quoted:
            depth += (letter in "([{") - (letter in ")]}")
        separator = at.match(text, place) if depth == 0 and not quoted else None
        if separator and separator.end() > place and place > start:
            parts.append(text[start:place].strip())
            start = place = separator.end()
        else:
            place += 1
    return [*parts, text[start:].strip()]
