"""Configuration: file, environment, flags; a wrong key or value is named with its place."""

from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from galloon.daemon.config import KNOWN, Config, load
from galloon.daemon.errors import ConfigError
from galloon.daemon.serve import serve

SAMPLE = Path(str(files("galloon.daemon"))) / "galloon.toml"


def test_the_sample_says_every_default():
    """Every key stands in the commented sample, at its default."""
    text = SAMPLE.read_text()
    assert load(SAMPLE, {}, {}) == Config()
    for name in KNOWN:
        assert f"\n{name.partition('.')[2]} = " in text, name


def test_later_sources_win(tmp_path):
    """Flag over environment over file over default."""
    path = tmp_path / "galloon.toml"
    path.write_text("[limits]\nstreams = 1\nslots = 1\nengines = 1\n")
    config = load(path, {"GALLOON_LIMITS_SLOTS": "2", "GALLOON_LIMITS_ENGINES": "2"}, {"limits.engines": "3"})
    assert (config.limits.streams, config.limits.slots, config.limits.engines) == (1, 2, 3)
    assert config.limits.learners == Config().limits.learners


def test_other_programs_variables_are_left_alone():
    """Only names of our sections are ours."""
    assert load(None, {"GALLOON_FAILPOINTS": "x", "GALLOON_NO_SKIP": "1", "PATH": "/"}, {}) == Config()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[limits]\n\nstream = 1\n", 3, "limits.stream: unknown key; known are limits.message_bytes"),
        ("[limits]\nstreams = -1\n", 2, "limits.streams: -1 is not a whole number from 1"),
        ("[limits]\nstreams = 1.5\n", 2, "limits.streams: 1.5 is not a whole number"),
        ("[limits]\nstreams = true\n", 2, "limits.streams: True is not a whole number"),
        ("[limits]\nstreams = 'many'\n", 2, "limits.streams: 'many' is not a whole number"),
        ("[store]\nsnapshot_age_s = nan\n", 2, "store.snapshot_age_s: nan is not a number from"),
        ("# hello\n[server]\nlisten = 'nowhere'\n", 3, "server.listen: 'nowhere' is not \"host:port\""),
        ("[server]\nlisten = '127.0.0.1:99999'\n", 2, "port 0 to 65535"),
        ("[server]\nreflection = 'yes'\n", 2, "server.reflection: 'yes' is not true or false"),
        ("[log]\nlevel = 'loud'\n", 2, "log.level: 'loud' is not one of debug, info, warning, error"),
        ("[server]\n[limit]\nx = 1\n", 3, "limit.x: unknown key"),
        ("[server]\n[empty]\n", 2, "[empty]: unknown section; known are server"),
        ("listen = '127.0.0.1:1'\n", 1, "listen: every key belongs to a section"),
        ("[server\n", None, "not TOML"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, text, line, words):
    """The file, the line, the key, and what it may be; status 2."""
    path = tmp_path / "galloon.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load(path, {}, {})
    assert words in str(refused.value)
    assert str(refused.value).startswith(f"{path}:{line}:" if line else f"{path}:")
    result = CliRunner().invoke(serve, ["--config", str(path)])
    assert result.exit_code == 2
    assert words in result.output


@pytest.mark.parametrize(
    ("environment", "flags", "words"),
    [
        ({"GALLOON_LIMITS_SLOTS": "x"}, {}, "environment variable GALLOON_LIMITS_SLOTS: limits.slots: 'x'"),
        (
            {"GALLOON_LIMITS_SLOT": "1"},
            {},
            "environment variable GALLOON_LIMITS_SLOT: limits.slot: unknown key",
        ),
        ({}, {"limits.slots": "0"}, "--set limits.slots: limits.slots: 0 is not"),
        ({}, {"slots": "0"}, "--set slots: slots: unknown key"),
    ],
)
def test_a_wrong_variable_or_flag_is_named(environment, flags, words):
    """As a wrong line is."""
    with pytest.raises(ConfigError) as refused:
        load(None, environment, flags)
    assert words in str(refused.value)


def test_a_missing_file_is_named(tmp_path):
    """With the reason."""
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file"):
        load(tmp_path / "none.toml", {}, {})


def test_the_command_makes_tokens():
    """The token on standard error, once; its entry, which holds only the hash, on standard output."""
    result = CliRunner().invoke(serve, ["--new-token", "alice", "--prefix", "alice/"])
    assert result.exit_code == 0
    token = result.stderr.split()[-1]
    assert token.startswith("glln_")
    assert token not in result.stdout
    assert 'learners = ["alice/"]' in result.stdout


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--set", "nonsense"], 2, "must be SECTION.KEY=VALUE"),
        (["--listen", "0.0.0.0:0"], 2, "not a loopback address"),
        (["--set", "tls.certificate=/none", "--set", "tls.key=/none"], 2, "tls.key: /none: No such file"),
        (["--set", "tls.key=/none"], 2, "belong together"),
        (["--set", "auth.tokens=/none"], 2, "/none: cannot be read as a file of tokens"),
        (["--set", "http.require_token=true"], 2, "there are no tokens"),
    ],
)
def test_the_command_refuses_a_wrong_start(tmp_path, arguments, status, words):
    """Exit status 2 for configuration, with a sentence."""
    result = CliRunner().invoke(serve, ["--data-dir", str(tmp_path / "data"), *arguments])
    assert result.exit_code == status
    assert words in result.output
