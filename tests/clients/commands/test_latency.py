"""Latencies out of a metrics page: parsed, subtracted, and read as quantiles."""

import pytest

from galloon.clients.api.errors import Unreachable, WrongUsage
from galloon.clients.top.latency import parse, quantile, scrape
from tests.daemon_process import free_port

PAGE = """\
# HELP galloon_choose_seconds From an utterance's arrival to its choice.
# TYPE galloon_choose_seconds histogram
galloon_choose_seconds_bucket{le="0.001"} 50.0
galloon_choose_seconds_bucket{le="0.002"} 90.0
galloon_choose_seconds_bucket{le="+Inf"} 100.0
galloon_choose_seconds_count 100.0
galloon_streams 3.0
"""


def test_quantiles_lie_straight_between_the_ends_of_a_bucket():
    buckets = parse(PAGE).histograms["galloon_choose_seconds"]
    assert quantile(buckets, 0.25) == pytest.approx(0.0005)
    assert quantile(buckets, 0.7) == pytest.approx(0.0015)
    assert quantile(buckets, 0.99) == 0.002  # beyond the last end nothing more is known
    assert quantile({}, 0.5) is None
    assert quantile({0.001: 0.0, float("inf"): 0.0}, 0.5) is None


def test_only_what_came_in_between_counts():
    before, now = parse(PAGE), parse(PAGE.replace("90.0", "95.0").replace("100.0", "105.0"))
    assert now.since(before, "galloon_choose_seconds") == {0.001: 0.0, 0.002: 5.0, float("inf"): 5.0}


def test_a_restarted_daemon_counts_from_zero():
    before, now = (
        parse(PAGE),
        parse(PAGE.replace("50.0", "1.0").replace("90.0", "2.0").replace("100.0", "2.0")),
    )
    assert now.since(before, "galloon_choose_seconds")[0.002] == 2.0


def test_no_page_is_no_surprise():
    with pytest.raises(Unreachable):
        scrape(f"http://127.0.0.1:{free_port()}/metrics")
    with pytest.raises(WrongUsage):
        scrape("file:///etc/passwd")
