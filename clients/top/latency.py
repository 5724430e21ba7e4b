"""Latencies of a daemon, out of its metrics page: `scrape` reads it, `quantile` looks into a histogram.

Two scrapes are subtracted, so that a quantile is about the time between them and not about the whole day.
"""

import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass

from galloon.clients.api.errors import Unreachable, WrongUsage

MOST_BYTES = 16_000_000
Buckets = Mapping[float, float]  # upper end in seconds to the count of all that is not longer


@dataclass(frozen=True, slots=True)
class Scrape:
    """The histograms of one moment, by the metric's name without the _bucket at its end."""

    histograms: Mapping[str, Buckets]

    def since(self, before: "Scrape", name: str) -> Buckets:
        """What came in between; all of it when the daemon was started in between."""
        now, then = self.histograms.get(name, {}), before.histograms.get(name, {})
        changes = {end: count - then.get(end, 0.0) for end, count in now.items()}
        return now if any(change < 0 for change in changes.values()) else changes


def scrape(url: str, token: str | None = None, timeout_s: float = 2.0) -> Scrape:
    """Read the metrics page."""
    check_url(url)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310  # the scheme was checked above
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as page:  # noqa: S310  # as above
            text = page.read(MOST_BYTES).decode("utf-8", errors="replace")
    except (OSError, urllib.error.HTTPError) as error:
        raise Unreachable(f"{url}: {getattr(error, 'reason', error)}") from error
    return parse(text)


def check_url(url: str) -> None:
    if not url.startswith(("http://", "https://")):
        raise WrongUsage(f"{url!r} is not the address of a metrics page: write http://host:port/metrics")


def parse(text: str) -> Scrape:
    """The histograms without labels of a page in the text format of Prometheus."""
    histograms: dict[str, dict[float, float]] = {}
    for line in text.splitlines():
        name, found, rest = line.partition('_bucket{le="')
        if found and not line.startswith("#"):
            end, _, count = rest.partition('"} ')
            histograms.setdefault(name, {})[float(end)] = float(count.split()[0])
    return Scrape(histograms)


def quantile(buckets: Buckets, share: float) -> float | None:
    """Seconds within which this share lies, straight between the ends of a bucket; None when there is nothing."""
    ends = sorted(buckets)
    if not ends or buckets[ends[-1]] <= 0:
        return None
    wanted, low, below = share * buckets[ends[-1]], 0.0, 0.0
    for end in ends:
        if buckets[end] >= wanted:
            if end == float("inf"):
                return low
            inside = buckets[end] - below
            return low + (end - low) * ((wanted - below) / inside if inside else 1.0)
        low, below = end, buckets[end]
    return low
