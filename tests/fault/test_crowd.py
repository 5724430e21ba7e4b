"""The short version of the crowds: all streams are answered, and nothing of them is left behind."""

from pathlib import Path

import pytest

from tests.daemon_process import running_daemon
from tests.fault.crowd import many_streams, slow_and_silent


@pytest.mark.slow
async def test_a_crowd_is_answered_and_leaves_no_descriptor_behind(tmp_path: Path):
    with running_daemon(tmp_path, "log.level=error") as daemon:
        for crowd in (await many_streams(daemon, 40), await slow_and_silent(daemon, 8, 1.0)):
            assert crowd.descriptors_grown <= 0, crowd.sentence()
            assert crowd.grown_mb < 64, crowd.sentence()
