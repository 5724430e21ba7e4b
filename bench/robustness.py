"""What an expert that is no help costs: the default learner with one of `unhelpful.KINDS` more, and without.

To write the table into a page: `python -m bench.robustness docs/results.md`.
"""

from pathlib import Path

import click

from bench.catalogue import materials
from bench.markdown import table, write_section
from bench.progressive import progressive
from bench.unhelpful import KINDS, with_unhelpful
from galloon.clients.learner_options import spec_for
from galloon.clients.replay.baselines import baselines
from galloon.clients.replay.material import Material
from galloon.clients.system_scores import SystemScores, difference, score_texts
from galloon.learners.scoring.normalizers import normalizer

SECTION = "robustness"
COMMAND = "python -m bench.robustness docs/results.md"


def figures(limit: int | None = None) -> dict[str, dict[str, float]]:
    """By file and expert: WER, its change in percent of the WER without the expert, and the vote's change."""
    found = {}
    for name, material in materials(limit).items():
        plain, voted = scores(material), vote(material)
        found[f"{name}, as it is"] = {"wer": round(plain.wer, 2), "vote": round(voted.wer, 2)}
        for kind in KINDS:
            more = with_unhelpful(material, kind)
            system = scores(more)
            found[f"{name}, {kind}"] = {
                "wer": round(system.wer, 2),
                "change": round(change(system, plain), 2),
                "vote": round(vote(more).wer, 2),
            }
    return found


def change(system: SystemScores, plain: SystemScores) -> float:
    """In percent of the errors before."""
    return 100 * (system.wer / plain.wer - 1)


def scores(material: Material) -> SystemScores:
    """The default learner, played over the file from a cold start."""
    spec = spec_for({}, material.experts, material.utterances)
    return _scored("galloon", material, progressive(material, spec).texts)


def vote(material: Material) -> SystemScores:
    spec = spec_for({}, material.experts, material.utterances)
    without = baselines(material.utterances, "word", normalizer(spec.normalizer), seed=0)
    return _scored("vote", material, [entry.vote for entry in without])


def page(limit: int | None = None) -> str:
    """A table for each file."""
    parts = []
    for name, material in materials(limit).items():
        plain, voted = scores(material), vote(material)
        lines = [("nobody", f"{plain.wer:.2f}", "", "", f"{voted.wer:.2f}")]
        for kind in KINDS:
            more = with_unhelpful(material, kind)
            system = scores(more)
            paired = difference(system, plain, "word")
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


def _scored(name: str, material: Material, texts: list[str]) -> SystemScores:
    rule = normalizer(spec_for({}, material.experts, material.utterances).normalizer)
    references = [rule(utterance.target or "") for utterance in material.utterances]
    return score_texts(name, references, texts, rule)


@click.command()
@click.argument("path", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--limit", type=int, help="The first so many utterances of each file.")
def main(path: Path, limit: int | None) -> None:
    """Play the files with every unhelpful expert and write the table into a page, between its marks."""
    write_section(path, SECTION, COMMAND, page(limit))


if __name__ == "__main__":
    main()
