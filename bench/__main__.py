"""`python -m bench [--json] [NAME ...]`: every module's `figures()`, as a table or as one JSON object."""

import json
import sys
from importlib import import_module
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

MODULES = (
    "rate",
    "pages",
    "crowd",
    "automata",
    "rounds",
    "regret",
    "bounds",
    "alignment",
    "rover",
    "catalogue",
    "settings",
    "robustness",
    "readme",
    "history",
    "update",
    "late",
    "untaught",
    "absence",
    "estimates",
    "drift",
)
PUBLIC = {"untaught", "absence", "estimates"}  # those that play public files too


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(MODULES))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True),
    help="Public files, for untaught, absence and estimates.",
)
def main(names: tuple[str, ...], as_json: bool, data: Path | None) -> None:
    """Measure. Figures are ratios taken side by side in one run; name modules to run only those."""
    found = {}
    for name in names or MODULES:
        print(f"measuring {name} ...", file=sys.stderr)
        module = import_module(f"bench.{name}")
        found[name] = module.figures(data) if name in PUBLIC else module.figures()
        if not as_json:
            _show(name, found[name])
    if as_json:
        print(json.dumps(found))


def _show(name: str, figures: dict[str, dict[str, float]]) -> None:
    table = Table(title=name, title_justify="left", show_header=False, pad_edge=False)
    for what, numbers in figures.items():
        values = numbers.items() if isinstance(numbers, dict) else [("", numbers)]
        table.add_row(what, "  ".join(f"{key} [bold]{value:g}[/bold]" for key, value in values))
    Console().print(table)


if __name__ == "__main__":
    main()
