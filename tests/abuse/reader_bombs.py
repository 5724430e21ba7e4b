"""Files that are small to send and huge to read: deep and endless XML, JSON and lattices that unfold when they are
unpacked, counts that lie.

Each is read with the default limits; it must be refused by a `FormatError`, or read, within the same budget as a
request of the wire. `python -m tests.abuse.reader_bombs` prints what each costs.
"""

import gzip
import json
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.registry import format_named
from galloon.clients.formats.source import source_of_bytes
from tests.abuse.blast import CPU_S, MEMORY_MB, forget_peak, memory_mb

MILLION = 1_000_000
CUE = b"1\n00:00:00,000 --> 00:00:01,000\n"
MAGIC = struct.pack("<i", 2125659606)  # of an OpenFst file


@dataclass(frozen=True, slots=True)
class ReaderBomb:
    """A file, the format that reads it, and whether it must be refused."""

    name: str
    format: str
    make: Callable[[], bytes]
    refused: bool = True


def _xml(body: str, before: str = "") -> bytes:
    return f'<?xml version="1.0"?>{before}<html><body><p class="ocr_line">{body}</p></body></html>'.encode()


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=1, mtime=0)


def _slf(states: int, arcs: Iterator[tuple[int, int, str]]) -> bytes:
    lines = [f"J={n} S={source} E={target} W={word}" for n, (source, target, word) in enumerate(arcs)]
    nodes = [f"I={n}" for n in range(states)]
    return "\n".join(["VERSION=1.0", f"N={states} L={len(lines)}", *nodes, *lines, ""]).encode()


def _forks(count: int) -> Iterator[tuple[int, int, str]]:
    """Two to the power of `count` paths."""
    return ((n, n + 1, word) for n in range(count) for word in ("a", "b"))


def _complete(states: int) -> bytes:
    """Every state leads to every later one."""
    arcs = [f"{a} {b} w" for a in range(states) for b in range(a + 1, states)]
    return "\n".join([*arcs, str(states - 1), ""]).encode()


def _lying_header() -> bytes:
    """An OpenFst file of 60 bytes that claims 2**60 states."""
    words = [struct.pack("<i", len(word)) + word for word in (b"vector", b"standard")]
    return b"".join([MAGIC, *words, struct.pack("<iiQqqq", 2, 0, 0, 0, 1 << 60, 1 << 60)])


def _circles() -> bytes:
    """A document whose groups hold each other."""
    child = [{"$ref": "#/groups/0"}, {"$ref": "#/groups/1"}]
    groups = [{"children": child}, {"children": child}]
    return json.dumps(
        {"schema_name": "DoclingDocument", "body": {"children": child}, "groups": groups}
    ).encode()


def _overlapping_pages() -> bytes:
    """Pages that are all the whole text: a hundred thousand times a hundred thousand letters."""
    text = "word " * 20_000
    spans = [[0, len(text), n] for n in range(100_000)]
    return json.dumps({"text": text, "attributes": {"pdf_page_numbers": spans}}).encode()


JSON_FORMATS = (
    "google-vision", "document-ai", "textract", "azure-read", "mistral-ocr", "docling", "olmocr", "surya",
    "paddleocr", "easyocr", "mineru", "deepgram", "assemblyai", "elevenlabs", "speechmatics", "seglst", "nemo",
)  # fmt: skip

