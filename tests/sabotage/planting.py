"""Plants bugs in a copy of the source and runs the check that must notice: is the suite worth its time?

`noticed` plants one. `python -m tests.sabotage.planting [NAME]` plants all of them, or those whose names contain
NAME, and prints who noticed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.sabotage.plants import PLANTS, Plant

ROOT = Path(__file__).parents[2]
COPIED = ("daemon", "learners", "clients", "proto/galloon", "proto/codec", "src", "tests", "pyproject.toml")
TIMEOUT_S = 900
ABRUPT = ("-p", "tests.sabotage.abrupt")


def copied(folder: Path) -> Path:
    """The source, with its compiled kernels: these are found again by the times of their files."""
    for name in COPIED:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, symlinks=True)
        else:
            shutil.copy2(ROOT / name, target)
    return folder


def noticed(tree: Path, plant: Plant, scratch: Path) -> str:
    """The last words of the check that failed on the planted bug; raises when nothing failed."""
    path = tree / plant.file
    good = path.read_text()
    assert good.count(plant.old) == 1, f"{plant.name}: no longer fits {plant.file}; plant it anew"
    path.write_text(good.replace(plant.old, plant.new))
    try:
        done = _checked(tree, plant, scratch)
    finally:
        path.write_text(good)
    assert done.returncode != 0, (
        f"{plant.name} was planted in {plant.file}, and {plant.check[0]} noticed nothing"
    )
    words = done.stdout + done.stderr
    assert "SyntaxError" not in words, f"{plant.name}: the plant is no Python:\n{words[-2000:]}"
    assert "AssertionError" in words or "Failed:" in words or "FAILED" in words, (
        f"{plant.name}: the check failed, but not by what it asserts:\n{words[-2000:]}"
    )
    return next(line for line in reversed(words.splitlines()) if line.strip())


def _checked(tree: Path, plant: Plant, scratch: Path) -> "subprocess.CompletedProcess[str]":
    arguments = [each.format(scratch=scratch) for each in plant.check]
    command = [sys.executable, "-m", *arguments]
    if arguments[0].startswith("tests/"):
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *ABRUPT, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )


def main() -> int:
    missed, wanted = 0, sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory(prefix="galloon-sabotage-") as folder:
        tree = copied(Path(folder) / "tree")
        chosen = [plant for plant in PLANTS if wanted in plant.name]
        for number, plant in enumerate(chosen):
            try:
                words = noticed(tree, plant, Path(folder) / f"scratch-{number}")
                print(f"noticed  {plant.name}: {words[:150]}", flush=True)
            except AssertionError as problem:
                missed += 1
                print(f"MISSED   {problem}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} planted bugs noticed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
