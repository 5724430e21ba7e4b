"""Which engine is best, told without any truth: estimated against true error rates of each engine of the samples.

`figures` plays each file once, untaught, in its own order; the last row is the mean absolute difference. With a
folder of public files these are played too. Run: `python -m bench estimates --data FOLDER`.
"""

from pathlib import Path
from statistics import mean

from bench.progressive import scored
from bench.untaught import materials, played


def figures(data: Path | None = None) -> dict[str, dict[str, float]]:
    """By file and engine: percent of words."""
    found: dict[str, dict[str, float]] = {}
    apart = []
    for name, material in materials(data):
        _, combiner = played(material)
        said = [{output.name: output.text for output in u.outputs} for u in material.utterances]
        for estimate in combiner.estimates():
            true = scored(estimate.expert, material, [texts.get(estimate.expert) for texts in said]).wer
            apart.append(abs(estimate.error_rate - true))
            found[f"{name}: {estimate.expert}"] = {
                "estimated": round(estimate.error_rate, 2),
                "low": round(estimate.low, 2),
                "high": round(estimate.high, 2),
                "true": round(true, 2),
                "dropping_costs": round(estimate.dropping_costs, 2),
            }
    return {**found, "mean absolute difference": {"points": round(mean(apart), 2)}}
