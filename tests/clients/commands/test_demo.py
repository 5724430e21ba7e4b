"""`galloon demo`, which is `make run`: a table at once, a daemon that stays, and a clean end."""

import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
DEMO = [sys.executable, "-m", "galloon", "demo", "--limit", "30", "--folder"]


def test_once_shows_every_engine_the_vote_and_galloon_and_ends_well_again_and_again(tmp_path: Path):
    first = subprocess.run([*DEMO, tmp_path, "--once"], capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stderr
    for system in ("tess_eng", "tess_deu", "tess_bin", "rapidocr", "tess_legacy", "majority vote", "galloon"):
        assert re.search(rf"{system}\s*│\s*\d+\.\d\d", first.stdout), first.stdout
    assert re.search(r"page  http://127.0.0.1:\d+/\n", first.stdout)
    assert re.search(r"metrics  http://127.0.0.1:\d+/metrics\n", first.stdout)
    assert (tmp_path / "data" / "galloon.db").exists()
    second = subprocess.run([*DEMO, tmp_path, "--once"], capture_output=True, text=True, check=False)
    # The learner starts anew, so the figures are the same.
    assert _table(second.stdout) == _table(first.stdout)


def test_it_serves_until_it_is_stopped_and_takes_the_daemon_along(tmp_path: Path):
    with _started(tmp_path) as demo:
        lines = []
        while not lines or "Serving until" not in lines[-1]:
            lines.append(demo.stdout.readline())
            assert lines[-1], f"it ended early: {lines}"
        page = re.search(r"http://[\d.:]+/", "".join(lines))[0]
        with urllib.request.urlopen(f"{page}metrics", timeout=30) as answer:
            assert 'galloon_learner_lessons{learner="sample/ocr"} 30.0' in answer.read().decode()
        demo.send_signal(signal.SIGTERM)
        assert demo.wait(60) == 0
        with pytest.raises(OSError, match="refused"):
            urllib.request.urlopen(page, timeout=30)
        assert "stopped" in (tmp_path / "daemon.log").read_text()


def test_a_daemon_that_cannot_start_is_explained_with_its_log(tmp_path: Path):
    (tmp_path / "data").write_text("a file where the store should be")
    done = subprocess.run([*DEMO, tmp_path, "--once"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "cannot be used as data directory" in done.stderr


def _table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("│")]


@contextmanager
def _started(folder: Path) -> Iterator[subprocess.Popen[str]]:
    demo = subprocess.Popen([*DEMO, folder], stdout=subprocess.PIPE, text=True)
    try:
        yield demo
    finally:
        demo.send_signal(signal.SIGTERM)
        demo.wait(60)
        demo.stdout.close()
