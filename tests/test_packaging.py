"""What is built is what is in the tree: the wheel holds every module and file, and all of them import."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
IMPORT_ALL = """
import sys, pkgutil, importlib
sys.path.insert(0, sys.argv[1])
import galloon
assert galloon.__file__.startswith(sys.argv[1]), galloon.__file__
names = [m.name for m in pkgutil.walk_packages(galloon.__path__, "galloon.") if not m.name.endswith("__main__")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel, made from the source distribution, unpacked into a folder of its own."""
    built = tmp_path_factory.mktemp("built")
    folder = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", built, ROOT]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = built.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, wheel]
    subprocess.run(install, check=True, capture_output=True)
    return folder


def test_every_module_of_the_wheel_imports(installed):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, installed], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 150


def test_the_wheel_holds_every_file_that_the_tree_has(installed):
    for folder in ("learners", "daemon", "clients", "codec"):
        source = ROOT / "src" / "galloon" / folder
        tree = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
        there = {
            path.relative_to(installed / "galloon" / folder)
            for path in (installed / "galloon" / folder).rglob("*")
            if path.is_file()
        }
        compiled = {path for path in tree | there if "__pycache__" in path.parts}
        assert tree - compiled == there - compiled
