"""The README's table: every row is one `galloon replay`, typed as it stands there, with a daemon of its own.

`figures` are the rows, as the commands print them; to write them and the commands into the page:
`python -m bench.readme README.md`.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from bench.markdown import page_command, table
from bench.progressive import FIRST_FIVE

ROOT = Path(__file__).parents[1]
OCR, ASR = (f"galloon replay clients/samples/{kind}.jsonl.gz" for kind in ("ocr", "asr"))
FIVE = f"{OCR} --engines {','.join(FIRST_FIVE)}"
ROWS = {
    "OCR, five engines, words": FIVE,
    "the same, told the kind of document": f"{FIVE} --labels domain",
    "OCR, seven engines, two of them bad, words": OCR,
    "OCR, five engines, characters": f"{FIVE} --unit char",
    "ASR, five engines, words": ASR,
}


def figures(limit: int | None = None) -> dict[str, dict[str, float]]:
    """Error rates in percent, of words or characters, by row."""
    found = {}
    for row, command in ROWS.items():
        rates = _printed(command, limit)
        names = list(rates)
        engines = names[: names.index("majority vote")]
        found[row] = {
            "best engine": min(rates[name] for name in engines),
            "majority vote": rates["majority vote"],
            "galloon": rates["galloon"],
            "best token per slot": rates[[name for name in names if name.startswith("best token")][-1]],
        }
    return found


def page(limit: int | None = None) -> str:
    """Each row's error rates, and the commands that make them."""
    found = figures(limit)
    heads = ("sample", *next(iter(found.values())))
    lines = [
        (row, *(f"**{rate:.2f}**" if name == "galloon" else f"{rate:.2f}" for name, rate in rates.items()))
        for row, rates in found.items()
    ]
    commands = "\n".join(ROWS.values())
    return f"{table(heads, lines)}\n\nEach row is one command:\n\n```sh\n{commands}\n```"


def _printed(command: str, limit: int | None) -> dict[str, float]:
    """The rates by name, as the command's table shows them."""
    shorter = [] if limit is None else ["--limit", str(limit)]
    typed = [sys.executable, "-m", *shlex.split(command), *shorter]
    wide = {**os.environ, "COLUMNS": "160"}
    done = subprocess.run(typed, cwd=ROOT, env=wide, check=True, stdout=subprocess.PIPE, text=True)
    column = 2 if "--unit char" in command else 1
    lines = (line.strip("│").split("│") for line in done.stdout.splitlines() if line.startswith("│"))
    return {cells[0].strip(): float(cells[column]) for cells in lines}


main = page_command("readme", page, target="README.md")


if __name__ == "__main__":
    main()
