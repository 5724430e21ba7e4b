"""Certificates: fitting and fresh is good; a stranger's key, an expired one and a readable key are not."""

import subprocess
import time

import pytest

from galloon.daemon.config import Tls
from galloon.daemon.operate.doctor.certificates import check_certificates
from tests.system import needs

pytestmark = needs("openssl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two self-signed certificates, and one that an authority signed."""
    made = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=made, check=True, capture_output=True)

    def self_signed(name):
        subject = ("-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}.example")
        new = (
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "100",
        )
        openssl(*new, "-keyout", f"{name}.key", "-out", f"{name}.crt", *subject)
        (made / f"{name}.key").chmod(0o400)

    self_signed("one")
    self_signed("other")
    openssl(
        "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=leaf"
    )
    signing = ("-CA", "one.crt", "-CAkey", "one.key", "-CAcreateserial", "-days", "100")
    openssl("x509", "-req", "-in", "leaf.csr", *signing, "-out", "leaf.crt")
    (made / "leaf.key").chmod(0o400)
    return made


def verdicts(folder, certificate, key, client_ca="", days=0.0):
    tls = Tls(str(folder / certificate), str(folder / key), client_ca and str(folder / client_ca))
    return [finding.verdict for finding in check_certificates(tls, time.time() + days * 86_400)]


def test_none_is_needed():
    (found,) = check_certificates(Tls())
    assert found.verdict == "good"


@pytest.mark.parametrize("name", ["one", "leaf"])
def test_a_pair_that_fits_is_good_whoever_signed_it(folder, name):
    assert verdicts(folder, f"{name}.crt", f"{name}.key") == ["good"]


def test_its_names_and_its_end_are_shown(folder):
    (found,) = check_certificates(Tls(str(folder / "one.crt"), str(folder / "one.key")))
    assert "one.example" in found.what
    assert "valid until" in found.what


def test_a_key_of_another_certificate_is_bad(folder):
    assert verdicts(folder, "one.crt", "other.key") == ["bad"]


@pytest.mark.parametrize("wrong", ["missing.pem", "leaf.csr"])
def test_what_is_no_certificate_is_bad(folder, wrong):
    assert verdicts(folder, wrong, "one.key") == ["bad"]
    assert verdicts(folder, "one.crt", "one.key", client_ca=wrong) == ["good", "bad"]


@pytest.mark.parametrize(("days", "verdict"), [(50, "good"), (80, "doubtful"), (101, "bad"), (-1, "bad")])
def test_time_passes(folder, days, verdict):
    assert verdicts(folder, "one.crt", "one.key", days=days) == [verdict]
    assert verdicts(folder, "leaf.crt", "leaf.key", client_ca="one.crt", days=days) == [verdict, verdict]


def test_one_that_is_over_on_the_real_clock_is_bad(folder):
    signing = ("-CA", "one.crt", "-CAkey", "one.key", "-CAcreateserial", "-days", "-1")
    command = ["openssl", "x509", "-req", "-in", "leaf.csr", *signing, "-out", "over.crt"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    assert verdicts(folder, "over.crt", "leaf.key") == ["bad"]


def test_a_key_that_others_can_read_is_doubtful(folder, tmp_path):
    key = tmp_path / "key"
    key.write_bytes((folder / "one.key").read_bytes())
    key.chmod(0o644)
    found = check_certificates(Tls(str(folder / "one.crt"), str(key)))
    assert [finding.verdict for finding in found] == ["good", "doubtful"]
