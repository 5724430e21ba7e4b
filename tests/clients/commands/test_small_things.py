"""What every command owes its user: early refusals, quiet pipes, and what to install."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.replays import cats, galloon, told, write
from tests.daemon_process import Daemon

# Runs a command as if some packages were not installed.
CLIENT_ONLY = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from galloon.__main__ import main
main(sys.argv[2:])
"""
SERVER = "aiohttp,grpc_health,grpc_reflection,numba,prometheus_client,pynini,pywrapfst,llvmlite,_pywrapfst"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("combin", " Did you mean 'combine'?"), ("history", " Did you mean 'learners history'?"), ("xyzzy", "")],
)
def test_a_command_that_is_not_there_is_told_from_one_that_was_meant(typed: str, meant: str):
    result = galloon(typed)
    assert result.exit_code == 2
    assert f"No such command '{typed}'.{meant}\n" in result.output


@pytest.mark.parametrize(
    ("option", "name"), [("--report", "r.html"), ("--plot", "p.png"), ("--state", "s.learner")]
)
def test_a_missing_folder_is_named_before_the_run(tmp_path: Path, option: str, name: str):
    """Nothing is played: the address of the daemon is one where nobody listens."""
    file = cats(tmp_path / "u.jsonl")
    result = galloon("replay", file, "--server", "127.0.0.1:1", option, tmp_path / "missing" / name)
    assert result.exit_code == 2
    assert f"the folder {tmp_path / 'missing'} does not exist" in result.output


@pytest.mark.parametrize(
    "command",
    [["combine", "FILE", "-o", "OUT"], ["convert", "FILE", "-o", "OUT"], ["simulate", "--plot", "OUT.png"]],
    ids=lambda command: command[0],
)
def test_every_command_looks_at_the_folder_first(tmp_path: Path, command: list[str]):
    file, out = cats(tmp_path / "u.jsonl"), tmp_path / "missing" / "out"
    result = galloon(*(word.replace("FILE", str(file)).replace("OUT", str(out)) for word in command))
    assert result.exit_code == 2
    assert "does not exist; make it first" in result.output


