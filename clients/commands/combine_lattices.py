"""What `galloon combine` does for lattices alone: `--to lattice` and `--mbr`, with what they exclude."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from galloon.clients.api.errors import WrongUsage
from galloon.clients.commands.learner_options import spec_for
from galloon.clients.formats.combined_lattice import LATTICE_FORMATS, LatticeWriter, lattice_of
from galloon.clients.formats.gathering import Gathered
from galloon.clients.replay.material import same_experts
from galloon.codec.answer import Choice
from galloon.codec.explanation import Explanation
from galloon.learners.observation import Utterance
from galloon.learners.text.normalizers import normalizer as named


def check_lines(target_format: str, mbr: bool, join: str, output: Path | None, looked_at: bool) -> None:
    lattices = target_format in LATTICE_FORMATS
    if (lattices or mbr) and join == "match":
        what = f"--to {target_format}" if lattices else "--mbr"
        raise WrongUsage(f"{what} is for lines with ids, alternatives or lattices: join them with --join id")
    if lattices and (mbr or looked_at):
        raise WrongUsage(f"--to {target_format} excludes --mbr, --json, --explain and --report")
    if mbr and looked_at:
        raise WrongUsage("--mbr has no learner to tell about: it excludes --json, --explain and --report")
    if lattices and (output is None or output.is_file() or output.suffix):
        raise WrongUsage(f"--to {target_format} writes a file an utterance: name a folder with -o OUT/")


def combine_by_risk(gathered: Gathered, given: dict[str, Any], output: Path | None) -> None:
    """A text a line, without a daemon."""
    from galloon.learners.lattices.union import union_words  # late: it loads compiled code

    utterances, experts = same_experts(gathered.utterances, given.get("engines", ()))
    spec = spec_for({"normalizer": "none", **given}, experts, utterances)
    rule = named(spec.normalizer)
    with click.open_file("-" if output is None else output, "w", encoding="utf-8") as file:
        for utterance in utterances:
            file.write(spec.unit.join(union_words(utterance.outputs, spec.unit, rule)) + "\n")


def lattice_writer(
    lattices: LatticeWriter,
) -> Callable[[Utterance, Choice, tuple[str, ...], Explanation | None], None]:
    def write(
        utterance: Utterance, choice: Choice, _experts: tuple[str, ...], _why: Explanation | None
    ) -> None:
        lattices.add(utterance.id, lattice_of(choice))

    return write
