"""Tables for pages: `table` as Markdown, and `write_section` to put a text between its marks in a file.

A section lies between `<!-- begin NAME -->` and `<!-- end NAME -->`, and begins with the command that makes it:
`page_command` is that command, for a bench of the section's name.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

_FILE = click.Path(dir_okay=False, exists=True, path_type=Path)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table; the first `left` columns are words, the others numbers."""
    rule = ["---" if place < left else "---:" for place in range(len(heads))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (heads, rule, *rows))


def write_section(path: Path, name: str, command: str, text: str) -> None:
    """Replace what lies between the marks of this name."""
    marks = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    page = path.read_text(encoding="utf-8")
    if not marks.search(page):
        raise SystemExit(
            f"{path}: there is no place for it; write <!-- begin {name} --> and <!-- end {name} -->"
        )
    made = f"Made by `{command}`.\n\n{text}\n"
    path.write_text(marks.sub(lambda found: found[1] + made + found[2], page), encoding="utf-8")


def page_command(
    name: str, page: Callable[..., str], *files: str, target: str = "docs/results.md"
) -> click.Command:
    """Takes the page to write into, the files that `page` wants, and how many lines of them to play."""
    command = " ".join([f"python -m bench.{name} {target}", *map(str.upper, files)])

    def write(path: Path, **given: Any) -> None:
        write_section(path, name, command, page(**given))

    return click.Command(
        name,
        callback=write,
        help=f"{page.__doc__} Written into PATH, between its marks.",
        params=[
            *(click.Argument([file], type=_FILE) for file in ("path", *files)),
            click.Option(["--limit"], type=int, help="The first so many utterances of each file."),
        ],
    )
