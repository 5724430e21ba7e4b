"""The faulty disk (`faulty_disk.c`) as tests use it: `compiled` builds it, `preloaded` is what a process
must inherit.
"""

import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("faulty_disk.c")


def compiled(folder: Path, source: Path = SOURCE) -> Path:
    """The shared library, built into this folder."""
    library = folder / f"{source.stem}.so"
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        "gcc",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "-o",
        str(library),
        str(source),
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return library


def preloaded(
    library: Path, directory: Path, trace: Path | None = None, switch: Path | None = None
) -> dict[str, str]:
    """Variables that put the faulty disk under the files of a directory."""
    variables = {"LD_PRELOAD": str(library), "GALLOON_DISK_UNDER": str(directory)}
    if trace is not None:
        variables["GALLOON_DISK_TRACE"] = str(trace)
    if switch is not None:
        variables["GALLOON_DISK_SWITCH"] = str(switch)
    return variables


class Switch:
    """Turns the faults of the disk on and off while a process runs on it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on(self, fault: str) -> None:
        """One of the faults that faulty_disk.c lists, such as "full@0"; at once, never half of it."""
        partial = self.path.with_suffix(".partial")
        partial.write_text(fault)
        partial.rename(self.path)

    def off(self) -> None:
        self.path.unlink(missing_ok=True)
