"""Small files to replay, and how to run `galloon` on them inside the test's process."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from galloon.__main__ import main
from galloon.clients.samples import ocr_sample

SAMPLE = str(ocr_sample())
CHEAP = ("--algorithm", "expanded_hedge", "--derived", "vote")  # draws its paths: seeds and rounds matter


def galloon(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], env={"COLUMNS": "160"})


def told(*arguments: str | Path) -> dict:
    """What a command prints as JSON."""
    result = galloon(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def record(number: int, target: str | None = "the cat sat", **said: str) -> dict:
    """One line of an utterance file."""
    experts = {name: {"text": text} for name, text in said.items()}
    line = {"id": f"u{number}", "experts": experts, "domain": "odd" if number % 2 else "even"}
    return line if target is None else {**line, "target": target}


def write(path: Path, *records: dict) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in records))
    return path


def cats(path: Path, count: int = 12) -> Path:
    """Engine a is right; b and c err in different places."""
    lines = [record(n, a="the cat sat", b="the hat sat", c="the cat sag") for n in range(count)]
    return write(path, *lines)
