"""The process that brings documents together, `python -m galloon.daemon.rpc.matching_process`: see `matching`."""

import json
import resource
import sys
import traceback
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from galloon.codec.document import page_from_wire, pages_from_wire
from galloon.codec.errors import InvalidMessage, MessageTooLarge
from galloon.daemon.rpc.matched_json import line_to_json
from galloon.learners.documents.matched import Unmatchable
from galloon.learners.documents.matching import match
from galloon.learners.documents.true_lines import true_lines
from galloon.v1 import document_pb2 as wire

LENGTH_BYTES = 4


def main() -> None:
    source = sys.stdin.buffer
    while head := source.readline():
        asked = json.loads(head)
        _limit(asked["processor_s"], asked["memory_bytes"])
        _tell_last(_outcome(asked, source.read(asked["bytes"])))


def _limit(processor_s: int, memory_bytes: int) -> None:
    """From here on so much time and memory; the system ends a process that takes more time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + processor_s
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, resource.RLIM_INFINITY))


def _outcome(asked: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        return _done(asked, body)
    except MessageTooLarge as error:
        return {"too_large": [error.field, error.limit, error.needed, error.allowed, error.advice]}
    except InvalidMessage as error:
        return {"invalid": [error.field, error.problem, error.advice]}
    except Unmatchable as error:
        return {"unmatchable": [error.engine, error.why]}
    except MemoryError:
        return {"memory": asked["memory_bytes"]}
    except Exception:  # noqa: BLE001  # told to the daemon, which logs it
        return {"defect": traceback.format_exc()}


def _done(asked: dict[str, Any], body: bytes) -> dict[str, Any]:
    match asked["work"]:
        case "check":
            limits: Any = SimpleNamespace(engines=asked["most_engines"])
            pages_from_wire(wire.Document.FromString(body), asked["engines"], limits)
            return {}
        case "match":
            return _matched(wire.DocumentPage.FromString(body), asked["engines"], asked["order_from"] or None)
        case "true_lines":
            lines, text = json.loads(body)
            _tell(true_lines(lines, text))
            return {}
    raise ValueError(f"unknown work {asked['work']!r}")


def _matched(page: wire.DocumentPage, engines: Sequence[str], order_from: str | None) -> dict[str, Any]:
    found = match(page_from_wire(page, engines), order_from)
    for line in found.lines:
        _tell(line_to_json(line))
    return {"absent": dict(found.absent), "left_out": dict(found.left_out), "notes": list(found.notes)}


def _tell(value: Any) -> None:
    data = json.dumps(value, separators=(",", ":")).encode()
    sys.stdout.buffer.write(len(data).to_bytes(LENGTH_BYTES, "little") + data)


def _tell_last(value: Any) -> None:
    sys.stdout.buffer.write(bytes(LENGTH_BYTES))
    _tell(value)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
