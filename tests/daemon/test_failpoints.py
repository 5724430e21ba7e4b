"""Failpoints: off by default, named, and on both sides of every durable step."""

import re
from pathlib import Path

import pytest

from galloon.daemon import failpoints

DAEMON = Path(failpoints.__file__).parent


def test_every_point_is_reached_somewhere():
    """No name without a place, no place without a name."""
    code = "".join(path.read_text() for path in DAEMON.rglob("*.py") if path.name != "failpoints.py")
    for point in failpoints.POINTS:
        assert code.count(f'"{point}"') == 1, point
    named = set(re.findall(r'"((?:journal|lesson|snapshot|learner)\.(?:before|after)_[a-z]+)"', code))
    assert named == set(failpoints.POINTS)


def test_off_unless_asked_for():
    """In this process nobody asked."""
    assert not failpoints._ACTIONS


def test_actions_are_read_and_checked(monkeypatch):
    """Kill at the n-th passage, sleep at every one."""
    killed, slept = [], []
    monkeypatch.setattr(
        failpoints.os, "kill", lambda *who: killed.append(who) or (_ for _ in ()).throw(SystemExit)
    )
    monkeypatch.setattr(failpoints.time, "sleep", slept.append)
    text = "journal.after_sync=kill@3;lesson.before_apply=sleep:0.5"
    monkeypatch.setattr(failpoints, "_ACTIONS", failpoints.parse(text))
    for _ in range(2):
        failpoints.reach("journal.after_sync")
    assert not killed
    with pytest.raises(SystemExit):
        failpoints.reach("journal.after_sync")
    assert len(killed) == 1
    failpoints.reach("lesson.before_apply")
    failpoints.reach("lesson.after_apply")
    assert slept == [0.5]


@pytest.mark.parametrize("text", ["nowhere=kill", "journal.after_sync=explode", "journal.after_sync=sleep"])
def test_wrong_settings_are_refused(text):
    """A typo must not turn a fault test into a test of nothing."""
    with pytest.raises(ValueError, match="GALLOON_FAILPOINTS"):
        failpoints.parse(text)
