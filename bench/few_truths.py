"""Few truths: the default learner with none, 1 %, 5 % and all of the lines of a file corrected.

And the case that agreement cannot settle: one good recogniser beside two or three poor ones that err together,
from line 20 on: untaught, with the first 20 lines corrected, and with the good one named as trusted. To write both
tables into a page and draw the plot: `python -m bench.few_truths docs/results.md`.
"""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

from bench.markdown import page_command, table
from bench.progressive import scored
from bench.untaught import SHARES, materials, teaching
from galloon.clients.commands.learner_options import spec_for
from galloon.clients.replay.material import Input, Material, read_material, shown_to_learner
from galloon.clients.samples import asr_sample
from galloon.learners.combiners.build import build
from galloon.learners.combiners.contract import TrueText

ORDERS = 2  # of engines and lines
CORRECTED = 20  # lines
GOOD, POOR = "moonshine_base", ("ps_dom", "ps_gen", "ps_fast")
PLOT = Path("docs/images/few_truths.png")


def figures(limit: int | None = None) -> dict[str, dict[str, float]]:
    """By file: percent of words by the share of corrected lines; by group of recognisers: from line 20 on."""
    found = {
        name: teaching(replace(material, utterances=material.utterances[:limit]), ORDERS)
        for name, material in materials(None)
    }
    speech = read_material(asr_sample(), most=Input.BEST)
    for size in (2, 3):
        for poor in combinations(POOR, size):
            group = (GOOD, *poor)
            lines = tuple(
                replace(u, said=tuple(o for o in u.outputs if o.name in group))
                for u in speech.utterances[:limit]
            )
            found[" ".join(group)] = outnumbered(replace(speech, utterances=lines, experts=group))
    return found


def outnumbered(material: Material) -> dict[str, float]:
    counted = replace(material, utterances=material.utterances[CORRECTED:])
    good = scored(GOOD, counted, [u.outputs[0].text for u in counted.utterances])
    return {
        "best engine": round(good.wer, 2),
        "untaught": _rate(material, counted, 0),
        "20 lines": _rate(material, counted, CORRECTED),
        "trusted": _rate(material, counted, 0, options={"trusted": GOOD}),
    }


def _rate(material: Material, counted: Material, corrected: int, **given: object) -> float:
    spec = spec_for(dict(given), material.experts, material.utterances)
    combiner, texts = build(spec), []
    for number, utterance in enumerate(material.utterances):
        choice = combiner.choose(shown_to_learner(utterance, utterance.id, spec.labels), number)
        combiner.observe(choice.memory, choice.view)
        texts.append(choice.text)
        if number < corrected:
            combiner.learn(choice.memory, TrueText(utterance.target or ""), choice.view)
    return round(scored("galloon", counted, texts[CORRECTED:]).wer, 2)


def page(limit: int | None = None) -> str:
    """Both tables, and the plot beside the page."""
    found = figures(limit)
    shares = {name: rates for name, rates in found.items() if GOOD not in name}
    groups = {name: rates for name, rates in found.items() if GOOD in name}
    _draw(shares, PLOT)
    return "\n\n".join(
        table(
            (head, *next(iter(part.values()))),
            [(name, *map(str, rates.values())) for name, rates in part.items()],
        )
        for head, part in (("lines corrected", shares), (f"from line {CORRECTED} on", groups))
    )


def _draw(shares: dict[str, dict[str, float]], file: Path) -> None:
    """Error rates in percent of the untaught one, by the share of corrected lines."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for name, rates in shares.items():
        values = list(rates.values())
        axes.plot(range(len(values)), [100 * value / values[0] for value in values], marker="o", label=name)
    axes.set_xticks(range(len(SHARES)), [f"{100 * share:g} %" for share in SHARES])
    axes.set_xlabel("lines corrected, at random")
    axes.set_ylabel("word errors, untaught = 100")
    axes.legend(frameon=False)
    figure.savefig(file, dpi=150, metadata={"Software": "galloon"})
    plt.close(figure)


main = page_command("few_truths", page)


if __name__ == "__main__":
    main()
