"""`galloon doctor`: the report, where each option came from, ports taken or free, and the exit status."""

import json
import socket

import pytest
from click.testing import CliRunner

from galloon.daemon.operate.doctor.command import doctor
from galloon.daemon.operate.doctor.kernels import check_kernels
from tests.daemon_process import free_port, running_daemon


@pytest.fixture
def quick(monkeypatch):
    """Without the kernels, which take seconds to load and have a test of their own."""
    monkeypatch.setattr("galloon.daemon.operate.doctor.kernels.check_kernels", lambda: iter(()))


def run(*arguments: str, environment: dict[str, str] | None = None):
    return CliRunner().invoke(doctor, arguments, env=environment, catch_exceptions=False)


def report(tmp_path, *arguments: str, environment: dict[str, str] | None = None):
    ports = ("--listen", f"127.0.0.1:{free_port()}", "--http", f"127.0.0.1:{free_port()}")
    done = run("--json", "--data-dir", str(tmp_path / "data"), *ports, *arguments, environment=environment)
    found = json.loads(done.stdout)
    assert (done.exit_code == 0) == found["ok"]
    return found


def areas(found, verdict: str) -> set[str]:
    return {finding["area"] for finding in found["findings"] if finding["verdict"] == verdict}


@pytest.mark.usefixtures("quick")
def test_a_new_installation_is_fine_and_stays_untouched(tmp_path):
    found = report(tmp_path)
    assert found["ok"], found
    assert {"python", "memory", "configuration", "sync", "store", "port"} <= {
        finding["area"] for finding in found["findings"]
    }
    assert not (tmp_path / "data").exists()


@pytest.mark.usefixtures("quick")
def test_every_option_says_where_it_came_from_and_the_last_source_wins(tmp_path):
    file = tmp_path / "galloon.toml"
    file.write_text("[limits]\nslots = 100\nengines = 5\n[store]\nsnapshot_events = 7\n")
    found = report(
        tmp_path,
        *("-c", str(file), "--set", "limits.engines=9"),
        environment={"GALLOON_LIMITS_SLOTS": "200", "GALLOON_LIMITS_ENGINES": "6"},
    )
    options = found["configuration"]
    assert options["limits.slots"] == {"value": 200, "source": "GALLOON_LIMITS_SLOTS"}
    assert options["limits.engines"] == {"value": 9, "source": "--set limits.engines"}
    assert options["store.snapshot_events"] == {"value": 7, "source": f"{file}:5"}
    assert options["log.level"] == {"value": "info", "source": "default"}


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("arguments", "area"),
    [
        (("--set", "limits.slots=many"), "configuration"),
        (("-c", "/nowhere/galloon.toml"), "configuration"),
        (("--listen", "0.0.0.0:0"), "exposure"),
        (("--set", "auth.tokens=/nowhere/tokens.toml"), "exposure"),
        (("--listen", "192.0.2.1:7410", "--set", "server.insecure_public=true"), "port"),
    ],
)
def test_what_is_wrong_is_bad_and_has_an_advice(tmp_path, arguments, area):
    found = report(tmp_path, *arguments)
    assert area in areas(found, "bad")
    assert all(finding["advice"] for finding in found["findings"] if finding["verdict"] != "good")


@pytest.mark.usefixtures("quick")
def test_a_port_that_a_stranger_has_is_bad(tmp_path):
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        found = report(tmp_path, "--listen", f"127.0.0.1:{stranger.getsockname()[1]}")
    assert areas(found, "bad") == {"port"}


@pytest.mark.usefixtures("quick")
def test_a_running_daemon_is_asked_and_its_ports_are_no_fault(tmp_path):
    with running_daemon(tmp_path) as daemon:
        where = (
            "--listen",
            daemon.address,
            "--http",
            daemon.http_address,
            "--data-dir",
            str(daemon.data_dir),
        )
        done = run(*where)
        assert done.exit_code == 0, done.output
        assert "says: ready" in done.stdout
        assert run("--running", *where).exit_code == 0
        # Without an HTTP port it is enough that somebody answers.
        assert run("--running", "--listen", daemon.address, "--http", "").exit_code == 0
    gone = run("--running", *where)
    assert gone.exit_code == 1
    assert "no answer" in gone.stdout


def test_wrong_usage_has_a_status_of_its_own():
    assert run("--set", "nonsense").exit_code == 2


def test_kernels_are_there_and_need_no_compiler_the_second_time():
    list(check_kernels())
    found = {finding.area: finding for finding in check_kernels()}
    assert found["libraries"].verdict == "good"
    assert "kernels" in found["kernels"].what
