"""The picture of the README can be taken again: the same program, from a shorter run."""

from pathlib import Path

import pytest

from tests import page_picture
from tests.system import needs

PNG = b"\x89PNG\r\n"


@pytest.mark.slow
@needs("chromium")
def test_the_page_is_pictured_from_a_real_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    picture = tmp_path / "page.png"
    monkeypatch.setattr(page_picture, "ROUNDS", 12)
    monkeypatch.setattr("sys.argv", ["page_picture", str(picture)])
    page_picture.main()
    made = picture.read_bytes()
    assert made.startswith(PNG)
    width, height = (int.from_bytes(made[at : at + 4], "big") for at in (16, 20))
    assert (width / page_picture.WIDTH, height / page_picture.HEIGHT) in {(1, 1), (2, 2)}
