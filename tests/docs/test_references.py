"""What the documents refer to is there: files, headings, sub-commands, flags, targets, options, metrics."""

import re

import click
import pytest

from galloon.__main__ import SUB_COMMANDS, main
from galloon.daemon.config import KNOWN
from tests.docs.commands import Command, commands, mentions
from tests.docs.markdown import ROOT, documents, read

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# Whose flags they are: commands of others have their own manuals.
MODULES = {"fault": "tests/fault/__main__.py", "soak": "tests/fault/soak.py", "bench": "bench/__main__.py"}
TARGETS = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
# Flags that documents speak of beside their program: docker's, and the readers' of other projects.
FOREIGN_FLAGS = {"--stop-timeout"}


@pytest.mark.parametrize("file", documents())
def test_links_lead_somewhere(file: str):
    for link in read(file).links:
        target, _, anchor = link.text.partition("#")
        if "://" in target:
            continue
        path = ((ROOT / file).parent / target).resolve() if target else ROOT / file
        assert path.exists(), f"{link.where}: {link.text}: no such file"
        if anchor:
            assert anchor in read(str(path.relative_to(ROOT))).anchors, (
                f"{link.where}: {link.text}: no heading"
            )


@pytest.mark.parametrize("file", documents())
def test_commands_and_flags_exist(file: str):
    document = read(file)
    everything = {flag for path in SUB_COMMANDS for flag in _flags(main.get_command(_context(), path))}
    named = [Command(each.where, each.text) for each in mentions(document)]
    for command in [*commands(document), *named]:
        words = command.text.replace(".venv/bin/", "").split()
        if words[0] == "galloon" and len(words) > 1 and not words[1].startswith("-"):
            found = _command(words[1:], command.where)
            for flag in FLAG.findall(command.text):
                assert flag in _flags(found), f"{command.where}: {command.text}: no such option {flag}"
        elif words[0] == "make" and len(words) > 1:
            assert words[1] in TARGETS, f"{command.where}: {command.text}: no such target"
            if words[1] in MODULES:
                source = (ROOT / MODULES[words[1]]).read_text(encoding="utf-8")
                assert all(f'"{flag}"' in source for flag in FLAG.findall(command.text)), command.where
    for span in document.spans:
        if span.text.startswith("--"):
            for flag in FLAG.findall(span.text):
                assert flag in everything | FOREIGN_FLAGS, f"{span.where}: no command has the option {flag}"


@pytest.mark.parametrize("file", documents())
def test_options_of_the_daemon_exist(file: str):
    """`limits.streams`, `GALLOON_LIMITS_STREAMS` and `--set limits.streams=...` name options of the sample."""
    sections = {name.partition(".")[0] for name in KNOWN}
    text = (ROOT / file).read_text(encoding="utf-8")
    for section, key in re.findall(r"`(?:--set )?([a-z]+)\.([a-z_]+)(?: ?=[^`]*)?`", text):
        if section in sections:
            assert f"{section}.{key}" in KNOWN, f"{file}: {section}.{key}"
    for name in re.findall(r"\bGALLOON_([A-Z]+_[A-Z_]+)=", text):
        section, _, key = name.lower().partition("_")
        assert f"{section}.{key}" in KNOWN, f"{file}: GALLOON_{name}"


def _command(words: list[str], where: str) -> click.Command:
    found = main.get_command(_context(), words[0])
    assert found is not None, f"{where}: galloon has no command {words[0]}"
    if isinstance(found, click.Group) and len(words) > 1 and words[1].isalpha() and words[1].islower():
        inner = found.get_command(_context(), words[1])
        assert inner is not None, f"{where}: galloon {words[0]} has no command {words[1]}"
        return inner
    return found


def _flags(command: click.Command) -> set[str]:
    own = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    if isinstance(command, click.Group):
        own |= {flag for name in command.commands for flag in _flags(command.commands[name])}
    return {*own, "--help", "--version"}


def _context() -> click.Context:
    return click.Context(main)
