"""Small things that all XML writers need: `attributes`, `escape`."""

import re
from xml.sax.saxutils import escape as _escape
from xml.sax.saxutils import quoteattr

# Control characters cannot stand in XML in any spelling.
_IMPOSSIBLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape(text: str) -> str:
    """Text between tags."""
    return _escape(_IMPOSSIBLE.sub("\ufffd", text))


def attributes(**values: str | float) -> str:
    """` name="value"` for each; names end without the underscore that Python needs."""
    return "".join(
        f" {name.rstrip('_')}={quoteattr(_IMPOSSIBLE.sub('�', str(value)))}" for name, value in values.items()
    )
