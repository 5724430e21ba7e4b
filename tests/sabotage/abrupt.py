"""A plugin of pytest: end at once after the last word, because a bug that was planted may leave threads
that never end.
"""

import os
import sys

import pytest

_STATUS = [1]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    _STATUS[0] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_STATUS[0])
