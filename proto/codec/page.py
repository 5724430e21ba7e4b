"""Many requests or answers in one message: `page_request` for clients, `page_to_bytes` for the daemon."""

from collections.abc import Iterable

from galloon.v1 import combine_pb2 as wire

_PAGE = (
    wire.CombineResponse.DESCRIPTOR.fields_by_name["page"].number << 3 | 2
)  # 2: a length, then as many bytes
_RESPONSES = wire.PageAnswer.DESCRIPTOR.fields_by_name["responses"].number << 3 | 2
REQUEST_BYTES = 6  # that a request of a page takes beside its own: the key, and at most five of its length


def page_request(requests: Iterable[wire.CombineRequest]) -> wire.CombineRequest:
    return wire.CombineRequest(page=wire.Page(requests=requests))


def page_to_bytes(answers: Iterable[bytes]) -> bytes:
    """A serialised CombineResponse around serialised ones: they are joined as they are, never parsed again."""
    page = b"".join(_field(_RESPONSES, answer) for answer in answers)
    return _field(_PAGE, page)


def _field(key: int, value: bytes) -> bytes:
    return bytes((key,)) + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)
