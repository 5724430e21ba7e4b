"""The commands of the documents that are not typed again for them, each with the reason and who does run it.

A command that is neither run on the stage nor listed here fails the tests, and so does an entry that no document
shows any more, or whose runner is gone.
"""

from dataclasses import dataclass

FIRST_RUN = "tests/clients/commands/test_demo.py"
IMAGE = "tests/deploy/test_image.py"
MANIFESTS = "tests/deploy/test_manifests.py"
PACKAGING = "tests/test_packaging.py"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """`by` are files of the tree, FILE or FILE::FUNCTION; `holds` stands in the first one and shows the tie."""

    reason: str
    by: tuple[str, ...]
    holds: str


ELSEWHERE = {
    "make run": Elsewhere("sets up first; what it then runs is `galloon demo`", (FIRST_RUN,), '"demo"'),
    "make test": Elsewhere("is what runs this", (".ci/run",), "make test"),
    "git clone . /tmp/new && cd /tmp/new && time make setup && time make run ARGS=--once "
    "&& time make run ARGS=--once": (
        Elsewhere(
            "installs everything again, for minutes; the second half is `galloon demo --once`",
            (
                f"{FIRST_RUN}::test_once_shows_every_engine_the_vote_and_galloon_and_ends_well_again_and_again",
            ),
            '"--once"',
        )
    ),
    "make run ARGS=--once": Elsewhere("as `make run`", (FIRST_RUN,), '"--once"'),
    "python3.11 -m venv .venv": Elsewhere(
        "the image is installed by these steps, from the same lock", (IMAGE, "Dockerfile"), "build_image.sh"
    ),
    ".venv/bin/pip install --require-hashes -r requirements.lock": Elsewhere(
        "as above", (IMAGE, "Dockerfile"), "build_image.sh"
    ),
    ".venv/bin/pip install --no-deps .": Elsewhere(
        "the wheel of the tree is built, installed and imported",
        (f"{PACKAGING}::test_every_module_of_the_wheel_imports",),
        '"--no-deps"',
    ),
    ".venv/bin/python -m galloon.learners.kernels": Elsewhere(
        "compiles for minutes where nothing is compiled yet; `make setup` runs it",
        ("Makefile",),
        "python -m galloon.learners.kernels",
    ),
    ".venv/bin/galloon demo": Elsewhere("plays the whole sample and goes on", (FIRST_RUN,), '"demo"'),
    "pip install .": Elsewhere(
        "would change the environment of the tests",
        (PACKAGING, "tests/clients/api/test_light_import.py"),
        '"install"',
    ),
    "pip install '.[server]'": Elsewhere("as above", (PACKAGING,), '"install"'),
    "docker build -t galloon .": Elsewhere(
        "needs a Docker engine; buildah builds the same Dockerfile",
        (IMAGE, "deploy/build_image.sh"),
        "build_image.sh",
    ),
    "docker run --read-only --cap-drop ALL -v galloon-data:/data -p 127.0.0.1:7410:7410 -p 127.0.0.1:7411:7411 "
    "-e GALLOON_SERVER_INSECURE_PUBLIC=true -e GALLOON_HTTP_INSECURE_PUBLIC=true galloon": Elsewhere(
        "needs a Docker engine; the image is lived in without one, with the same restrictions",
        (IMAGE, "deploy/try_image.py"),
        "try_image.py",
    ),
    "docker run --read-only --cap-drop ALL -v galloon-data:/data -v ./conf:/conf:ro -p 7410:7410 "
    "-e GALLOON_TLS_CERTIFICATE=/conf/tls.crt -e GALLOON_TLS_KEY=/conf/tls.key "
    "-e GALLOON_AUTH_TOKENS=/conf/tokens.toml -e GALLOON_HTTP_LISTEN=127.0.0.1:7411 galloon": Elsewhere(
        "as above; TLS and tokens by these options are served for real",
        ("tests/clients/api/test_security.py", "deploy/try_image.py"),
        "tls.certificate",
    ),
    "docker run --rm galloon doctor": Elsewhere(
        "needs a Docker engine; the doctor is run inside the image", ("deploy/try_image.py",), "doctor"
    ),
    "GRAFANA_PASSWORD=choose-one docker compose -f deploy/compose.yaml up --build": Elsewhere(
        "needs a Docker engine and its registry; the file is checked piece by piece, its Prometheus is run",
        (MANIFESTS, "tests/deploy/test_prometheus.py"),
        "compose.yaml",
    ),
    **{
        command: Elsewhere(
            "needs a cluster; the manifests are checked against image and daemon", (MANIFESTS,), "kubernetes"
        )
        for command in (
            "kubectl create namespace galloon",
            "kubectl -n galloon create secret tls galloon-tls --cert tls.crt --key tls.key",
            "kubectl -n galloon create secret generic galloon-tokens --from-file tokens.toml",
            "kubectl apply -k deploy/kubernetes",
        )
    },
    "python -m tests.clients.formats.fuzz --count 10000": Elsewhere(
        "takes minutes; the tests break a few hundred files of each format",
        ("tests/clients/formats/test_fuzz.py",),
        "tests.clients.formats.fuzz",
    ),
    ".venv/bin/python -m tests.page_picture docs/images/page.png": Elsewhere(
        "plays 611 lines first; a shorter run", ("tests/docs/test_pictures.py",), "page_picture.main()"
    ),
    "python -m bench.catalogue docs/results.md": Elsewhere(
        "takes minutes; run on a few lines", ("tests/bench/test_real_text.py",), "catalogue"
    ),
    "python -m bench.settings docs/results.md": Elsewhere(
        "takes minutes; run on a few lines", ("tests/bench/test_real_text.py",), "settings"
    ),
    "python -m bench.robustness docs/results.md": Elsewhere(
        "takes minutes; run on half of a file", ("tests/bench/test_robustness.py",), "bench.unhelpful"
    ),
    "python -m bench.few_truths docs/results.md": Elsewhere(
        "takes minutes; run on a few lines", ("tests/bench/test_real_text.py",), "few_truths"
    ),
    "python -m bench rover": Elsewhere(
        "takes minutes; run on a few lines", ("tests/bench/test_real_text.py",), "bench.rover"
    ),
    'make fault ARGS="--part bombs"': Elsewhere(
        "takes minutes; a short version", ("tests/abuse/test_bombs.py",), "bombs"
    ),
    'make fault ARGS="--part messages"': Elsewhere(
        "takes minutes; a short version", ("tests/abuse/test_fuzz.py",), "codec_fuzz"
    ),
    'make fault ARGS="--part any_order"': Elsewhere(
        "takes minutes; a short version", ("tests/fault/test_state_machine.py",), "state_machine"
    ),
    'make fault ARGS="--part undo"': Elsewhere(
        "takes minutes; a short version", ("tests/fault/test_history.py",), "history.undo"
    ),
    'make fault ARGS="--part erasure"': Elsewhere(
        "takes minutes; a short version", ("tests/fault/test_history.py",), "history.erase"
    ),
    'make fault ARGS="--part retention"': Elsewhere(
        "takes minutes; a short version", ("tests/fault/test_history.py",), "history.retention"
    ),
    'make fault ARGS="--part crowds"': Elsewhere(
        "takes minutes; a short version", ("tests/fault/test_crowd.py",), "many_streams"
    ),
    'make fault ARGS="--part sabotage"': Elsewhere(
        "takes minutes; a short version", ("tests/sabotage/test_plants.py",), "plant"
    ),
    'make soak ARGS="--hours 1"': Elsewhere(
        "takes an hour; a short version", ("tests/fault/test_soak.py",), "soak"
    ),
}
