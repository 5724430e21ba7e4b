"""A daemon is killed while a challenger plays: the challenger goes on, and becomes what it would have been."""

import time
from pathlib import Path

from galloon import BlockingClient, Spec, TrueText, Utterance
from tests.daemon_process import running_daemon

LINES = 40
KILLS = 2
OTHER = Spec(("a", "b"), unit="char")


def play(client: BlockingClient, name: str, spec: Spec, lines: range) -> None:
    with client.stream(name, create=spec) as stream:
        for number in lines:
            said = {"a": f"line number {number}", "b": f"lime number {number * 7}"}
            stream.choose(Utterance.of_texts(f"u{number}", said))
            stream.learn(f"u{number}", TrueText(f"line number {number}"))


def caught_up(client: BlockingClient) -> None:
    while client.compare_learner("one").others[0].behind:
        time.sleep(0.05)


def test_a_challenger_survives_kills_to_the_bit(tmp_path: Path):
    with running_daemon(tmp_path) as daemon:
        with BlockingClient(daemon.address) as client:
            play(client, "one", Spec(("a", "b")), range(LINES))
            client.add_challenger("one", "other", OTHER)
        for _ in range(KILLS):
            time.sleep(0.3)  # wherever it is by then
            daemon.kill()
            daemon.start()
        with BlockingClient(daemon.address) as client:
            play(client, "one", Spec(("a", "b")), range(LINES, LINES + 5))
            caught_up(client)
            play(client, "straight", OTHER, range(LINES + 5))
            found = client.get_learner("one:other")
            assert found.statistics is not None
            assert found.statistics.lessons == LINES + 5
            assert found.state_digest == client.get_learner("straight").state_digest
