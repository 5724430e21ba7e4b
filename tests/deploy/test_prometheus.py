"""A real Prometheus scrapes a real daemon under load; everything that is shipped to look at it finds something."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import pytest

from galloon.clients.api.answered import Answered
from galloon.clients.api.blocking import BlockingClient
from galloon.clients.api.errors import ClientError
from galloon.clients.formats.utterances import read_utterances
from galloon.clients.samples import ocr_sample
from galloon.learners.combiners.contract import Score, TrueText
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from tests.daemon_process import Daemon, running_daemon
from tests.deploy.alert_figures import figures
from tests.deploy.dashboard import expressions
from tests.deploy.real_prometheus import Prometheus, running_prometheus
from tests.system import needs

pytestmark = [needs("prometheus"), pytest.mark.slow]
EXPERTS = ("tess_eng", "tess_deu", "tess_bin", "rapidocr", "tess_legacy")
SCRAPES = 4  # a rate needs two
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Watched:
    """A daemon that has worked, and the Prometheus that watched it."""

    daemon: Daemon
    prometheus: Prometheus


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    directory = tmp_path_factory.mktemp("watched")
    with (
        running_daemon(directory / "daemon") as daemon,
        running_prometheus(directory, daemon.http_address) as prometheus,
        BlockingClient(daemon.address) as client,
    ):
        lines = [_five(line) for line in islice(read_utterances(ocr_sample(), lattices=False), 240)]
        # Batch after batch, so that counters move between one scrape and the next.
        seen, deadline = 0, time.monotonic() + PATIENCE_S
        for start in range(0, len(lines), 40):
            _play(client, lines[start : start + 40])
            while prometheus.values("sum(count_over_time(galloon_choices_total[5m]))") < [seen + 1]:
                assert time.monotonic() < deadline, daemon.log_tail()
                time.sleep(0.1)
            seen = int(prometheus.values("sum(count_over_time(galloon_choices_total[5m]))")[0])
        for learner in client.list_learners():
            client.snapshot_learner(learner.name)
        # Error rates are counted off the path of the utterance, and rules look at what was scraped before.
        wanted = f"count_over_time(learner:galloon_word_error:against_best_engine[5m]) >= {SCRAPES}"
        while not prometheus.values(wanted):
            assert time.monotonic() < deadline, daemon.log_tail()
            time.sleep(0.2)
        time.sleep(2.5)  # the snapshots are scraped
        yield Watched(daemon, prometheus)


def _play(client: BlockingClient, lines: list[Utterance]) -> None:
    """To a learner that is told everything, to one that is told a number, and one request that is refused."""
    told = CombinerSpec(engines=EXPERTS, algorithm="expanded_hedge", normalizer="basic", window=4)
    with client.stream("told", told) as stream:
        choices = list(stream.choose_each(lines))
        truths = [Answered(c.id, TrueText(line.target)) for c, line in zip(choices, lines, strict=True)]
        assert len(list(stream.learn_each(truths))) == len(lines)
        with pytest.raises(ClientError):
            stream.learn("never said", TrueText("x"))
    bandit = CombinerSpec(engines=EXPERTS, algorithm="com_band", normalizer="basic", window=64)
    with client.stream("bandit", bandit) as stream:
        choices = list(stream.choose_each(lines))
        scores = [Answered(choice.id, Score(0.5)) for choice in choices]
        assert len(list(stream.learn_each(scores))) == len(lines)


def _five(line: Utterance) -> Utterance:
    outputs = {output.name: output for output in line.outputs}
    return Utterance(line.id, tuple(outputs[name] for name in EXPERTS), line.target)


def test_every_panel_of_the_dashboard_shows_data(watched: Watched):
    shown = expressions()
    assert len(shown) > 30
    empty = [(panel, text) for panel, text in shown if not watched.prometheus.values(text)]
    assert not empty


def test_every_rule_is_evaluated_without_an_error(watched: Watched):
    rules = watched.prometheus.rules()
    assert len(rules) > 10
    wrong = {rule["name"]: rule for rule in rules if rule["health"] != "ok" or rule.get("lastError")}
    assert not wrong, wrong


def test_every_recorded_figure_has_data(watched: Watched):
    recorded = [rule["name"] for rule in watched.prometheus.rules() if rule["type"] == "recording"]
    assert recorded
    without = [name for name in recorded if not watched.prometheus.values(name)]
    assert not without


def test_every_alert_looks_at_figures_that_are_there(watched: Watched):
    """An alert is silent while all is well; that must not be because its metric does not exist."""
    alerts = [rule for rule in watched.prometheus.rules() if rule["type"] == "alerting"]
    assert alerts
    blind = {
        alert["name"]: figure
        for alert in alerts
        for figure in figures(alert["query"])
        if not watched.prometheus.values(figure)
    }
    assert not blind


def test_a_daemon_that_works_raises_no_critical_alert(watched: Watched):
    critical = [
        rule
        for rule in watched.prometheus.rules()
        if rule["type"] == "alerting" and rule["labels"]["severity"] == "critical"
    ]
    assert {rule["name"] for rule in critical} >= {"GalloonDown", "GalloonStoreFails"}
    assert [rule["name"] for rule in critical if rule["state"] == "firing"] == []


def test_error_rates_in_prometheus_are_those_of_the_engines(watched: Watched):
    """The best engine of the sample is the best one here, and far from the worst."""
    found = watched.prometheus.series(
        'galloon_word_edits_total{learner="told"} / galloon_true_words_total{learner="told"}'
    )
    rates = {series["metric"]["expert"]: float(series["value"][1]) for series in found}
    assert rates.keys() >= {*EXPERTS, "galloon"}
    assert rates["tess_eng"] < 0.15 < rates["tess_legacy"] < 0.6
