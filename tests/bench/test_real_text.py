"""The benches on real text run on a few lines: rover is the real one, tables land between their marks."""

from pathlib import Path

import pytest

from bench import catalogue, few_truths, lattices, readme, settings
from bench.markdown import page_command, table, write_section
from bench.rover import compare
from galloon.clients.replay.material import Input, read_material
from galloon.clients.samples import asr_sample
from tests.system import needs


@needs("sctk")
def test_rover_and_galloon_on_the_same_utterances():
    figures = compare(read_material(asr_sample(), limit=12, most=Input.BEST))
    assert 0 < figures["rover_wer"] < 60
    assert 0 < figures["galloon_wer"] < 60
    assert min(figures["rover_per_s"], figures["galloon_per_s"], figures["galloon_daemon_per_s"]) > 0


def test_the_catalogue_has_every_learner_with_every_gain(tmp_path: Path):
    material = catalogue.materials(4)["ASR"]
    rows = catalogue.rows("ASR", material)
    assert len(rows) == len(catalogue.LEARNERS) * len(catalogue.GAINS)
    assert all(row.regret is not None for row in rows)
    assert all(row.regret <= row.limit for row in rows if row.limit is not None)
    assert [system.name for system in catalogue.compared(material)][1] == "majority vote"


def test_settings_are_compared_with_the_blind_choice():
    names = [system.name for system in settings.systems(settings.materials(6)["ASR"])]
    assert "random engine per slot" in names
    assert len(names) == 6


def test_the_rows_of_the_readme_are_what_its_commands_print(monkeypatch: pytest.MonkeyPatch):
    shown = (readme.ROOT / "README.md").read_text()
    assert all(f"| {row} |" in shown and f"\n{command}\n" in shown for row, command in readme.ROWS.items())
    monkeypatch.setattr(readme, "ROWS", {"characters": readme.ROWS["OCR, five engines, characters"]})
    rates = readme.figures(limit=6)["characters"]
    assert list(rates) == ["best engine", "majority vote", "galloon", "best token per slot"]
    assert 0 <= rates["best token per slot"] <= rates["best engine"] < 20


def test_a_table_lands_between_its_marks(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- begin x -->\nold\n<!-- end x -->\nafter\n")
    for text in ("first", table(("a", "b"), [("1", "2")])):
        write_section(page, "x", "make it", text)
    made = "Made by `make it`.\n\n| a | b |\n| --- | ---: |\n| 1 | 2 |\n"
    assert page.read_text() == f"before\n<!-- begin x -->\n{made}<!-- end x -->\nafter\n"
    with pytest.raises(SystemExit, match="no place"):
        write_section(page, "y", "make it", "text")


def test_a_bench_writes_its_own_section(tmp_path: Path):
    path = tmp_path / "page.md"
    path.write_text("<!-- begin x -->\n<!-- end x -->\n")

    def page(file: Path, limit: int | None = None) -> str:
        return f"{file.name}, {limit} lines"

    page_command("x", page, "file").main([str(path), str(path), "--limit", "3"], standalone_mode=False)
    made = "Made by `python -m bench.x docs/results.md FILE`.\n\npage.md, 3 lines\n"
    assert path.read_text() == f"<!-- begin x -->\n{made}<!-- end x -->\n"


def test_few_truths_on_a_few_lines():
    """The good recogniser, named as trusted, is believed."""
    found = few_truths.figures(limit=few_truths.CORRECTED + 4)
    assert list(found["OCR, 5 engines"]) == ["0%", "1%", "5%", "100%"]
    groups = {name: rates for name, rates in found.items() if name.startswith(few_truths.GOOD)}
    assert len(groups) == 4
    assert all(rates["trusted"] <= rates["best engine"] for rates in groups.values())


def test_a_row_of_the_lattices_table_is_made_of_a_few_lines():
    row = lattices.row(("ps_dom", "ps_gen"), asr_sample(), limit=6)
    assert row[0] == "ps_dom, ps_gen"
    assert len(row) == len(lattices.HEADS)
    assert all(float(row[place]) >= 0 for place in (1, 2, 3, 5, 6, 7))
