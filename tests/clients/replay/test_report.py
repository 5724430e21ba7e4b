"""The HTML report in a real browser: one file, no requests, filters that filter, nothing of a file that is run."""

import json
import re
from pathlib import Path

import pytest

from tests.chromium import chromium
from tests.clients.replays import CHEAP, galloon, record, write
from tests.daemon_process import Daemon
from tests.system import needs

EVIL = "</script><script>document.title='gone'</script> {{data}} <b>&"


@pytest.fixture
def page(daemon: Daemon, tmp_path: Path) -> Path:
    """A report of thirty lines: the odd ones have an error, and one line means harm."""
    lines = [
        record(
            n,
            a="the cat sat",
            b=f"the {'hat' if n % 2 else 'cat'} sat",
            c=f"the {'hat' if n % 2 else 'cat'} sat",
        )
        for n in range(30)
    ]
    lines.append(record(30, f"good {EVIL}", a=f"bad {EVIL}", b=EVIL, c="x"))
    file, page = write(tmp_path / "some lines.jsonl", *lines), tmp_path / "report.html"
    result = galloon("replay", file, "--server", daemon.address, *CHEAP, "--report", page, "--also", "full")
    assert result.exit_code == 0, result.output
    return page


def test_it_is_one_file_that_leads_nowhere(page: Path):
    text = page.read_text()
    assert not re.findall(r"(?:src|href|url\()\s*=?\s*[\"']?https?:", text)
    data = json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1]
    )
    assert len(data["lines"]) == 31
    assert data["lines"][0]["errors"] == max(line["errors"] for line in data["lines"])
    assert data["experts"][:4] == ["a", "b", "c", "vote"]
    assert "{{title}}" not in text


@needs("chromium")
async def test_a_reader_finds_the_worst_lines_first_and_can_filter(page: Path, tmp_path: Path):
    async with chromium(tmp_path / "profile") as browser:
        tab = await browser.open_tab()
        await tab.go_to(page.as_uri())
        assert await tab.evaluate("document.title") == "some lines.jsonl · galloon replay"
        assert "u30" in await tab.text(".entry h3")
        assert await tab.evaluate("document.querySelectorAll('.charts svg path.line').length") >= 6
        await _choose(tab, "kind", "all")
        assert "31 lines" in await tab.text("#count")
        await _choose(tab, "domain", "odd")
        assert "15 of 15 lines" in await tab.text("#count")
        await _choose(tab, "domain", "")
        await tab.fill("#search", "u7")
        assert "1 of 1 lines" in await tab.text("#count")
        truth = await tab.evaluate("document.querySelector('.slots tr.truth').innerText")
        assert truth.split() == ["truth", "the", "cat", "sat"]
        assert await tab.evaluate("document.querySelectorAll('.slots tr').length") == 6
        await tab.click("#theme")
        assert await tab.evaluate("document.documentElement.dataset.theme") == "dark"
        assert tab.complaints == []
        assert tab.requests == [page.as_uri()]


@needs("chromium")
async def test_it_fits_a_phone(page: Path, tmp_path: Path):
    """Wide tables scroll inside their box; the page itself never does sideways."""
    async with chromium(tmp_path / "profile") as browser:
        tab = await browser.open_tab(390, 844, phone=True, dark=True)
        await tab.go_to(page.as_uri())
        assert await tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert await tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"


async def _choose(tab, field: str, value: str) -> None:
    await tab.evaluate(
        f"(() => {{ const e = document.getElementById({field!r}); e.value = {value!r};"
        "e.dispatchEvent(new Event('change')); })()"
    )
