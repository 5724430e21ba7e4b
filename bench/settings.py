"""What partial feedback is worth: the default learner told everything, its own path, or one number a line.

Error rates over the first and the last fifth of each file, beside the blind choice with which a learner begins and
the vote. To write them into a page: `python -m bench.settings docs/results.md`.
"""

from pathlib import Path

import click

from bench.catalogue import compared, materials
from bench.markdown import table, write_section
from bench.progressive import progressive
from galloon.clients.learner_options import spec_for
from galloon.clients.replay.curves import fifths
from galloon.clients.replay.material import Material
from galloon.clients.system_scores import SystemScores, score_texts
from galloon.learners.protocol import Setting
from galloon.learners.scoring.normalizers import normalizer

TOLD = {
    Setting.FULL: "galloon, told the true text",
    Setting.SEMI_BANDIT: "galloon, told which shown tokens are right",
    Setting.BANDIT: "galloon, told how many shown tokens are right",
}
SECTION = "settings"
COMMAND = "python -m bench.settings docs/results.md"


def figures(limit: int | None = None) -> dict[str, dict[str, float]]:
    """By file and system: WER of the file, of its first and of its last fifth."""
    return {
        f"{name}, {system.name}": {what: round(value, 2) for what, value in numbers(system).items()}
        for name, material in materials(limit).items()
        for system in systems(material)
    }


def numbers(system: SystemScores) -> dict[str, float]:
    ends = fifths(system.words)
    return {"wer": system.wer, "first_fifth": ends.first, "last_fifth": ends.last}


def systems(material: Material) -> list[SystemScores]:
    """What needs no learning, then the learner in its three settings."""
    found = compared(material)
    for setting, name in TOLD.items():
        spec = spec_for({"setting": setting.value}, material.experts, material.utterances)
        rule = normalizer(spec.normalizer)
        references = [rule(utterance.target or "") for utterance in material.utterances]
        found.append(score_texts(name, references, progressive(material, spec).texts, rule))
    return found


def page(limit: int | None = None) -> str:
    parts = []
    for name, material in materials(limit).items():
        lines = [
            (system.name, *(f"{value:.2f}" for value in numbers(system).values()))
            for system in systems(material)
        ]
        parts.append(table((name, "WER", "first fifth", "last fifth"), lines))
    return "\n\n".join(parts)


@click.command()
@click.argument("path", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--limit", type=int, help="The first so many utterances of each file.")
def main(path: Path, limit: int | None) -> None:
    """Play the files in every setting and write the table into a page, between its marks."""
    write_section(path, SECTION, COMMAND, page(limit))


if __name__ == "__main__":
    main()
