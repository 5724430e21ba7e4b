"""Which engine is best on my data? What a learner estimates without any truth, for people: `estimates_table`.

Rates are of the lines in which an engine ran. The interval says how much lines differ, and not how far agreement
is from the truth: engines that err together look better than they are (docs/algorithms.md).
"""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

ESTIMATES = "estimates"  # in what a learner tells of itself


def estimates_table(extra: Mapping[str, Any]) -> Table | None:
    """The engines, the best first; None where the learner estimates nothing, or nothing yet."""
    known = extra.get(ESTIMATES) or {}
    if not known:
        return None
    table = Table(title="Estimated without any truth", title_justify="left", pad_edge=False)
    table.add_column("")
    for heading in ("errors, % of words", "95 %", "dropping it costs", "lines"):
        table.add_column(heading, justify="right")
    table.add_column("copies")
    for name, entry in sorted(known.items(), key=lambda item: item[1]["error_rate"]):
        table.add_row(
            name,
            f"{entry['error_rate']:.2f}",
            f"{entry['low']:.2f} – {entry['high']:.2f}",
            f"{entry['dropping_costs']:+.2f}",
            f"{entry['lines']:,.0f}",
            entry["repeats"],
        )
    table.caption = "by agreement alone; engines that err together look better than they are"
    table.caption_justify = "left"
    return table
