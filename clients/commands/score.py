"""`galloon score`: error rates of texts against the truth, with intervals and paired differences."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from galloon.clients.api.errors import WrongUsage
from galloon.clients.commands.server_option import failing_well
from galloon.clients.scores.texts import (
    Texts,
    holds_engines,
    names_differ,
    paired,
    read_hypotheses,
    read_references,
)
from galloon.learners.text.normalizers import NAMES as NORMALIZERS
from galloon.learners.unit import UNITS, Unit, unit_named


@click.command()
@click.argument("reference", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="REF")
@click.argument("hypotheses", nargs=-1, metavar="[NAME=]HYP...")
@click.option(
    "--unit",
    type=click.Choice(tuple(UNITS)),
    default="word",
    show_default=True,
    help="What intervals, differences and kinds of error are counted in.",
)
@click.option(
    "--normalizer",
    type=click.Choice(NORMALIZERS),
    default="basic",
    show_default=True,
    help="What counts as the same text.",
)
@click.option("--baseline", metavar="NAME", help="The system to compare with. Default: the best one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def score(
    reference: Path,
    hypotheses: tuple[str, ...],
    unit: str,
    normalizer: str,
    baseline: str | None,
    as_json: bool,
) -> None:
    """Score texts against the true ones in REF: word and character error rates, micro-averaged.

    Files may be plain text (a line a line), utterance files, JSON lines of `galloon combine --json`, or any
    engine's format. An utterance file as REF brings true texts, and its engines as hypotheses if no HYP is given.

    \b
    Examples:
      galloon score true.txt engine_a.txt engine_b.txt
      galloon score lines.jsonl
      galloon score lines.jsonl lines.jsonl combined=out.jsonl --baseline combined
    """  # noqa: D301  # the command line library wants the character itself
    with failing_well():
        if not hypotheses and not holds_engines(reference):
            raise WrongUsage(f"{reference} holds no engines: name a file of texts to score against it")
        truth = read_references(reference)
        systems = [system for text in hypotheses or (str(reference),) for system in read_hypotheses(text)]
        report = _report(truth, names_differ(systems), unit_named(unit), normalizer, baseline)
    if as_json:
        print(json.dumps(report.as_json(), ensure_ascii=False))
    else:
        report.show(Console())


def _report(truth: Texts, systems: list[Texts], unit: Unit, normalizer: str, baseline: str | None) -> Any:
    # Imported late: a wrong file name should not wait for the scoring's compiled code.
    from galloon.clients.scores.systems import score_texts
    from galloon.clients.scores.table import ScoreReport
    from galloon.learners.text.normalizers import normalizer as named

    if baseline is not None and all(system.name != baseline for system in systems):
        there = ", ".join(system.name for system in systems)
        raise WrongUsage(f"--baseline {baseline}: no system has this name; there are {there}")
    rule = named(normalizer)
    references = [rule(text) for text in truth.lines.values()]
    scored = [score_texts(system.name, references, paired(truth, system), rule) for system in systems]
    return ScoreReport(truth.file, len(references), unit, normalizer, tuple(scored), baseline)
