"""`galloon teach` against a real daemon: what is learned, amended, known already, refused; wrong files."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from galloon import Client, Spec, Utterance
from galloon.__main__ import main
from tests.daemon_process import Daemon
from tests.learners.documents.pages import TEXT, page

LINES = 5


@pytest.fixture
def galloon(daemon: Daemon, name: str):
    """Runs `galloon teach` on a learner that has answered some lines."""

    async def answer() -> None:
        async with Client(daemon.address) as client, client.stream(name, create=Spec(("a", "b"))) as stream:
            for number in range(LINES):
                said = dict.fromkeys("ab", f"line {number}")
                await stream.choose(Utterance.of_texts(f"u{number}", said))

    asyncio.run(answer())

    def run(file, *arguments: str):
        environment = {"GALLOON_ADDRESS": daemon.address}
        return CliRunner().invoke(main, ["teach", name, str(file), *arguments], env=environment)

    return run


def test_the_same_file_again_changes_nothing(galloon, tmp_path):
    """A line of each form; what is unknown is refused by its id, and the rest is learned all the same."""
    file = tmp_path / "corrections"
    lines = [json.dumps({"id": f"u{number}", "true_text": f"line {number}"}) for number in range(LINES - 1)]
    file.write_text("\n".join([*lines, f"u{LINES - 1}\tline {LINES - 1}", ""]))
    first, second = galloon(file), galloon(file, "--json")
    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    assert first.stdout == "5 corrections: 5 learned, 0 amended, 0 known already, 0 refused\n"
    assert json.loads(second.stdout) == {"known already": LINES, "refused": {}}
    file.write_text("u0\tquite another\nnever\tx\n")
    refused = galloon(file)
    assert refused.exit_code == 1
    assert "u0: " in refused.stderr
    assert "--replace puts these" in refused.stderr
    assert "never sent" in refused.stderr
    file.write_text('u0\tquite another\n{"id": "u1", "withdrawn": true}\n')
    assert "0 learned, 2 amended, 0 known already, 0 refused" in galloon(file, "--replace").stdout


def test_a_learner_is_rebuilt_without_what_is_named(galloon, daemon: Daemon, name: str, tmp_path):
    """By a file of ids, and as of a day: what came later is withdrawn, and may be taught again."""
    file, ids = tmp_path / "corrections", tmp_path / "ids"
    file.write_text("".join(f"u{number}\tline {number}\n" for number in range(LINES)))
    ids.write_text("u1\nu3\n")
    assert galloon(file).exit_code == 0

    def rebuild(*arguments: str):
        command = ["learners", "rebuild", name, *arguments, "--json"]
        done = CliRunner().invoke(main, command, env={"GALLOON_ADDRESS": daemon.address})
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        return told["rounds"], told["lessons"], told["withdrawn"]

    assert rebuild("--without", str(ids)) == (LINES, LINES - 2, 2)
    assert "2 learned, 0 amended, 3 known already" in galloon(file).stdout
    assert rebuild("--as-of", "2020-01-01") == (LINES, 0, LINES)


WRONG = ["no tab", "{broken", '{"id": 3, "true_text": "x"}', '{"id": "u1"}']


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_wrong_line_is_named_and_nothing_is_sent(galloon, tmp_path, number):
    file = tmp_path / "corrections"
    file.write_text(f"u{number}\tline\n{WRONG[number]}\n")
    wrong = galloon(file)
    assert wrong.exit_code == 1
    assert f"{file}, line 2" in wrong.stderr
    assert "nothing was sent" in wrong.stderr
    file.write_text(f"u{number}\tline\n")
    assert "1 learned" in galloon(file).stdout


def test_all_wrong_lines_are_named(galloon, tmp_path):
    file = tmp_path / "corrections"
    file.write_text('u0\tone\nu1\ttwo\tcolumns\n\nu2\tyes\nu0\tother\n{"id": ["u1"]}\n')
    wrong = galloon(file)
    assert wrong.exit_code == 1
    assert f"{file}, line 2: 3 columns, but it takes two: an id and a text" in wrong.stderr
    assert "2 more lines are wrong: 5, 6" in wrong.stderr
    file.write_bytes(b"u0\t\xff\xfe\x00")
    assert "is not UTF-8" in galloon(file).stderr
    file.write_text("\n")
    empty = galloon(file)
    assert (empty.exit_code, empty.stdout) == (1, "")
    assert "there are no corrections in it" in empty.stderr


def test_spreadsheets_write_names_of_columns_and_a_mark_of_their_encoding(galloon, tmp_path):
    file = tmp_path / "corrections.tsv"
    for encoding in ("utf-8-sig", "utf-16"):
        file.write_bytes("id\ttext\r\nu0\tline 0\r\nu1\tline \u00fc\r\n".encode(encoding))
        assert galloon(file).exit_code == 0
    assert "2 known already" in galloon(file).stdout


def test_edited_lines_beside_combined_ones(galloon, tmp_path):
    """A line for each utterance; those that were not touched may be left out, or count as read."""
    utterances, combined, edited = (tmp_path / name for name in ("lines.jsonl", "combined.txt", "edited.txt"))
    said = [{"id": f"u{number}", "experts": {"a": {"text": f"line {number}"}}} for number in range(LINES)]
    utterances.write_text("".join(json.dumps(each) + "\n" for each in said))
    combined.write_text("".join(f"line {number}\n" for number in range(LINES)))
    edited.write_text(combined.read_text().replace("line 2", "lime 2"))
    some = galloon(edited, "--lines-of", str(utterances), "--changed-from", str(combined))
    assert some.exit_code == 0, some.output
    assert some.stdout.startswith("1 corrections: 1 learned")
    rest = galloon(edited, "--lines-of", str(utterances))
    assert "4 learned, 0 amended, 1 known already, 0 refused" in rest.stdout
    edited.write_text("only one line\n")
    assert "1 lines, but" in galloon(edited, "--lines-of", str(utterances)).stderr
    assert galloon(edited, "--changed-from", str(combined)).exit_code == 2


def test_a_folder_of_corrected_documents(daemon, name, tmp_path):
    async def combine() -> None:
        misread = page(tuple(text.replace("the", "tbe") for text in TEXT))
        pages = [{"a": page(), "b": misread}]
        async with Client(daemon.address) as client:
            await client.create_learner(name, Spec(("a", "b")))
            async for _ in client.combine_document(name, "letter", pages):
                pass

    asyncio.run(combine())
    corrected = tmp_path / "corrected"
    corrected.mkdir()
    (corrected / "letter.txt").write_text("\n".join(TEXT) + "\n")
    run = ["teach", name, str(corrected), "--json"]
    done = CliRunner().invoke(main, run, env={"GALLOON_ADDRESS": daemon.address})
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == {"learned": len(TEXT), "refused": {}}
    (corrected / "nobody.txt").write_text("who\n")
    refused = CliRunner().invoke(main, run, env={"GALLOON_ADDRESS": daemon.address})
    assert refused.exit_code == 1
    assert "combine it" in json.loads(refused.stdout)["refused"]["nobody"]
