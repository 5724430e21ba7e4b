"""The image, built from the Dockerfile and lived in: not root, nothing to write but /data, restarted, drained."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.deploy.real_prometheus import DEPLOY
from tests.system import needs

pytestmark = [
    pytest.mark.slow,
    needs("buildah"),
    needs("debootstrap"),
    needs("unshare"),
    pytest.mark.skipif(os.getuid() != 0, reason="making a root file system needs root"),
]
LARGEST_MB = 600


def test_the_image_is_small_and_lives_through_its_day():
    """What it must do is written in try_image.py; each step there is an assertion."""
    environment = {**os.environ, "PYTHON": sys.executable, "IMAGE": "localhost/galloon:test"}
    built = _run("build_image.sh", environment)
    size, unit = re.search(r"([\d.]+) ([MG])B$", built.strip()).groups()
    assert unit == "M"
    assert float(size) < LARGEST_MB
    tried = json.loads(_run("try_image.py", environment))
    assert tried["user"] == "10001:10001"
    assert tried["lessons"] == 2 * tried["played"]["utterances"] > 0


def _run(script: str, environment: dict[str, str]) -> str:
    done = subprocess.run([DEPLOY / script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
