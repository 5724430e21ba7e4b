"""What an expert that is no help costs: the default learner with one of `unhelpful.KINDS` more, and without.

To write the table into a page: `python -m bench.robustness docs/results.md`.
"""

from bench.catalogue import materials
from bench.markdown import page_command, table
from bench.progressive import learned_scores, scored
from bench.unhelpful import KINDS, with_unhelpful
from galloon.clients.replay.baselines import baselines
from galloon.clients.replay.material import Material, normalizer_for
from galloon.clients.scores.systems import SystemScores, difference
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import WORD


def figures(limit: int | None = None) -> dict[str, dict[str, float]]:
    """By file and expert: WER, its change in percent of the WER without the expert, and the vote's change."""
    found = {}
    for name, material in materials(limit).items():
        plain, voted = learned_scores(material), vote(material)
        found[f"{name}, as it is"] = {"wer": round(plain.wer, 2), "vote": round(voted.wer, 2)}
        for kind in KINDS:
            more = with_unhelpful(material, kind)
            system = learned_scores(more)
            found[f"{name}, {kind}"] = {
                "wer": round(system.wer, 2),
                "change": round(change(system, plain), 2),
                "vote": round(vote(more).wer, 2),
            }
    return found


def change(system: SystemScores, plain: SystemScores) -> float:
    """In percent of the errors before."""
    return 100 * (system.wer / plain.wer - 1)


def vote(material: Material) -> SystemScores:
    rule = normalizer(normalizer_for(material.utterances))
    without = baselines(material.utterances, WORD, rule, seed=0)
    return scored("vote", material, [entry.vote for entry in without])


def page(limit: int | None = None) -> str:
    """The default learner with every unhelpful expert, a table for each file."""
    parts = []
    for name, material in materials(limit).items():
        plain, voted = learned_scores(material), vote(material)
        lines = [("nobody", f"{plain.wer:.2f}", "", "", f"{voted.wer:.2f}")]
        for kind in KINDS:
            more = with_unhelpful(material, kind)
            system = learned_scores(more)
            paired = difference(system, plain, WORD)
            lines.append(
                (
                    kind,
                    f"{system.wer:.2f}",
                    f"{change(system, plain):+.1f} %",
                    f"{paired.low:+.2f} to {paired.high:+.2f}",
                    f"{vote(more).wer:.2f}",
                )
            )
        heads = (f"{name}, and an expert more that says", "WER", "change", "95 % of the difference", "vote")
        parts.append(table(heads, lines))
    return "\n\n".join(parts)


main = page_command("robustness", page)


if __name__ == "__main__":
    main()
