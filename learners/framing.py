"""Length-prefixed framing: several byte strings in one. For memories that a host stores without reading them."""

from collections.abc import Iterable
from json.encoder import encode_basestring_ascii

from galloon.learners.errors import DamagedState


def join(parts: list[bytes]) -> bytes:
    """One byte string that `split` takes apart again."""
    return b"".join([piece for part in parts for piece in (len(part).to_bytes(4, "little"), part)])


def texts_as_json(texts: Iterable[str]) -> str:
    """The same as `json.dumps` of a list of texts. Calls its C function directly, which is faster."""
    return f"[{', '.join(map(encode_basestring_ascii, texts))}]"


def split(data: bytes) -> list[bytes]:
    parts, at = [], 0
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "little")
        if at + 4 > len(data) or end > len(data):
            raise DamagedState("these bytes are cut short")
        parts.append(data[at + 4 : end])
        at = end
    return parts
