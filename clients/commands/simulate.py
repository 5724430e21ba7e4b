"""`galloon simulate`: the paper's game on synthetic experts, regret against the bound, as a plot and as JSON."""

import json
import sys
from dataclasses import asdict
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table as RichTable

from galloon.clients.commands.aliases import Aliased
from galloon.clients.commands.gain_option import gain_options
from galloon.clients.commands.options import OutputFile
from galloon.learners.automata.direct import context_automaton
from galloon.learners.automata.expert import Ensemble
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.errors import LearnerError
from galloon.learners.gains.spec import gain_from_spec
from galloon.learners.paths.beyond.games import GAMES
from galloon.learners.paths.catalogue import NAMES
from galloon.learners.paths.opponents import OPPONENTS, Table
from galloon.learners.paths.simulation import Run
from galloon.learners.paths.simulation import simulate as play
from galloon.learners.paths.theorems import promised


@click.command(
    epilog="Example: galloon simulate --algorithm component_hedge --algorithm expanded_hedge --plot regret.png"
)
@click.option(
    "--algorithm",
    "learners",
    cls=Aliased,
    aliases=["--learner"],
    type=click.Choice(NAMES),
    multiple=True,
    default=("component_hedge",),
    show_default=True,
    help="Who plays; give it several times to compare.",
)
@gain_options("ngram")
@click.option(
    "--expert-count",
    "-r",
    "experts",
    cls=Aliased,
    aliases=["--experts"],
    default=3,
    show_default=True,
    help="Number of experts.",
)
@click.option("--slots", "-l", default=6, show_default=True, help="Number of slots.")
@click.option("--rounds", "-T", default=2000, show_default=True, help="Number of rounds.")
@click.option("--seed", default=0, show_default=True, help="The first seed.")
@click.option(
    "--seeds", default=3, show_default=True, help="How many games a learner plays, each its own seed."
)
@click.option(
    "--opponent",
    type=click.Choice(list(OPPONENTS)),
    default="stochastic",
    show_default=True,
    help="Who deals the rounds: one expert a slot is better, that drifts, or the least trusted one is right.",
)
@click.option("--self-tuning", is_flag=True, help="Do not tell the learners how many rounds there will be.")
@click.option(
    "--theorems", is_flag=True, help="Play nothing: print the closed form of every theorem for this game."
)
@click.option(
    "--beyond",
    type=click.Choice(list(GAMES)),
    help="Another game, of a problem that the paper leaves open; only -T, --seed, --seeds and --json count.",
)
@click.option("--plot", type=OutputFile(), help="Write the curves as PNG or SVG, by the ending.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, curves included.")
def simulate(**options: Any) -> None:
    """Play the paper's online path game and compare regret with the theorem's bound.

    Experts and truths are synthetic; the learners, gains and automata are those of the daemon. A learner's
    setting decides what it is told of each round: full information, its own path, or one number.
    """
    if options["beyond"]:
        _show_beyond(options)
        return
    table = Table(options["experts"], options["slots"], options["rounds"])
    if options["theorems"]:
        _show_theorems(table, options)
        return
    try:
        results = {name: _games(name, table, options) for name in options["learners"]}
    except LearnerError as error:
        raise click.UsageError(str(error)) from error
    if options["plot"]:
        from galloon.clients.report.regret_plot import plot_regret

        plot_regret(results, _title(options), options["plot"])
    if options["as_json"]:
        print(json.dumps(_report(results, options)))
    else:
        _show(results, options)


def _games(name: str, table: Table, options: dict[str, Any]) -> list[Run]:
    runs = []
    quiet = options["as_json"] or not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), disable=quiet, transient=True) as progress:
        task = progress.add_task(name, total=options["seeds"] * table.rounds)
        for seed in range(options["seed"], options["seed"] + options["seeds"]):
            spec = CombinerSpec(
                engines=tuple(f"h{j + 1}" for j in range(table.experts)),
                algorithm=name,
                gain=options["gain"],
                window=table.slots,
                horizon=0 if options["self_tuning"] else table.rounds,
                seed=seed,
            )
            runs.append(play(spec, table, options["opponent"], lambda: progress.advance(task)))
    return runs


