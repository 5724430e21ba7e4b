"""`galloon combine` on lattices, through a daemon: decoded alone, written as lattices, the baseline beside it."""

from pathlib import Path

import pytest

from galloon.clients.formats.registry import format_named
from galloon.clients.formats.source import open_source
from galloon.clients.samples import asr_sample
from tests.clients.replays import galloon, told
from tests.daemon_process import Daemon

SLF = """VERSION=1.0
N=4 L=5
I=0
I=1
I=2
I=3
J=0 S=0 E=1 W=call l=-0.9
J=1 S=0 E=1 W=!NULL l=-0.5
J=2 S=1 E=2 W=me l=0
J=3 S=2 E=3 W=Ishmael l=-0.4
J=4 S=2 E=3 W=fish l=-1.1
"""


@pytest.fixture
def lattice(tmp_path: Path) -> Path:
    file = tmp_path / "one.slf"
    file.write_text(SLF)
    return file


def test_a_lattice_alone_is_decoded_by_its_risk(daemon: Daemon, lattice: Path):
    assert galloon("combine", lattice, "--server", daemon.address).stdout == "me Ishmael\n"
    assert galloon("combine", lattice, "--mbr").stdout == "me Ishmael\n"


@pytest.mark.parametrize(("form", "reader"), [("lattice", "slf"), ("openfst", "openfst-text")])
def test_the_combined_lattice_says_what_was_chosen(
    daemon: Daemon, lattice: Path, tmp_path: Path, form: str, reader: str
):
    others = [tmp_path / "two.txt", tmp_path / "three.txt"]
    for file in others:
        file.write_text("call me fish\n")
    out = tmp_path / "out"
    files = (lattice, *others, "--join", "order", "--server", daemon.address)
    result = galloon("combine", *files, "--to", form, "-o", f"{out}/")
    assert result.exit_code == 0, result.output
    text = galloon("combine", *files).stdout
    (path,) = (path for path in out.iterdir() if path.name != "words.txt")
    ((_, output),) = format_named(reader).read(open_source(path)).outputs.items()
    assert f"{output.text}\n" == text
    assert set(output.lattice.words) > set(text.split())


def test_what_does_not_go_together_is_said(lattice: Path, tmp_path: Path):
    for options, words in (
        (("--to", "lattice"), "name a folder with -o"),
        (("--to", "openfst", "-o", f"{tmp_path}/x/", "--json"), "excludes --mbr, --json"),
        (("--mbr", "--explain"), "has no learner"),
        (("--mbr", "--join", "match"), "--join id"),
    ):
        result = galloon("combine", lattice, *options)
        assert result.exit_code == 2
        assert words in " ".join(result.output.split())


def test_replay_shows_minimum_bayes_risk_and_the_best_paths(daemon: Daemon):
    report = told(
        "replay", asr_sample(), "--engines", "ps_dom,ps_gen", "--limit", "80", "--server", daemon.address
    )
    assert report["mbr"]["alone"].keys() == {"ps_dom", "ps_gen"}
    best = min(system["wer"] for system in report["engines"].values())
    assert report["oracle_lattice"]["wer"] < best
    assert "galloon_against_it" in report["mbr"]
    plain = told("replay", asr_sample(), "--limit", "10", "--input", "1best", "--server", daemon.address)
    assert "mbr" not in plain
    assert "oracle_lattice" not in plain
