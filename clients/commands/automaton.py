"""`galloon automaton`: the paper's construction on one automaton: A, T_A and A', built both ways and compared."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from galloon.clients.api.errors import WrongUsage
from galloon.clients.commands.gain_option import gain_options
from galloon.clients.commands.server_option import failing_well

FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--expert-count", "-r", type=click.IntRange(1), help="Without FILE: an ensemble of so many experts."
)
@click.option("--slots", "-l", type=click.IntRange(1), help="Without FILE: and of so many slots.")
@gain_options("ngram")
@click.option(
    "--symbols", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Names of labels."
)
@click.option(
    "--lattice", is_flag=True, help="Labels are words and may come again; transitions are numbered."
)
@click.option(
    "--longest",
    type=click.IntRange(1),
    help="FILE is AT&T text that may have cycles: its paths of at most so many transitions, a@1, b@2, ...",
)
@click.option("--ignore-weights", is_flag=True, help="Leave out the weights of FILE: path experts have none.")
@click.option(
    "--draw", "drawn", metavar="FOLDER", type=FOLDER, help="Write the pictures there, as SVG and DOT."
)
@click.option(
    "--export", "exported", metavar="FOLDER", type=FOLDER, help="Write OpenFst binaries there, and A as text."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
def automaton(
    file: Path | None,
    expert_count: int | None,
    slots: int | None,
    gain: dict[str, Any],
    symbols: Path | None,
    lattice: bool,
    longest: int | None,
    ignore_weights: bool,
    drawn: Path | None,
    exported: Path | None,
    as_json: bool,
) -> None:
    """Build the context-dependent automaton A' of an expert automaton A, in two ways, and compare them.

    A is a FILE in AT&T text (fstprint) or OpenFst binary, whose transitions have different names; or a word
    lattice (SLF, Kaldi, or with --lattice either of the former), whose transitions are called e1, e2, ...; or,
    with -r and -l, all combinations of r experts in l slots. Its paths are the path experts.

    The gain says which sequences of transitions count. The transducer T_A reads transitions and writes a context
    symbol for each such sequence. A' is A composed with T_A, by OpenFst; learners build the same automaton
    directly, much faster. Both are written out in context symbols and minimised. They agree if the results are
    the same automaton; else the exit status is 1.

    \b
    Examples:
      galloon automaton -r 2 -l 3 -n 2 --draw figures
      galloon automaton -r 2 -l 4 --gain gappy -n 2 --max-gap 1
      galloon automaton experts.txt --gain ngram:order=3 --json
      galloon automaton line.slf.gz -n 2 --export machines
      galloon automaton loops.txt --longest 6 --export machines
    """  # noqa: D301  # the command line library wants the character itself
    # Imported late: OpenFst takes a while to load.
    from galloon.clients.report.automaton_report import AutomatonReport
    from galloon.learners.automata.agreement import build_both
    from galloon.learners.gains.spec import gain_from_spec

    with failing_well():
        expert, words = _expert(file, expert_count, slots, symbols, lattice, longest, ignore_weights)
        report = AutomatonReport(expert, words, gain, build_both(expert, gain_from_spec(gain)))
        pictures = {} if drawn is None else report.draw(drawn)
        machines = () if exported is None else report.export(exported)
    if as_json:
        written = {"pictures": pictures, "machines": list(machines)}
        print(json.dumps({**report.as_json(), **written}, ensure_ascii=False))
    else:
        _show(report.as_json(), Console())
        for name, note in pictures.items():
            click.echo(f"{name}: {note}")
        for name in machines:
            click.echo(name)
    if not report.agree:
        raise SystemExit(1)


def _expert(
    file: Path | None,
    expert_count: int | None,
    slots: int | None,
    symbols: Path | None,
    lattice: bool,
    longest: int | None,
    ignore_weights: bool,
) -> Any:
    from galloon.clients.formats.expert_automaton import read_expert_automaton, read_unrolled
    from galloon.learners.automata.expert import Ensemble

    if file is not None:
        if expert_count is not None or slots is not None:
            raise WrongUsage(
                "FILE and -r, -l exclude each other: the automaton is in the file, or an ensemble"
            )
        if longest is not None:
            if lattice:
                raise WrongUsage("--longest and --lattice exclude each other: lattices have no cycles")
            return read_unrolled(file, longest, symbols=symbols, ignore_weights=ignore_weights), None
        return read_expert_automaton(file, symbols=symbols, lattice=lattice, ignore_weights=ignore_weights)
    if longest is not None:
        raise WrongUsage("--longest needs a FILE")
    if expert_count is None or slots is None:
        raise WrongUsage("name a FILE, or an ensemble with both -r (experts) and -l (slots)")
    return Ensemble(expert_count, slots), None


def _show(report: dict[str, Any], console: Console) -> None:
    gain = ", ".join(f"{name} {value}" for name, value in report["gain"].items() if name != "kind")
    title = f"{report['gain']['kind']} gain" + (f": {gain}" if gain else "")
    table = Table(title=title, title_justify="left")
    table.add_column("automaton", no_wrap=True)
    for heading in ("states", "transitions", "paths", "symbols"):
        table.add_column(heading, justify="right")
    for name, sizes in report["sizes"].items():
        shown = (sizes.get(key) for key in ("states", "transitions", "paths", "symbols"))
        table.add_row(name, *("" if value is None else f"{value:,}" for value in shown))
    console.print(table)
    verdict = report["agreement"]
    console.print(verdict["sentence"], highlight=False, soft_wrap=True)
