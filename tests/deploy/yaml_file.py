"""YAML files as values. Debian's Python has the parser (python3-yaml), so that the project needs no other."""

import json
import subprocess
from pathlib import Path
from typing import Any

READ = "import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)"


def read_yaml(path: Path) -> list[Any]:
    """The documents of a file."""
    with path.open("rb") as file:
        done = subprocess.run(["/usr/bin/python3", "-c", READ], stdin=file, capture_output=True, check=False)
    assert done.returncode == 0, f"{path}: {done.stderr.decode()}"
    found: list[Any] = json.loads(done.stdout)
    return found