BOMBS = (
    ReaderBomb("XML, a million deep", "hocr", lambda: _xml("<i>" * MILLION)),
    ReaderBomb("the same, packed", "alto", lambda: _packed(_xml("<i>" * 20 * MILLION))),
    ReaderBomb("XML, 15 million elements, packed", "hocr", lambda: _packed(_xml("<i/>" * 15 * MILLION))),
    ReaderBomb("a hundred thousand attributes", "page", lambda: _xml(f"<i {_attributes(100_000)}/>")),
    ReaderBomb("entities of entities", "hocr", lambda: _xml("&z;", _laughs())),
    ReaderBomb("zeros, 256 MB, packed", "text", lambda: _packed(bytes(1 << 28))),
    ReaderBomb("one word of 60 MB, packed", "text", lambda: _packed(b"a" * 60 * MILLION)),
    ReaderBomb("JSON, ten million deep, packed", "whisper", lambda: _packed(b"[" * 10 * MILLION)),
    ReaderBomb(
        "JSON, ten million empty lists", "whisper", lambda: _packed(b"[" + b"[]," * 10 * MILLION + b"[]]")
    ),
    *(
        ReaderBomb(f"JSON, ten million deep, packed, as {name}", name, lambda: _packed(b"[" * 10 * MILLION))
        for name in JSON_FORMATS
    ),
    *(
        ReaderBomb(f"numbers where lists belong, as {name}", name, lambda: b'{"pages": 7, "results": 8}')
        for name in JSON_FORMATS
    ),
    ReaderBomb(
        "XML of characters, 15 million, packed", "abbyy", lambda: _packed(_xml("<c/>" * 15 * MILLION))
    ),
    ReaderBomb("a list that holds itself", "docling", _circles, refused=False),
    ReaderBomb("a million brackets in a line", "markdown", lambda: b"[" * MILLION),
    ReaderBomb("a million links that never end", "markdown", lambda: b"[a](" * (MILLION // 4)),
    ReaderBomb("two hundred thousand stars", "markdown", lambda: b"**a " * 50_000, refused=False),
    ReaderBomb("a table of half a million cells", "markdown", lambda: b"|a" * 500_000, refused=False),
    ReaderBomb(
        "a cue of 60 MB, packed",
        "srt",
        lambda: _packed(CUE + b"<" * 60 * MILLION),
    ),
    ReaderBomb("cues without times, packed", "vtt", lambda: _packed(b"WEBVTT\n\n" + b"a\n\n" * 10 * MILLION)),
    ReaderBomb("ten million segments, packed", "stm", lambda: _packed(b"a 1 b 0 1 c\n" * 4 * MILLION)),
    ReaderBomb("pages without end", "olmocr", _overlapping_pages),
    ReaderBomb("a network that claims too much", "confusion-network", lambda: b"numaligns 999999999\n"),
    ReaderBomb(
        "a network of four million words, packed",
        "confusion-network",
        lambda: _packed(b"a [ " + b"b 0.1 " * 4 * MILLION + b"]\n"),
    ),
    ReaderBomb(
        "choices of a character without end, packed", "hocr", lambda: _packed(_xml(_choices(250_000)))
    ),
    ReaderBomb("a lattice that claims too much", "slf", lambda: b"VERSION=1.0\nN=99999999999 L=9\nI=0\n"),
    ReaderBomb("a binary lattice that claims too much", "openfst", _lying_header),
    ReaderBomb("2^50,000 paths", "slf", lambda: _slf(50_001, _forks(50_000)), refused=False),
    ReaderBomb("2^260,000 paths, packed", "slf", lambda: _packed(_slf(260_001, _forks(260_000)))),
    ReaderBomb("every state to every later one", "openfst-text", lambda: _packed(_complete(1420))),
    ReaderBomb("a ring", "openfst-text", lambda: b"0 1 a\n1 0 b\n1\n"),
)


def _attributes(count: int) -> str:
    return " ".join(f'a{n}=""' for n in range(count))


def _choices(count: int) -> str:
    choice = '<i class="ocrx_cinfo" title="x_confs 1">b</i>'
    return f'<b class="ocrx_word">a<b class="ocrx_cinfo">{choice * count}</b></b>'


def _laughs() -> str:
    entities = "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghy", "bcdefghyz", strict=True)
    )
    return f'<!DOCTYPE h [<!ENTITY a "ha">{entities}]>'


def outcome(bomb: ReaderBomb, data: bytes) -> str:
    """What the reader says: a refusal, or nothing when it was read."""
    try:
        format_named(bomb.format).read(source_of_bytes(f"bomb.{bomb.format}", data))
    except FormatError as error:
        return str(error)
    return ""


def run() -> str:
    """Read all of them, and say what the dearest cost; prints a line for each."""
    dearest = (0.0, 0.0, "")
    for bomb in BOMBS:
        data = bomb.make()
        forget_peak("self")
        before_mb, before_s = memory_mb("self", "VmRSS"), time.process_time()
        said = outcome(bomb, data)
        used_s, used_mb = time.process_time() - before_s, memory_mb("self", "VmHWM") - before_mb
        print(
            f"{bomb.name:40} {len(data):10,} bytes {used_s:6.2f} s {used_mb:7.1f} MB  {said[:80]}", flush=True
        )
        assert bool(said) == bomb.refused, f"{bomb.name}: {said or 'it was read'}"
        assert used_s <= CPU_S, f"{bomb.name}: {used_s:.2f} s"
        assert used_mb <= MEMORY_MB, f"{bomb.name}: {used_mb:.0f} MB"
        dearest = max(dearest, (used_s, used_mb, bomb.name))
    return f"{len(BOMBS)} files; the dearest {dearest[2]!r}: {dearest[0]:.2f} s, {dearest[1]:.0f} MB"


if __name__ == "__main__":
    print(run())
