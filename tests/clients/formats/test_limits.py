"""Hostile files cost no more than the limits say, and the limit is named."""

import gzip
import json

import pytest

from galloon.clients.api.errors import FormatError, LimitExceeded
from galloon.clients.formats.limits import ReadLimits
from galloon.clients.formats.registry import format_named
from galloon.clients.formats.source import open_source, source_of_bytes


def read(format_name: str, data: bytes | str, **limits: int):
    raw = data.encode() if isinstance(data, str) else data
    return format_named(format_name).read(source_of_bytes("file", raw, ReadLimits(**limits)))


def hocr(body: str, before: str = "") -> str:
    return f'<?xml version="1.0"?>{before}<html><body><p class="ocr_line">{body}</p></body></html>'


@pytest.mark.parametrize(
    ("format_name", "data", "limits"),
    [
        ("text", "a b c", {"file_bytes": 4}),
        ("text", gzip.compress(b"a" * 5000, mtime=0), {"file_bytes": 100}),
        ("text", "abcdef", {"word_characters": 5}),
        ("text", "a\nb\nc\n", {"lines": 2}),
        ("text", "a b c\n", {"words": 2}),
        ("hocr", hocr("<i>" * 9 + "</i>" * 9), {"xml_depth": 5}),
        ("hocr", hocr("<i/>" * 9), {"xml_elements": 5}),
        ("hocr", hocr('<i a="1" b="2" c="3"/>'), {"attributes": 2}),
        ("whisper", "[" * 50 + "]" * 50, {"json_depth": 10}),
        ("whisper", json.dumps({"segments": [], "text": "[[[[{{{{" * 20}), {"json_depth": 1}),
        ("whisper", json.dumps({"segments": [], "text": "a", "more": [[]] * 9}), {"json_values": 12}),
        ("whisper", json.dumps({"segments": [], "text": "a", "more": [1] * 9}), {"json_values": 10}),
        ("nbest", "-1\ta\n-2\tb\n-3\tc\n", {"nbest": 2}),
        ("slf", "VERSION=1.0\nN=99999999999 L=0\nI=0\n", {}),
        ("slf", "VERSION=1.0\nN=3 L=0\nI=0\nI=1\nI=2\n", {"lattice_states": 2}),
        ("openfst-text", "0 1 a\n1 2 b\n2 3 c\n3\n", {"lattice_arcs": 2}),
        ("openfst-text", "0 1 a\n1 2 b\n2 3 c\n3\n", {"lattice_states": 3}),
        ("utterances", json.dumps({"id": "a", "experts": {}}), {"line_bytes": 10}),
        ("utterances", '{"id": 1, "experts": {}}\n{"id": 2, "experts": {}}\n', {"stream_bytes": 30}),
    ],
)
def test_passing_a_limit_names_it(format_name: str, data: bytes | str, limits: dict[str, int]):
    """Each number of ReadLimits binds, and the error says which to raise."""
    with pytest.raises(LimitExceeded) as caught:
        read(format_name, data, **limits)
    assert caught.value.limit in (limits or {"lattice_states": 0})
    assert caught.value.limit in str(caught.value)


def test_brackets_in_strings_do_not_count_as_depth():
    """Depth is that of the JSON, not of the text in it."""
    result = read("whisper", json.dumps({"segments": [], "text": '[[[{{{ \\" ]['}), json_depth=2)
    assert [output.text for output in result.outputs.values()] == ['[[[{{{ \\" ][']
    text = "a, b, c, d, e, f"
    assert read("whisper", json.dumps({"segments": [], "text": text}), json_values=4).outputs


def test_a_gzip_bomb_costs_the_limit_only():
    """A megabyte that would become a gigabyte is refused when the limit is reached."""
    bomb = gzip.compress(gzip.compress(b"\0" * (1 << 26)))
    with pytest.raises(LimitExceeded, match="file_bytes"):
        source_of_bytes("bomb.gz", gzip.decompress(bomb), ReadLimits(file_bytes=1 << 20))


LAUGHS = '<!DOCTYPE h [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("before", "body"),
    [
        (LAUGHS, "&b;"),
        ('<!DOCTYPE h [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "&x;"),
        ('<!DOCTYPE h [<!ENTITY % p SYSTEM "http://localhost/x.dtd"> %p;]>', ""),
        ("<!DOCTYPE h []>", ""),
    ],
)
def test_declarations_in_xml_are_refused(before: str, body: str):
    """No entity is ever declared, expanded or fetched."""
    with pytest.raises(FormatError, match="XML refused") as caught:
        read("hocr", hocr(body, before))
    assert caught.value.line == 1


def test_a_bare_doctype_is_welcome_and_html_entities_work():
    """hOCR carries a DOCTYPE; the characters that it would name are known without fetching it."""
    before = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://localhost:1/never-fetched.dtd">'
    result = read("hocr", hocr("caf&eacute;&nbsp;au lait", before))
    assert [output.text for output in result.outputs.values()] == ["café au lait"]


@pytest.mark.parametrize(
    "data",
    [
        b"\x1f\x8b\x08\x00broken",
        gzip.compress(b"a" * 1000, mtime=0)[:-9],
        gzip.compress(b"abc", mtime=0)[:-4] + b"\0\0\0\0",
    ],
)
def test_damaged_gzip_is_said_to_be_so(data: bytes):
    """Damage in the compression is not blamed on the format."""
    with pytest.raises(FormatError, match="damaged gzip"):
        source_of_bytes("a.gz", data)


@pytest.mark.parametrize("data", [b"caf\xe9", b"\xff\xfea"])
def test_text_that_is_not_utf8_is_refused_with_the_place(data: bytes):
    """Guessed characters would count as the engine's errors."""
    with pytest.raises(FormatError, match=r"byte .* is not UTF"):
        read("text", data)


def test_utf16_with_its_mark_is_read():
    """Windows tools write it."""
    result = read("text", "call mé".encode("utf-16"))
    assert [output.text for output in result.outputs.values()] == ["call mé"]


def test_a_missing_file_is_a_sentence(tmp_path):
    """Not a traceback."""
    with pytest.raises(FormatError, match="No such file"):
        open_source(tmp_path / "none.txt")


def test_limits_must_be_positive():
    """A limit of nothing is a mistake."""
    with pytest.raises(ValueError, match="nbest"):
        ReadLimits(nbest=0)


def test_half_surrogates_are_replaced_and_noted():
    """What comes out can always be written as UTF-8."""
    result = read("vosk", '{"text": "ab\\ud800c \\ud83d\\ude00"}')
    assert [output.text for output in result.outputs.values()] == ["ab?c 😀"]
    assert "surrogate" in str(result.notes[0])


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", '{"text": "a"} x', '{"text": 1e999}', '{"text": ' + "1" * 5000 + "}"]
)
def test_json_that_is_not_json_is_refused(text: str):
    """Python's parser would take some of these."""
    with pytest.raises(FormatError):
        read("whisper", text)
