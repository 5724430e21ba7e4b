"""The two sides of an upgrade: the environment of an old commit, and that of the working tree.

`Side.start` runs a module of `tests.upgrade` in a side's environment; the module is always the working tree's.
`old_side` makes a git worktree of the commit under `artefacts/upgrade`, with an environment from that commit's own
lock file and its own compiled kernels. Both are kept for the next time.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "artefacts" / "upgrade"
GOLDEN_STORES = "tests/data/store"
FIRST = "7864439"  # from which upgrades were watched


@dataclass(frozen=True, slots=True)
class Side:
    """One version with an environment in which it is installed."""

    name: str
    python: Path

    def start(self, module: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
        command = [str(self.python), "-m", f"tests.upgrade.{module}", *map(str, arguments)]
        return subprocess.Popen(command, cwd=ROOT)


NEW = Side("new", Path(sys.executable))


def default_commit() -> str:
    """The last tag before the working tree; where there is none yet, the commit that watching began with."""
    tagged = subprocess.run(
        ["git", "describe", "--tags", "--abbrev=0"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return tagged.stdout.strip() or FIRST


def old_side(commit: str) -> Side:
    """The commit in a worktree and an environment of its own."""
    folder = CACHE / _git("rev-parse", "--short=12", f"{commit}^{{commit}}")
    if not folder.exists():
        _git("worktree", "prune")
        _git("worktree", "add", "--detach", str(folder), commit)
    subprocess.run(["make", "--silent", "-C", str(folder), "setup"], check=True)
    return Side("old", folder / ".venv" / "bin" / "python")


def shares_stores(commit: str) -> bool:
    """Whether the working tree promises to open the stores that this commit writes.

    It promises so for every store that lies among its golden ones, under whatever name; they are never written
    again once formats are frozen, so a commit whose golden stores all lie here writes stores that open here.
    """
    listed = _git("ls-tree", "-r", commit, GOLDEN_STORES).splitlines()
    stores = {line.split()[2] for line in listed if line.endswith(".db.gz")}
    here = {_git("hash-object", str(path)) for path in (ROOT / GOLDEN_STORES).glob("*.db.gz")}
    return stores <= here


def _git(*arguments: str) -> str:
    found = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {found.stderr.strip()}")
    return found.stdout.strip()
