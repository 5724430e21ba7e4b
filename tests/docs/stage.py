"""Where the commands of a document are typed: a fresh folder that looks like a clone, beside a running daemon.

What differs from a reader's machine is declared here and nowhere else:
- `environment`: ports and data directories of daemons that a document starts are free ones, and clients find the
  test's daemon by GALLOON_ADDRESS. The default addresses in a command or snippet become that daemon's.
- `SHORTER`: options appended to commands that would take minutes: fewer lines, on a daemon that runs already.
  Everything else runs as it is written.
- `_files`: the reader's own files, which the documents call lines.jsonl, eng.tsv and so on.
- Commands that go on until they are stopped (`ENDLESS`) are stopped once they have shown that they work.
"""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

from PIL import Image

from galloon.clients.formats.registry import read_file
from galloon.clients.samples import ocr_sample
from tests.daemon_process import Daemon, free_port
from tests.docs.commands import Command
from tests.docs.markdown import ROOT

# The beginning of a command, and what is appended.
SHORTER = {
    "galloon replay clients/samples/": " --limit 8 --server 127.0.0.1:7410",
    "galloon simulate --algorithm component_hedge": " --rounds 60",
}
ENDLESS = (
    re.compile(r"galloon serve(?!.* --new-token)"),
    re.compile(r"curl .*-N\b"),
)
LIMIT_S = 240.0  # of one command, on a machine that is busy with other tests


class Stage:
    """One folder; `run` types a command in it and says what it printed."""

    def __init__(self, folder: Path, daemon: Daemon) -> None:
        self.folder, self._daemon = folder, daemon
        for name in ("bench", "clients", "daemon", "deploy", "learners", "proto", "tests"):
            (folder / name).symlink_to(ROOT / name)
        shutil.copytree(ROOT / "docs", folder / "docs")  # commands write into it
        (folder / ".venv").symlink_to(sys.prefix)
        (folder / "galloon-data").symlink_to(daemon.data_dir)
        _files(folder)
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}",
            "GALLOON_ADDRESS": daemon.address,
            "GALLOON_SERVER_LISTEN": f"127.0.0.1:{free_port()}",
            "GALLOON_HTTP_LISTEN": f"127.0.0.1:{free_port()}",
            "GALLOON_STORE_DATA_DIR": "own-data",
            "COLUMNS": "120",
        }

    def run(self, command: Command) -> str:
        """Type it. It must end with status 0, or work until it is stopped and then end with status 0."""
        shorter = (more for beginning, more in SHORTER.items() if command.text.startswith(beginning))
        text = self.localised(command.text + "".join(shorter))
        if any(pattern.match(text) for pattern in ENDLESS):
            return self._run_until_it_works(command, text)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, f"{command.where}: {text}\nstatus {done.returncode}\n{done.stderr}"
        return done.stdout

    def localised(self, text: str) -> str:
        """The default addresses become those of the test's daemon."""
        text = text.replace("127.0.0.1:7410", self._daemon.address)
        return text.replace("127.0.0.1:7411", self._daemon.http_address)

    def _run_until_it_works(self, command: Command, text: str) -> str:
        """A server works once its ports are open, anything else once it prints; SIGTERM must then end it well."""
        ready, printed = self.folder / "ready.json", self.folder / "printed"
        serves = text.startswith("galloon serve")
        with printed.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {text}" + (f" --ready-file {ready}" if serves else "")],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            deadline = time.monotonic() + LIMIT_S
            while not (ready.exists() if serves else printed.stat().st_size):
                told = f"{command.where}: {text}\n{printed.read_text(errors='replace')}"
                assert process.poll() is None, f"{told}\nended with status {process.returncode}"
                assert time.monotonic() < deadline, f"{told}\nshowed nothing"
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            status = process.wait(LIMIT_S)
        finally:
            process.kill()
            process.wait()
            ready.unlink(missing_ok=True)
        assert status == (0 if serves else -signal.SIGTERM), f"{command.where}: {text}\nstatus {status}"
        return printed.read_text(errors="replace")


def same_shape(shown: str, printed: str) -> bool:
    """Whether a document shows what is printed: words exactly, numbers as numbers, "..." for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?"
        if line.strip() == "..."
        else re.sub(r"\d+", r"\\d+", re.escape(line.rstrip())) + r"[ ]*\n"
        for line in shown.splitlines()
    )
    return (
        re.search(f"^{pattern}", printed if printed.endswith("\n") else f"{printed}\n", re.MULTILINE)
        is not None
    )


def _files(folder: Path) -> None:
    """The reader's own files."""
    page = (ROOT / "tests/data/formats/tesseract-tsv/page.tsv").read_text(encoding="utf-8")
    (folder / "eng.tsv").write_text(page, encoding="utf-8")
    (folder / "deu.tsv").write_text(page.replace("ears", "cars"), encoding="utf-8")
    _pages_and_recordings(folder, page)
    true_texts = [output.text for output in read_file(folder / "eng.tsv").outputs.values()]
    (folder / "true.txt").write_text("\n".join(true_texts) + "\n", encoding="utf-8")
    shutil.copy(ROOT / "daemon/galloon.toml", folder / "galloon.toml")
    with gzip.open(ocr_sample(), "rt", encoding="utf-8") as sample:
        lines = [json.loads(line) for line in islice(sample, 20)]
    with (folder / "lines.jsonl").open("w", encoding="utf-8") as file:
        for number, line in enumerate(lines, 1):
            experts = {name: line["experts"][name] for name in ("tess_eng", "tess_deu", "rapidocr")}
            kept = {"id": f"line-{number}", "domain": line["domain"], "target": line["target"]}
            file.write(json.dumps({**kept, "experts": experts}) + "\n")


def _pages_and_recordings(folder: Path, page: str) -> None:
    """The same page in other formats and in folders, and a recording."""
    (folder / "deu.hocr").write_bytes((ROOT / "tests/data/formats/hocr/page.hocr").read_bytes())
    (folder / "page.xml").write_bytes((ROOT / "tests/data/formats/alto/page.xml").read_bytes())
    (folder / "model.md").write_bytes((ROOT / "tests/data/formats/text/page.txt").read_bytes())
    (folder / "scan.tsv").write_text(page, encoding="utf-8")
    (folder / "scans").mkdir()
    for name in ("scan.png", "scans/page-001.png"):
        Image.new("L", (1800, 440), 255).save(folder / name)
    for engine in ("eng", "deu", "cloud", "vlm"):
        (folder / "out" / engine).mkdir(parents=True)
        (folder / "out" / engine / "page-001.tsv").write_text(page, encoding="utf-8")
    words = [(word, 0.4 * n, 0.4 * n + 0.3) for n, word in enumerate("so it is and so it was".split())]
    segments = [{"id": 0, "start": 0.0, "end": 2.8, "text": " ".join(word for word, _, _ in words)}]
    (folder / "whisper.json").write_text(json.dumps({"text": "", "segments": segments}), encoding="utf-8")
    heard = [{"word": word, "start": start, "end": end, "conf": 0.9} for word, start, end in words]
    (folder / "vosk.json").write_text(json.dumps({"result": heard, "text": ""}), encoding="utf-8")
    rows = [f"talk 1 {start:.2f} 0.30 {word} 0.9\n" for word, start, _ in words]
    (folder / "talk.ctm").write_text("".join(rows), encoding="utf-8")
