"""The configuration: whether it can be read, where each value comes from, and whether it may face the network."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from galloon.daemon import config as configuration
from galloon.daemon.config import Config
from galloon.daemon.errors import ConfigError
from galloon.daemon.operate.doctor.finding import Finding, bad, doubtful, good

FIX = "correct it as the sentence says; galloon.toml lists every option"


@dataclass(frozen=True, slots=True)
class Origin:
    """A value in force and what set it."""

    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class Settings:
    """What `galloon serve` would run with, if it can be read at all."""

    config: Config | None
    origins: Mapping[str, Origin]
    findings: tuple[Finding, ...]


def read_settings(path: Path | None, environment: Mapping[str, str], flags: Mapping[str, str]) -> Settings:
    """As `galloon serve` does, and where each value came from."""
    try:
        config = configuration.load(path, environment, flags)
    except ConfigError as error:
        return Settings(None, {}, (bad("configuration", str(error), FIX),))
    origins = _origins(path, environment, flags)
    changed = [f"{name} ({origin.source})" for name, origin in origins.items() if origin.source != "default"]
    text = f"{len(changed)} of {len(origins)} options set"
    found = [good("configuration", f"{text}: {', '.join(changed)}" if changed else text)]
    return Settings(config, origins, (*found, *_exposure(config)))


def _exposure(config: Config) -> Iterator[Finding]:
    # Imported late: gRPC takes a while, and a wrong key should not wait for it.
    from galloon.daemon.rpc.auth import gate_from_config
    from galloon.daemon.rpc.server import check_exposure

    try:
        check_exposure(config)
        gate_from_config(config)
    except ConfigError as error:
        yield bad("exposure", str(error), FIX)
        return
    for name, section in (("server", config.server), ("http", config.http)):
        if section.insecure_public:
            text = f"{name}.listen {section.listen} is open to whoever can reach it"
            yield doubtful(
                "exposure", text, f"fine behind a firewall; else leave {name}.insecure_public false"
            )
    if not config.server.insecure_public and not config.http.insecure_public:
        yield good("exposure", f"gRPC on {config.server.listen}, HTTP on {config.http.listen or 'no port'}")


def _origins(
    path: Path | None, environment: Mapping[str, str], flags: Mapping[str, str]
) -> Mapping[str, Origin]:
    found = {name: Origin(value, "default") for name, value in configuration.KNOWN.items()}
    if path is not None:
        text = path.read_text(encoding="utf-8")
        for name, value in configuration._from_file(path).items():
            section, _, key = name.partition(".")
            found[name] = Origin(value, f"{path}:{configuration._line(text, section, key)}")
    for name, value in configuration._from_environment(environment).items():
        found[name] = Origin(value, f"GALLOON_{name.replace('.', '_').upper()}")
    for name, text in flags.items():
        found[name] = Origin(configuration._from_text(name, text, name), f"--set {name}")
    return found
