"""`galloon doctor`: every check in turn, the report, and the exit status: 0 if the daemon would run well, else 1.

Takes the configuration from where `galloon serve` takes it. Changes nothing; a running daemon is not disturbed.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import click

from galloon.daemon.config import Config
from galloon.daemon.config_options import config_options
from galloon.daemon.operate.doctor.finding import Finding, Verdict
from galloon.daemon.operate.doctor.settings import Settings, read_settings

COLOURS = {Verdict.GOOD: "green", Verdict.DOUBTFUL: "yellow", Verdict.BAD: "red"}


@click.command()
@config_options
@click.option(
    "--running", is_flag=True, help="Only ask the running daemon whether it serves (for health checks)."
)
@click.option("--json", "as_json", is_flag=True, help="Print one object, for programs.")
def doctor(
    path: Path | None,
    flags: dict[str, str],
    running: bool,
    as_json: bool,
) -> None:
    """Check the machine, the configuration, the store, certificates, ports and kernels, and say what to fix.

    Exit status 0 if nothing is bad, else 1.
    """
    report = _Report(as_json)
    known = read_settings(path, os.environ, flags)
    for finding in _running(known) if running else _everything(known):
        report.add(finding)
    report.end({} if running else {name: asdict(origin) for name, origin in known.origins.items()})
    sys.exit(1 if report.failed else 0)


def _everything(settings: Settings) -> Iterator[Finding]:
    from galloon.daemon.operate.doctor.certificates import check_certificates
    from galloon.daemon.operate.doctor.disk import check_disk
    from galloon.daemon.operate.doctor.kernels import check_kernels
    from galloon.daemon.operate.doctor.machine import check_machine
    from galloon.daemon.operate.doctor.ports import check_ports
    from galloon.daemon.operate.doctor.storage import check_store

    yield from check_machine()
    yield from settings.findings
    config = settings.config or Config()
    yield from check_disk(Path(config.store.data_dir))
    yield from check_store(Path(config.store.data_dir))
    yield from check_certificates(config.tls)
    yield from check_ports(config)
    yield from check_kernels()


def _running(settings: Settings) -> Iterator[Finding]:
    from galloon.daemon.operate.doctor.ports import check_running

    if settings.config is None:
        yield from settings.findings
    else:
        yield check_running(settings.config)


class _Report:
    """Lines as the checks end, because some take seconds; or one object at the end."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._findings: list[Finding] = []

    @property
    def failed(self) -> bool:
        return any(finding.verdict is Verdict.BAD for finding in self._findings)

    def add(self, finding: Finding) -> None:
        self._findings.append(finding)
        if self._as_json:
            return
        verdict = click.style(f"{finding.verdict:<9}", fg=COLOURS[finding.verdict])
        click.echo(f"{verdict} {finding.area:<14} {finding.what}")
        if finding.advice:
            click.echo(f"{'':<24} → {finding.advice}")

    def end(self, options: Mapping[str, object]) -> None:
        if self._as_json:
            found = [asdict(finding) for finding in self._findings]
            click.echo(
                json.dumps({"ok": not self.failed, "findings": found, "configuration": options}, indent=2)
            )
