"""The configuration: defaults, then the file, then GALLOON_* variables, then flags; the last one wins.

`load` reads all of them; a wrong key or value is a `ConfigError` that names the key, where it was set (file
and line, variable or flag) and what it may be. A variable is GALLOON_<SECTION>_<KEY>, such as
GALLOON_SERVER_LISTEN.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from galloon.daemon.errors import ConfigError
from galloon.daemon.limits import Limits


@dataclass(frozen=True, slots=True)
class Server:
    listen: str = "127.0.0.1:7410"
    advertise: str = ""
    insecure_public: bool = False
    reflection: bool = True
    drain_s: float = 10.0
    keepalive_s: float = 60.0
    keepalive_timeout_s: float = 20.0
    threads: int = 4
    inline_s: float = 0.001


@dataclass(frozen=True, slots=True)
class Http:
    listen: str = "127.0.0.1:7411"
    insecure_public: bool = False
    require_token: bool = False
    learners_shown: int = 100
    connections: int = 128


@dataclass(frozen=True, slots=True)
class Store:
    data_dir: str = "galloon-data"
    url: str = ""
    lease_s: float = 5.0
    commit_delay_s: float = 0.02
    queue_bytes: int = 67_108_864
    snapshot_events: int = 5000
    snapshot_age_s: float = 300.0
    history_days: float = 90.0
    history_bytes: int = 10_737_418_240
    erasures: str = ""


@dataclass(frozen=True, slots=True)
class Tls:
    certificate: str = ""
    key: str = ""
    client_ca: str = ""


@dataclass(frozen=True, slots=True)
class Auth:
    tokens: str = ""


@dataclass(frozen=True, slots=True)
class Log:
    level: str = "info"
    format: str = "auto"


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that an operator can choose; see galloon.toml for what each option promises and costs."""

    server: Server = field(default_factory=Server)
    http: Http = field(default_factory=Http)
    store: Store = field(default_factory=Store)
    limits: Limits = field(default_factory=Limits)
    tls: Tls = field(default_factory=Tls)
    auth: Auth = field(default_factory=Auth)
    log: Log = field(default_factory=Log)


CHOICES = {"log.level": ("debug", "info", "warning", "error"), "log.format": ("auto", "json", "console")}
# Numbers that may be 0; all others must be larger.
ZERO_ALLOWED = {"store.commit_delay_s", "server.drain_s", "server.inline_s"}
LARGEST = 2**53
POSTGRES = ("postgresql://", "postgres://")
ADDRESS = re.compile(r"^(?P<host>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):(?P<port>\d{1,5})$")


def load(path: Path | None, environment: Mapping[str, str], flags: Mapping[str, str]) -> Config:
    """The configuration from all its sources. `flags` are "section.key" to text."""
    values: dict[str, Any] = {}
    if path is not None:
        values.update(_from_file(path))
    values.update(_from_environment(environment))
    for name, text in flags.items():
        values[name] = _from_text(name, text, f"--set {name}")
    return _config(values)


def split_address(address: str) -> tuple[str, int]:
    """Host (without brackets) and port of "host:port"."""
    found = ADDRESS.match(address)
    assert found, "addresses are checked when they are read"
    return found["host"].strip("[]"), int(found["port"])


def _config(values: Mapping[str, Any]) -> Config:
    config = Config()
    for section in _sections():
        prefix = f"{section}."
        chosen = {name.removeprefix(prefix): v for name, v in values.items() if name.startswith(prefix)}
        config = replace(config, **{section: replace(getattr(config, section), **chosen)})
    return config


def _known() -> dict[str, Any]:
    """Every key with its default."""
    config = Config()
    return {
        f"{section.name}.{key.name}": getattr(getattr(config, section.name), key.name)
        for section in fields(config)
        for key in fields(getattr(config, section.name))
    }


KNOWN = _known()


def _from_file(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    values = {}
    for section, table in tables.items():
        if not isinstance(table, dict):
            where = f"{path}:{_line(text, '', section)}"
            raise ConfigError(
                f"{where}: {section}: every key belongs to a section; known are {_names(_sections())}"
            )
        for key, value in table.items():
            name, where = f"{section}.{key}", f"{path}:{_line(text, section, key)}"
            values[name] = _checked(name, value, where)
        if section not in _sections():
            where = f"{path}:{_line(text, section, '')}"
            raise ConfigError(f"{where}: [{section}]: unknown section; known are {_names(_sections())}")
    return values


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values = {}
    for variable, text in environment.items():
        section, _, key = variable.removeprefix("GALLOON_").partition("_")
        # Variables outside every section (GALLOON_FAILPOINTS) belong to others.
        if variable.startswith("GALLOON_") and section.lower() in _sections():
            name = f"{section}.{key}".lower()
            values[name] = _from_text(name, text, f"environment variable {variable}")
    return values


def _from_text(name: str, text: str, where: str) -> Any:
    """A value of a variable or flag, read as the type of the key's default."""
    default = KNOWN.get(name)
    value: Any = text
    try:
        match default:
            case bool():
                value = {"true": True, "false": False}[text.lower()]
            case int():
                value = int(text)
            case float():
                value = float(text)
            case _:
                pass  # text, or an unknown key, which the check below names
    except (ValueError, KeyError):
        pass  # the check below says what the key takes
    return _checked(name, value, where)


def _checked(name: str, value: Any, where: str) -> Any:
    if name not in KNOWN:
        section = name.partition(".")[0]
        near = [known for known in KNOWN if known.startswith(f"{section}.")]
        raise ConfigError(f"{where}: {name}: unknown key; known are {_names(near or _sections())}")
    match KNOWN[name]:
        case bool():
            good, wanted = isinstance(value, bool), "true or false"
        case int() | float() as default:
            kinds = (int,) if isinstance(default, int) else (int, float)
            number = isinstance(value, kinds) and not isinstance(value, bool)
            least = 0 if name in ZERO_ALLOWED else (1 if isinstance(default, int) else 1e-6)
            good = number and least <= value <= LARGEST
            whole = "whole number" if isinstance(default, int) else "number"
            wanted = f"a {whole} from {least:g} to {LARGEST}"
            value = type(default)(value) if good else value
        case _:
            good, wanted = isinstance(value, str), "text in quotes"
            if name in CHOICES:
                good, wanted = value in CHOICES[name], f"one of {_names(CHOICES[name])}"
            elif name == "server.advertise":
                good, wanted = (
                    value == "" or _is_address(value),
                    '"host:port", or "" for the address of listen',
                )
            elif name == "store.url":
                good, wanted = (
                    value == "" or value.startswith(POSTGRES),
                    '"postgresql://...", or "" for SQLite',
                )
            elif name.endswith(".listen"):
                off = name == "http.listen" and value == ""
                good, wanted = off or _is_address(value), '"host:port", port 0 to 65535 (0 picks a free one)'
    if not good:
        raise ConfigError(f"{where}: {name}: {value!r} is not {wanted}")
    return value


def _is_address(value: object) -> bool:
    found = ADDRESS.match(value) if isinstance(value, str) else None
    return found is not None and int(found["port"]) <= 65535


def _sections() -> list[str]:
    return [section.name for section in fields(Config)]


def _names(names: Any) -> str:
    return ", ".join(str(name) for name in names)


def _line(text: str, section: str, key: str) -> int:
    """The line of a key in its section, or of the section's header where no key is given."""
    current = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\s*([^\]\s]+)\s*\]", line)
        if header:
            current = header[1].strip("\"'")
            if current == section and not key:
                return number
        elif current == section and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
            return number
    return 1
