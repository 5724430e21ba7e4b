"""Bytes as text, strictly: `decode`, and `check_encoding` for those who are about to read a file.

Text is UTF-8, or UTF-16 with a byte order mark. Everything else is refused: guessed characters would count as the
engine's errors. The refusal says which encoding it looks like and how to convert it.
"""

from galloon.clients.api.errors import FormatError

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
LOOKED_AT = 1 << 12  # bytes


def encoding_of(data: bytes) -> str:
    """By the byte order mark: UTF-16 or UTF-8."""
    return "utf-16" if data[:2] in UTF16_MARKS else "utf-8-sig"


def decode(data: bytes, name: str, line: int | None = None) -> str:
    """The text of these bytes."""
    encoding = encoding_of(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        if b"\0" not in data[:LOOKED_AT] and encoding == "utf-8-sig":
            what = f"byte {problem.start:,} is not UTF-8; it looks like Latin-1 or Windows-1252"
            raise FormatError(name, line, what, _advice("WINDOWS-1252", name)) from problem
        check_encoding(data, name)
        what = f"byte {problem.start:,} is not {encoding.removesuffix('-sig').upper()}"
        raise FormatError(name, line, what, "make the file again as UTF-8") from problem


def check_encoding(data: bytes, name: str, *, only_utf8: bool = False) -> None:
    """Refuse the beginning of a file in UTF-16 without a mark; with `only_utf8`, with a mark too."""
    if data[:2] in UTF16_MARKS:
        if only_utf8:
            what = "it is UTF-16, and such a file must be UTF-8"
            raise FormatError(name, None, what, _advice("UTF-16", name))
        return
    # Of most letters of most scripts in UTF-16 one byte is 0, always the same of the two.
    even, odd = data[:LOOKED_AT:2], data[1:LOOKED_AT:2]
    for zeros, others, encoding in ((odd, even, "UTF-16LE"), (even, odd, "UTF-16BE")):
        if zeros.count(0) > 0.5 * len(zeros) and others.count(0) < 0.1 * len(others):
            what = f"it looks like {encoding} without a byte order mark"
            raise FormatError(name, None, what, _advice(encoding, name))


def _advice(encoding: str, name: str) -> str:
    return f"convert it: iconv -f {encoding} -t UTF-8 {name} > utf8-file"
