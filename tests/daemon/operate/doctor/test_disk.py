"""The disk: network file systems and memory are told from disks, room and syncs are measured."""

import os

import pytest

from galloon.daemon.operate.doctor.disk import (
    Sync,
    check_disk,
    check_space,
    check_sync,
    check_type,
    file_system,
    measure_sync,
)
from galloon.daemon.operate.doctor.finding import Verdict


def test_a_directory_that_is_still_to_be_made_is_judged_by_its_parent_and_nothing_is_left(tmp_path):
    found = list(check_disk(tmp_path / "not" / "yet"))
    assert [finding.area for finding in found] == ["disk", "space", "sync"]
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_written_is_bad(tmp_path, monkeypatch):
    # Not by the mode of a directory: root may write anywhere.
    monkeypatch.setattr(os, "access", lambda path, _: str(path) != str(tmp_path))
    (found,) = check_disk(tmp_path)
    assert found.verdict is Verdict.BAD


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [("ext4", "good"), ("nfs4", "bad"), ("9p", "bad"), ("tmpfs", "doubtful"), ("overlay", "doubtful")],
)
def test_kinds_of_file_systems(tmp_path, kind, verdict):
    assert check_type(tmp_path, kind).verdict == verdict


@pytest.mark.parametrize(("free", "verdict"), [(50 << 20, "bad"), (500 << 20, "doubtful"), (5 << 30, "good")])
def test_room(tmp_path, free, verdict):
    assert check_space(tmp_path, free).verdict == verdict


@pytest.mark.parametrize(("seconds", "verdict"), [(1e-6, "doubtful"), (0.004, "good"), (0.05, "doubtful")])
def test_syncs_that_are_too_slow_or_too_good_to_be_true(tmp_path, seconds, verdict):
    assert check_sync(tmp_path, Sync(seconds, seconds)).verdict == verdict


def test_syncs_are_really_made(tmp_path, monkeypatch):
    made = []
    real = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: made.append(real(descriptor)))
    sync = measure_sync(tmp_path)
    assert len(made) >= 10
    assert 0 < sync.median_s <= sync.worst_s


def test_the_innermost_mount_decides(tmp_path):
    inside = tmp_path / "a b" / "c"
    inside.mkdir(parents=True)
    mounts = tmp_path / "mountinfo"
    spaced = str(tmp_path / "a b").replace(" ", "\\040")
    mounts.write_text(
        "1 0 0:1 / / rw - overlay overlay rw\n"
        f"2 1 0:2 / {tmp_path} rw shared:5 - ext4 /dev/x rw\n"
        f"3 2 0:3 / {spaced} rw - nfs4 server:/x rw\n"
        "4 1 0:4 / /elsewhere rw - tmpfs tmpfs rw\n"
    )
    assert file_system(inside, mounts) == "nfs4"
    assert file_system(tmp_path, mounts) == "ext4"
