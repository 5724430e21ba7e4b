"""What partial feedback is worth: the default learner told everything, its own path, or one number a line.

Error rates over the first and the last fifth of each file, beside the blind choice with which a learner begins and
the vote. To write them into a page: `python -m bench.settings docs/results.md`.
"""

from bench.catalogue import compared, materials
from bench.markdown import page_command, table
from bench.progressive import learned_scores
from galloon.clients.replay.curves import fifths
from galloon.clients.replay.material import Material
from galloon.clients.scores.systems import SystemScores
from galloon.learners.paths.protocol import Setting

TOLD = {
    Setting.FULL: "galloon, told the true text",
    Setting.SEMI_BANDIT: "galloon, told which shown tokens are right",
    Setting.BANDIT: "galloon, told how many shown tokens are right",
}


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
    learned = [learned_scores(material, name, setting=setting.value) for setting, name in TOLD.items()]
    return [*compared(material), *learned]


def page(limit: int | None = None) -> str:
    """The default learner in every setting, a table for each file."""
    parts = []
    for name, material in materials(limit).items():
        lines = [
            (system.name, *(f"{value:.2f}" for value in numbers(system).values()))
            for system in systems(material)
        ]
        parts.append(table((name, "WER", "first fifth", "last fifth"), lines))
    return "\n\n".join(parts)


main = page_command("settings", page)


if __name__ == "__main__":
    main()
