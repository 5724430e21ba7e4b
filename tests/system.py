"""Programs of the system that some tests drive."""

import os
import shutil

import pytest


def needs(program: str) -> pytest.MarkDecorator:
    """Skip a test by name where the program is not installed; with GALLOON_NO_SKIP=1 let it fail instead."""
    missing = shutil.which(program) is None and os.environ.get("GALLOON_NO_SKIP") != "1"
    return pytest.mark.skipif(missing, reason=f"the program `{program}` is not installed")
