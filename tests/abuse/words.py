"""Whether an answer says more than it should: `has_internal_text` finds traces of code, paths and parsers."""

import re

INTERNAL = re.compile(
    r"Traceback|File \"|line \d+, in |/(?:site-packages|work|home|usr|tmp)/|\.py\b|<[a-z_.]+ object at 0x"
    r"|\b[A-Z]\w*(?:Error|Exception|Warning)\b|numpy|numba|sqlite|protobuf|google\.|\bupb\b|parsing message"
)


def has_internal_text(words: str) -> bool:
    return INTERNAL.search(words) is not None
