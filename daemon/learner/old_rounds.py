"""The rounds inside a snapshot of formats 1 and 2, which held them all; they are journaled again as `Kept`."""

from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from galloon.daemon.learner.round import Round, Status
from galloon.learners.errors import DamagedState

PENDING_BLOBS = ("fingerprint", "memory", "answer")
OVER_BLOBS = ("fingerprint", "answer", "feedback", "lesson")


def old_rounds(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Iterator[Round]:
    """Those that were over, then the pending ones; each in its order."""
    _check(meta, arrays)
    columns = [_from_arrays(f"settled_{name}", arrays) for name in OVER_BLOBS]
    rows = zip(arrays["settled_rounds"].tolist(), meta["settled"], *columns, strict=True)
    for number, id_, fingerprint, answer, feedback, lesson in rows:
        status = Status.LEARNED if lesson else Status.EXPIRED
        yield Round(number, id_, fingerprint, answer, b"", feedback, lesson, status)
    columns = [_from_arrays(f"pending_{name}", arrays) for name in PENDING_BLOBS]
    rows = zip(arrays["pending_rounds"].tolist(), meta["pending"], *columns, strict=True)
    for number, id_, fingerprint, memory, answer in rows:
        yield Round(number, id_, fingerprint, answer, memory)


def _check(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse what contradicts itself: these bytes may come from a client."""
    numbers = [*arrays["pending_rounds"].tolist(), *arrays["settled_rounds"].tolist()]
    ids = [*meta["pending"], *meta["settled"]]
    if (
        not all(type(number) is int and 0 <= number < meta["started"] for number in numbers)
        or not all(isinstance(each, str) for each in ids)
        or len(set(ids)) < len(ids)
    ):
        raise DamagedState("the rounds of this learner's state contradict each other")


def _from_arrays(name: str, arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes]:
    data, at = arrays[name].tobytes(), 0
    for size in arrays[f"{name}_bytes"].tolist():
        yield data[at : at + size]
        at += size
