"""The wire contract: its generated code is fresh, it is clean under buf, and nothing in it breaks clients."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

from tests.system import needs

PROTO = Path(__file__).parents[2] / "proto"


def test_generated_code_is_fresh(tmp_path):
    """Generating again gives the checked-in files, byte for byte, and no others."""
    spec = importlib.util.spec_from_file_location("generate", PROTO / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    generate.generate(tmp_path)
    made = {path.name: path.read_text() for path in (tmp_path / "galloon/v1").iterdir()}
    kept = {path.name: path.read_text() for path in (PROTO / "galloon/v1").glob("*_pb2*")}
    assert made == kept, "run `make proto`"


@pytest.fixture(scope="module")
def buf() -> list[str]:
    """The pinned buf of proto/package.json, installed once."""
    subprocess.run(
        ["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=PROTO, check=True, capture_output=True
    )
    return [str(PROTO / "node_modules/.bin/buf")]


@needs("npm")
@pytest.mark.parametrize("check", [["lint"], ["breaking", "--against", "baseline.binpb"]], ids=lambda c: c[0])
def test_buf_is_content(buf, check):
    """`buf lint` finds nothing (every field has a comment), `buf breaking` nothing that breaks a client."""
    result = subprocess.run([*buf, *check], cwd=PROTO, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
