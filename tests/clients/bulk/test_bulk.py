"""Large files by many workers: the same bytes as one process in order, whatever is killed on the way."""

import gzip
import os
import signal
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.__main__ import main
from galloon.clients.api.errors import FormatError, WrongUsage
from galloon.clients.bulk import pools, work
from galloon.clients.bulk.pools import BulkFailed, processes, ray_tasks
from galloon.clients.bulk.ranges import cut, lines_of
from galloon.clients.bulk.run import combine_file
from galloon.clients.commands.combine import _bulk_spec
from galloon.clients.samples import ocr_sample
from galloon.learners.documents.cutting import LONGEST

LINES = 60


class Here:
    """A pool that works in this process, the last task first."""

    def outcomes(self, work, tasks):
        for task in reversed(tasks):
            yield pools._judged(pools.guarded(work, *task))


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Path:
    """Some lines of the sample, an empty one among them, and a long one that is cut into pieces."""
    with gzip.open(ocr_sample(), "rt", encoding="utf-8") as file:
        lines = [next(file) for _ in range(LINES)]
    words = " ".join(f"word{number % 700}" for number in range(3000))
    long = f'{{"id": "long", "experts": {{"tess_eng": {{"text": "{words}"}}}}}}\n'
    path = tmp_path_factory.mktemp("bulk") / "lines.jsonl"
    path.write_text("".join([*lines[:30], "\n", long, *lines[30:]]), encoding="utf-8")
    return path


def combined(pool, path: Path, output: Path, *, as_json=False, state=None, range_bytes=40_000) -> bytes:
    spec_of = partial(_bulk_spec, {}, state)
    combine_file(
        pool, path, output, spec_of, state=state, as_json=as_json, longest=LONGEST, range_bytes=range_bytes
    )
    assert not output.with_name(f"{output.name}.parts").exists()
    return output.read_bytes()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 40)), st.booleans(), st.integers(1, 90))
def test_ranges_are_the_file_and_begin_with_lines(tmp_path_factory, lengths, ended, size):
    path = tmp_path_factory.mktemp("cut") / "file"
    data = b"".join(b"x" * length + b"\n" for length in lengths)
    path.write_bytes(data if ended else data[:-1])
    ranges = cut(path, size)
    found = [line for part in ranges for line in lines_of(path, part)]
    assert found == path.read_bytes().splitlines(keepends=True)
    assert [part.number for part in ranges] == list(range(len(ranges)))
    assert all(first.end == second.start for first, second in pairwise(ranges))


@pytest.mark.parametrize("as_json", [False, True])
def test_the_same_whatever_the_ranges(sample, tmp_path, as_json):
    """One range, in order; many ranges, in another order."""
    wanted = combined(Here(), sample, tmp_path / "one", as_json=as_json, range_bytes=1 << 30)
    assert wanted.count(b"\n") == LINES + 1
    assert combined(Here(), sample, tmp_path / "many", as_json=as_json) == wanted


def test_the_learner_has_seen_the_file_before_it_decides(sample, tmp_path, monkeypatch):
    """What agreement teaches is in the answers: they differ where it has seen one line alone."""
    all_seen = combined(Here(), sample, tmp_path / "all")
    monkeypatch.setattr(work, "OBSERVED", 1)
    assert combined(Here(), sample, tmp_path / "one", range_bytes=1 << 30) != all_seen


def test_processes_do_the_same_through_the_command(sample, tmp_path):
    ran = CliRunner().invoke(main, ["combine", str(sample), "--workers", "2", "-o", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / "out").read_bytes() == combined(Here(), sample, tmp_path / "here")


def test_a_part_that_is_there_is_not_made_again(sample, tmp_path):
    """A run that ended goes on: what it left is taken as it is; parts of another run are refused."""
    output = tmp_path / "out"

    class Ends(Here):
        def outcomes(self, work, tasks):
            for place, outcome in enumerate(super().outcomes(work, tasks)):
                if work.__name__ == "combine" and place == 1:
                    raise KeyboardInterrupt
                yield outcome

    with pytest.raises(KeyboardInterrupt):
        combined(Ends(), sample, output)
    folder = output.with_name("out.parts")
    parts = sorted(folder.glob("*.part"))
    assert len(parts) == 2
    with pytest.raises(WrongUsage, match="parts of another run"):
        combined(Here(), sample, output, as_json=True)
    parts[-1].write_text("this was there\n")
    assert combined(Here(), sample, output).endswith(b"this was there\n")


def _dies_once(folder: Path, number: int) -> int:
    marker = folder / f"{number}"
    if number % 3 == 0 and not marker.exists():
        marker.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _always_dies(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_worker_had_in_hand_is_done_by_another(tmp_path):
    with processes(2) as pool:
        assert sorted(pool.outcomes(_dies_once, [(tmp_path, n) for n in range(7)])) == list(range(7))


def test_work_that_kills_every_worker_ends_with_a_sentence(monkeypatch):
    monkeypatch.setattr(pools, "DEATHS", 2)
    with processes(1) as pool, pytest.raises(BulkFailed, match="enough memory"):
        list(pool.outcomes(_always_dies, [(1,)]))


def test_a_line_that_is_wrong_is_named_by_its_number(sample, tmp_path):
    """Whatever range it is in; the parts before it stay for the next run."""
    path = tmp_path / "wrong.jsonl"
    path.write_text(sample.read_text(encoding="utf-8") + '{"id": 7}\n', encoding="utf-8")
    with pytest.raises(BulkFailed, match=rf"line {LINES + 3}: .*experts"):
        combined(Here(), path, tmp_path / "out")


def test_a_compressed_file_cannot_be_cut(tmp_path):
    path = tmp_path / "lines.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n"))
    with pytest.raises(FormatError, match="gunzip"):
        combined(Here(), path, tmp_path / "out")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--workers", "2"], "-o"),
        (["--workers", "2", "--server", "127.0.0.1:1", "-o", "x"], "leave out --server"),
        (["--workers", "2", "--ray", "auto", "-o", "x"], "choose one"),
    ],
)
def test_wrong_usage_says_what_to_do(sample, flags, words):
    ran = CliRunner().invoke(main, ["combine", str(sample), *flags])
    assert ran.exit_code == 2
    assert words in ran.output


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(WrongUsage, match=r"galloon\[ray\]"), ray_tasks("auto"):
        pass
