"""`make ray`: a file combined on a real Ray has the bytes of one process in order, also when a worker is killed.

Not among `make test`: Ray is 200 MB, an extra that nothing else needs. It binds addresses of the machine, so it
runs in a network namespace that has nothing but loopback, where one can be made.
"""

import gzip
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest

from galloon.clients.bulk.pools import Pool, processes, ray_tasks
from galloon.clients.bulk.run import combine_file
from galloon.clients.commands.combine import _bulk_spec
from galloon.clients.samples import ocr_sample
from galloon.learners.documents.cutting import LONGEST

LINES, RANGE_BYTES = 120, 20_000
# A busy machine starts Ray's helpers slowly, and Ray gives up on them after half a minute.
PATIENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_agent_register_timeout_ms": "300000"}
PATIENT |= {"RAY_raylet_start_wait_time_s": "300"}


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed (pip install 'galloon[ray]')")
def test_the_same_bytes_as_one_process_although_a_worker_is_killed(tmp_path: Path):
    command = [sys.executable, "-m", "tests.clients.bulk.ray_cluster", str(tmp_path)]
    alone = os.getuid() == 0 and shutil.which("unshare") is not None
    if alone:
        command = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *command]
    subprocess.run(command, check=True, env=os.environ | PATIENT)
    assert (tmp_path / "killed").read_text(), "no worker was killed"
    assert (tmp_path / "ray").read_bytes() == (tmp_path / "one").read_bytes()


def _combine(pool: Pool, path: Path, output: Path) -> None:
    spec_of = partial(_bulk_spec, {}, None)
    combine_file(pool, path, output, spec_of, longest=LONGEST, range_bytes=RANGE_BYTES)


def _kill_a_worker(folder: Path) -> None:
    """One that is at work, once the first part is there."""
    while not list((folder / "ray.parts").glob("*.part")):
        time.sleep(0.02)
    while True:
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                is_ours = (entry / "cmdline").read_bytes().startswith(b"ray::guarded")
                if is_ours and str(folder).encode() in (entry / "environ").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
                    (folder / "killed").write_text(entry.name)
                    return
            except OSError:
                pass  # it has just ended
        time.sleep(0.01)


def _main(folder: Path) -> None:
    path = folder / "lines.jsonl"
    with gzip.open(ocr_sample(), "rt", encoding="utf-8") as file:
        path.write_text("".join(next(file) for _ in range(LINES)), encoding="utf-8")
    os.environ["GALLOON_RAY_TEST"] = str(folder)  # by which its own workers are told from those of others
    with processes(1) as pool:
        _combine(pool, path, folder / "one")
    threading.Thread(target=_kill_a_worker, args=(folder,), daemon=True).start()
    with ray_tasks("local") as pool:
        _combine(pool, path, folder / "ray")


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
