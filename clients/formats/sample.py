"""The beginning of a file, by which formats recognise their own: `Sample`."""

from dataclasses import dataclass

from galloon.clients.formats.source import Source

SAMPLE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Sample:
    """The first bytes of a file, also as text (with anything unreadable replaced), and its name."""

    name: str
    data: bytes
    text: str

    @property
    def lines(self) -> list[str]:
        """The first lines that hold something, without the last one, which may be cut."""
        lines = self.text.split("\n")
        whole = lines[:-1] if len(self.data) >= SAMPLE_BYTES else lines
        return [line.rstrip("\r") for line in whole if line.strip()][:50]

    @property
    def is_json(self) -> bool:
        return self.text.lstrip()[:1] in {"{", "["}


def sample_of(source: Source) -> Sample:
    data = source.data[:SAMPLE_BYTES]
    encoding = "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    return Sample(source.name, data, data.decode(encoding, "replace"))