@pytest.mark.parametrize(
    "command",
    [
        ["combine", "FILE", "--server", "ADDRESS"],
        ["convert", "FILE"],
        ["convert", "--formats"],
        ["replay", "FILE", "--server", "ADDRESS", "--json"],
        ["score", "FILE"],
        ["learners", "list", "--server", "ADDRESS", "--json"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_reader_who_leaves_is_no_error(tmp_path: Path, daemon: Daemon, command: list[str]):
    """As in `galloon ... | head`: not a word on standard error, but not success either."""
    file = cats(tmp_path / "u.jsonl")
    words = [word.replace("FILE", str(file)).replace("ADDRESS", daemon.address) for word in command]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "galloon", *words],
            check=False,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 1


@pytest.mark.parametrize(
    "command",
    [
        ["serve"],
        ["doctor"],
        ["demo", "--once"],
        ["combine", "FILE"],
        ["replay", "FILE"],
        ["score", "FILE"],
        ["simulate", "--rounds", "3"],
    ],
    ids=lambda command: command[0],
)
def test_a_client_only_install_says_what_to_install(tmp_path: Path, command: list[str]):
    words = [word.replace("FILE", str(cats(tmp_path / "u.jsonl"))) for word in command]
    done = subprocess.run(
        [sys.executable, "-c", CLIENT_ONLY, SERVER, *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert "pip install 'galloon[server]'" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_plots_are_an_extra_of_their_own(tmp_path: Path):
    command = ["simulate", "--rounds", "3", "--seeds", "1", "--plot", str(tmp_path / "p.png")]
    done = subprocess.run(
        [sys.executable, "-c", CLIENT_ONLY, "matplotlib", *command],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "pip install 'galloon[plots]'" in done.stderr


ENCODED = {
    "latin-1": "looks like Latin-1 or Windows-1252; convert it: iconv -f WINDOWS-1252",
    "utf-16": "it is UTF-16, and such a file must be UTF-8; convert it: iconv -f UTF-16 ",
    "utf-16-le": "looks like UTF-16LE without a byte order mark; convert it: iconv -f UTF-16LE",
    "utf-16-be": "looks like UTF-16BE without a byte order mark; convert it: iconv -f UTF-16BE",
}


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("command", ["replay", "score", "combine", "convert"])
def test_an_utterance_file_in_another_encoding_gets_the_right_reason(
    tmp_path: Path, encoding: str, command: str
):
    file = tmp_path / "u.jsonl"
    text = (
        '{"id": "1", "target": "un café", "experts": {"a": {"text": "un café"}, "b": {"text": "un cafe"}}}\n'
    )
    file.write_bytes(text.encode(encoding))
    result = galloon(command, file, *([] if command in {"score", "convert"} else ["--server", "127.0.0.1:1"]))
    assert result.exit_code in {1, 2}
    assert ENCODED[encoding] in result.output


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le", "utf-16-be"])
def test_a_text_in_another_encoding_gets_the_right_reason(tmp_path: Path, encoding: str):
    file = tmp_path / "page.txt"
    file.write_bytes("un café\nau lait\n".encode(encoding))
    for command in (["convert", file], ["score", file, file]):
        result = galloon(*command)
        assert result.exit_code == 1
        assert ENCODED[encoding] in result.output


def test_a_text_in_utf_16_with_its_mark_is_read(tmp_path: Path):
    file = tmp_path / "page.txt"
    file.write_bytes("un café\nau lait\n".encode("utf-16"))
    assert galloon("convert", file, "--to", "text").stdout == "un café\nau lait\n"


def test_a_page_in_several_formats_is_read_once(tmp_path: Path):
    """Refused unless --from says which; then only that one is read."""
    engine = tmp_path / "eng"
    engine.mkdir()
    formats = Path(__file__).parents[2] / "data" / "formats"
    for kind, name in (("hocr", "page.hocr"), ("alto", "page.xml"), ("tesseract-tsv", "page.tsv")):
        (engine / name).write_bytes((formats / kind / name).read_bytes())
    (engine / "page.txt").write_bytes((formats / "text" / "page.txt").read_bytes())
    refused = galloon("convert", engine, "--to", "text")
    assert refused.exit_code == 1
    assert "one page in several formats: page.hocr (hocr), page.tsv (tesseract-tsv), " in refused.output
    assert "--from hocr" in refused.output
    read = galloon("convert", engine, "--to", "text", "--from", "hocr")
    assert read.exit_code == 0, read.output
    assert read.stdout == galloon("convert", engine / "page.hocr", "--to", "text").stdout
    other = galloon("convert", engine, "--to", "text", "--from", "vosk")
    assert other.exit_code == 1
    assert "one page in several formats" in other.output


def test_a_folder_may_hold_different_pages_in_different_formats(tmp_path: Path):
    engine = tmp_path / "eng"
    engine.mkdir()
    (engine / "one.txt").write_text("first page\n")
    write(engine / "two.jsonl", {"id": "7", "experts": {"eng": {"text": "second page"}}})
    assert galloon("convert", engine, "--to", "text").stdout == "first page\nsecond page\n"


def test_the_same_flag_has_the_same_name_in_every_command():
    """The other name of each is accepted, and shown nowhere."""
    for command in (["replay"], ["combine"], ["learners", "create"]):
        text = galloon(*command, "--help").output
        for flag in ("--algorithm", "--labels", "--gain", "--order", "--engines"):
            assert flag in text, (command, flag)
        for alias in ("--context", "--name ", "--experts"):
            assert alias not in text, (command, alias)
    shown = galloon("simulate", "--help").output
    assert "--algorithm" in shown
    assert "--learner" not in shown


def test_the_other_names_of_flags_still_work(tmp_path: Path, daemon: Daemon):
    file, server = cats(tmp_path / "u.jsonl", 4), ("--server", daemon.address)
    new = told("replay", file, *server, "--algorithm", "expanded_hedge", "--labels", "domain")
    old = told("replay", file, *server, "--algorithm", "expanded_hedge", "--context", "domain")
    assert new["gain"] == old["gain"]
    named = galloon("combine", file, *server, "--name", "nobody")
    assert named.exit_code == 1
    assert "nobody" in named.output
    assert galloon("combine", file, "--learner", "someone").exit_code == 2  # no daemon, so no learner of it
    options = ("-T", "5", "--seeds", "1", "-r", "2")
    assert (
        told("simulate", "--learner", "component_hedge", *options)["learners"]
        == told("simulate", "--algorithm", "component_hedge", *options)["learners"]
    )
