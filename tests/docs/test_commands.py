"""Every command and snippet of the documents is run, here or by a test that is named, and prints what is shown."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from galloon.clients.api.blocking import BlockingClient
from galloon.clients.commands.demo import OCR_LEARNER
from galloon.clients.formats.utterances import read_utterances
from galloon.clients.samples import ocr_sample
from galloon.learners.combiners.contract import TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from tests.daemon_process import Daemon, running_daemon
from tests.docs.commands import Command, commands
from tests.docs.elsewhere import ELSEWHERE
from tests.docs.markdown import ROOT, documents, read
from tests.docs.stage import LIMIT_S, Stage, same_shape
from tests.system import needs

SHOWN = {file: commands(read(file)) for file in documents()}
TYPED = {file: [each for each in found if each.text not in ELSEWHERE] for file, found in SHOWN.items()}
FOREIGN = ("curl", "promtool", "sqlite3")
SNIPPETS = [block for file in documents() for block in read(file).blocks if block.language == "python"]


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """With the learners that the documents name, which have learned from the utterances that they name."""
    with running_daemon(tmp_path_factory.mktemp("docs")) as daemon:
        spec = CombinerSpec(engines=("tess_eng", "tess_deu"))
        said = {"tess_eng": "so sober", "tess_deu": "so over"}
        with BlockingClient(daemon.address) as client:
            for learner, utterance_id in (("ocr/lines", "line-17"), (OCR_LEARNER, _last_of_the_sample())):
                with client.stream(learner, create=spec) as stream:
                    stream.choose(Utterance.of_texts(utterance_id, said))
                    stream.learn(utterance_id, TrueText("so sober"))
        yield daemon


def _last_of_the_sample() -> str:
    """What `make run` ends with."""
    *_, last = read_utterances(ocr_sample())
    return last.id


def _marks(found: list[Command]) -> list[pytest.MarkDecorator]:
    return [needs(program) for program in FOREIGN if any(each.text.startswith(program) for each in found)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", [pytest.param(file, marks=_marks(found)) for file, found in TYPED.items() if found]
)
def test_the_commands_of_a_document_work_in_its_order_and_print_what_it_shows(
    file: str, tmp_path: Path, daemon: Daemon
):
    stage = Stage(tmp_path, daemon)
    for command in TYPED[file]:
        printed = stage.run(command)
        if command.output is not None:
            assert same_shape(command.output, printed), f"{command.where}: {command.text} prints\n{printed}"


@pytest.mark.slow
@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.where)
def test_a_snippet_of_python_runs(snippet, tmp_path: Path, daemon: Daemon):
    stage = Stage(tmp_path, daemon)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", stage.localised(snippet.text)],
        cwd=tmp_path,
        env=stage.environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{snippet.where}\n{done.stderr}"
    # A comment behind a print is what it prints.
    promised = re.findall(r"^ *print\(.*\)  # (.*)$", snippet.text, flags=re.MULTILINE)
    assert done.stdout.splitlines() == promised or not promised, f"{snippet.where} prints {done.stdout}"


def test_what_a_block_holds_is_said_and_true():
    """A block in a language that nobody checks could hold a command that nobody runs."""
    for file in documents():
        document = read(file)
        assert not document.indented, f"{document.indented[0].where}: put code between ``` and say what it is"
        for block in document.blocks:
            assert block.language in {"sh", "console", "python", "json", "toml", "text"}, block.where
            if block.language == "json":
                json.loads(block.text)
            elif block.language == "toml":
                tomllib.loads(block.text)


def test_every_command_that_is_run_elsewhere_is_shown_somewhere_and_its_runner_exists():
    shown = {command.text for found in SHOWN.values() for command in found}
    for text, entry in ELSEWHERE.items():
        assert text in shown, f"no document shows {text!r} any more: take it off the table"
        for place in entry.by:
            file, _, function = place.partition("::")
            assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8") or not function, place
        assert entry.holds in (ROOT / entry.by[0].partition("::")[0]).read_text(encoding="utf-8"), text


def test_most_commands_are_typed_here():
    """The extraction finds what is there: a reader that finds nothing would find nothing wrong."""
    assert sum(map(len, TYPED.values())) >= 20
    assert {"README.md", "docs/operations.md", "docs/replay.md", "docs/page.md"} <= TYPED.keys()


def test_shapes():
    shown = "ocr: 20 lines\n...\ngalloon 3.51"
    assert same_shape(shown, "before\nocr: 7 lines\nmuch\nmore\ngalloon 12.00\nafter\n")
    assert not same_shape(shown, "ocr: 7 lines\ngalloon less")
    assert not same_shape("a b", "a  b")