def _show_theorems(table: Table, options: dict[str, Any]) -> None:
    try:
        gain = gain_from_spec(options["gain"])
        context = context_automaton(Ensemble(table.experts, table.slots), gain.reach)
        edge_bound, path_bound = gain.edge_bound(table.slots), gain.path_bound(table.slots, table.slots)
    except LearnerError as error:
        raise click.UsageError(str(error)) from error
    rows = promised(context, table.rounds, edge_bound, path_bound)
    if options["as_json"]:
        print(json.dumps([{"learner": r.learner, "theorem": r.theorem, "bound": r.bound} for r in rows]))
        return
    shown = RichTable(
        title=_title(options), caption=f"bounds on regret after {table.rounds} rounds, horizon known"
    )
    shown.add_column("learner")
    shown.add_column("theorem")
    shown.add_column("bound", justify="right")
    for row in rows:
        shown.add_row(row.learner, row.theorem, f"{row.bound:,.1f}")
    Console().print(shown)


def _show_beyond(options: dict[str, Any]) -> None:
    name, seeds = options["beyond"], range(options["seed"], options["seed"] + options["seeds"])
    try:
        played = [
            GAMES[name](options["rounds"], np.random.Generator(np.random.Philox(seed))) for seed in seeds
        ]
    except LearnerError as error:
        raise click.UsageError(str(error)) from error
    if options["as_json"]:
        games = [[asdict(outcome) for outcome in outcomes] for outcomes in played]
        print(json.dumps({"game": name, "rounds": options["rounds"], "seeds": list(seeds), "games": games}))
        return
    shown = RichTable(title=name, caption=f"mean of {len(played)} games of {options['rounds']} rounds")
    for heading in ("against", "regret", "bound"):
        shown.add_column(heading, justify="left" if heading == "against" else "right")
    for row in zip(*played, strict=True):
        regret, bound = (float(np.mean([getattr(each, key) for each in row])) for key in ("regret", "bound"))
        shown.add_row(row[0].against, f"{regret:.1f}", f"{bound:.1f}")
    Console().print(shown)


def _title(options: dict[str, Any]) -> str:
    gain = options["gain"]
    match gain:
        case {"kind": "ngram", "order": order}:
            what = f"{order}-gram gain"
        case {"kind": "gappy", "lengths": lengths, "max_gap": max_gap}:
            what = f"gappy {','.join(map(str, lengths))}-gram gain, gaps up to {max_gap}"
        case _:
            what = f"{gain['kind'].replace('_', ' ')} gain"
    return f"{what}, {options['experts']} experts, {options['slots']} slots, {options['opponent']} opponent"


def _report(results: dict[str, list[Run]], options: dict[str, Any]) -> dict[str, Any]:
    return {
        "gain": options["gain"],
        "experts": options["experts"],
        "slots": options["slots"],
        "rounds": options["rounds"],
        "opponent": options["opponent"],
        "self_tuning": options["self_tuning"],
        "learners": {
            name: [
                {
                    "seed": options["seed"] + i,
                    "regret": run.final_regret,
                    "bound": run.final_bound,
                    "gain": run.gain,
                    "best_gain": run.best_gain,
                    "tracking_regret": run.tracking_regret,
                    "log_regret": run.log_regret.value,
                    "log_regret_rounds_left_out": run.log_regret.rounds_left_out,
                    "curve": {
                        "round": run.rounds.tolist(),
                        "regret": run.regret.tolist(),
                        "bound": [None if np.isnan(b) else b for b in run.bound],
                    },
                }
                for i, run in enumerate(runs)
            ]
            for name, runs in results.items()
        },
    }


def _show(results: dict[str, list[Run]], options: dict[str, Any]) -> None:
    table = RichTable(
        title=_title(options),
        caption=f"mean of {options['seeds']} games of {options['rounds']} rounds; "
        "to 4 paths: regret to the best path of each quarter",
    )
    table.add_column("learner", no_wrap=True)
    for heading in ("regret", "to 4 paths", "bound", "gain", "best path", "-log U regret"):
        table.add_column(heading, justify="right", no_wrap=heading == "best path")
    for name, runs in results.items():
        regret = float(np.mean([run.final_regret for run in runs]))
        bound = runs[0].final_bound
        table.add_row(
            name,
            f"{regret:.1f}",
            f"{np.mean([run.tracking_regret for run in runs]):.1f}",
            "-" if bound is None else f"{bound:.1f}",
            f"{np.mean([run.gain for run in runs]):.0f}",
            f"{np.mean([run.best_gain for run in runs]):.0f}",
            f"{np.mean([run.log_regret.value for run in runs]):.1f}",
        )
    Console().print(table)
    if options["plot"]:
        Console().print(f"The curves are in {options['plot']}.")
