"""What may lie on a disk after the power failed: synced bytes, and of the others whatever the disk pleases.

`Disk.apply` follows a trace; `Disk.image` writes the files as they may be found: each sector that was written
and not synced is kept, dropped or garbled; creations and removals that no sync covered happened or not, in
order.
"""

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.fault.disk.trace import Kind, Operation

SECTOR = 512
# How a disk treats sectors that were not synced: probabilities of keeping and of garbling, else they are dropped.
MOODS = {"forgetful": (0.0, 0.0), "faithful": (1.0, 0.0), "fickle": (0.5, 0.0), "wild": (0.4, 0.3)}


@dataclass(slots=True)
class File:
    """Bytes that are safe, and what has happened since the last sync."""

    safe: bytearray = field(default_factory=bytearray)
    loose: list[Operation] = field(default_factory=list)

    def settle(self) -> None:
        for operation in self.loose:
            _change(self.safe, operation)
        self.loose.clear()


@dataclass(slots=True)
class Disk:
    """One directory. `names` is what a running process sees, `entries` what is safe."""

    names: dict[str, File] = field(default_factory=dict)
    entries: dict[str, File] = field(default_factory=dict)
    changes: list[tuple[Kind, str, File]] = field(default_factory=list)  # of the directory, not synced

    def apply(self, operation: Operation) -> None:
        match operation.kind:
            case Kind.CREATE:
                self.names[operation.name] = File()
                self.changes.append((Kind.CREATE, operation.name, self.names[operation.name]))
            case Kind.REMOVE:
                self.changes.append((Kind.REMOVE, operation.name, self.names.pop(operation.name)))
            case Kind.WRITE | Kind.TRUNCATE:
                self.names[operation.name].loose.append(operation)
            case Kind.SYNC if operation.name == ".":
                self._settle_directory(len(self.changes))
            case Kind.SYNC:
                self.names[operation.name].settle()

    def image(self, folder: Path, random: Random, mood: str) -> None:
        """Write what may be found after a power failure now."""
        folder.mkdir(parents=True)
        found = dict(self.entries)
        # The directory is a journal of its own: a prefix of its changes may have made it to the disk.
        for kind, name, file in self.changes[: random.randint(0, len(self.changes))]:
            _enter(found, kind, name, file)
        keep, garble = MOODS[mood]
        for name, file in found.items():
            content = bytearray(file.safe)
            for operation in file.loose:
                if operation.kind == Kind.TRUNCATE:
                    if random.random() < keep:
                        _change(content, operation)
                    continue
                for sector in _sectors(operation):
                    fate = random.random()
                    if fate < keep:
                        _change(content, sector)
                    elif fate < keep + garble:
                        noise = Operation(
                            Kind.WRITE, name, sector.offset, sector.size, random.randbytes(sector.size)
                        )
                        _change(content, noise)
            (folder / name).write_bytes(content)

    def _settle_directory(self, count: int) -> None:
        for kind, name, file in self.changes[:count]:
            _enter(self.entries, kind, name, file)
        del self.changes[:count]


def _enter(entries: dict[str, File], kind: Kind, name: str, file: File) -> None:
    if kind == Kind.CREATE:
        entries[name] = file
    else:
        entries.pop(name, None)


def _change(content: bytearray, operation: Operation) -> None:
    if operation.kind == Kind.TRUNCATE:
        missing = operation.size - len(content)
        content[operation.size :] = bytes(max(0, missing))
        return
    end = operation.offset + len(operation.data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    content[operation.offset : end] = operation.data


def _sectors(write: Operation) -> list[Operation]:
    """A write in pieces that end where the disk's sectors end."""
    pieces, at = [], 0
    while at < len(write.data):
        size = min(SECTOR - (write.offset + at) % SECTOR, len(write.data) - at)
        pieces.append(Operation(Kind.WRITE, write.name, write.offset + at, size, write.data[at : at + size]))
        at += size
    return pieces
