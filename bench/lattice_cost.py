"""What a lattice costs, by processor time: from a file to lattice, wire, and choice.

`python -m bench.lattice_cost FOLDER` of SLF files; medians in milliseconds over the files. The choice is that of a
learner with one engine. `arcs` is how many the files have, `kept` how many are probable enough to be used.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import TypeVar

import click
import numpy as np

from bench.markdown import table
from galloon.clients.formats.slf import read_slf
from galloon.clients.formats.source import open_source
from galloon.codec.utterance import decode_utterance, utterance_to_wire
from galloon.learners.alignment.graph import graph_of
from galloon.learners.alignment.settings import DEFAULT_SETTINGS
from galloon.learners.combiners.build import build
from galloon.learners.combiners.spec import CombinerSpec
from galloon.learners.observation import Utterance
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import WORD
from galloon.v1 import utterance_pb2

Value = TypeVar("Value")
ENGINE, RULE = "engine", "basic-speech"


class Stopwatch:
    """Milliseconds of processor time by what was done."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = {}

    def time(self, what: str, do: Callable[[], Value]) -> Value:
        begun = process_time()
        made = do()
        self.spent.setdefault(what, []).append(1000 * (process_time() - begun))
        return made


def costs(files: list[Path]) -> list[tuple[str, str]]:
    """Each file once to warm up, then three times."""
    combiner = build(CombinerSpec((ENGINE,), normalizer=RULE))
    arcs, kept = [], []
    for measured in (False, True):
        watch = Stopwatch()
        for number, file in enumerate(files * (3 if measured else 1)):
            read = watch.time("read the file", lambda file=file: read_slf(open_source(file)))
            output = replace(next(iter(read.outputs.values())), name=ENGINE)
            asked = Utterance(str(number), (output,))
            data = watch.time("to the wire", lambda asked=asked: utterance_to_wire(asked).SerializeToString())
            heard = watch.time(
                "from the wire",
                lambda data=data: decode_utterance(utterance_pb2.Utterance.FromString(data), (ENGINE,), None),
            )
            watch.time("choose", lambda heard=heard, number=number: combiner.choose(heard, number))
            arcs.append(0 if output.lattice is None else len(output.lattice.words))
            kept.append(graph_of(output, WORD, normalizer(RULE), DEFAULT_SETTINGS).sources.size)
    rows = [(what, f"{np.median(spent):.2f}") for what, spent in watch.spent.items()]
    whole = np.median(np.sum(list(watch.spent.values()), axis=0))
    return [
        *rows,
        ("all", f"{whole:.2f}"),
        ("arcs", f"{np.mean(arcs):.0f}"),
        ("kept", f"{np.mean(kept):.0f}"),
    ]


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--files", "most", default=60, show_default=True)
def main(folder: Path, most: int) -> None:
    """Print the table."""
    print(table(("a lattice", "ms"), costs(sorted(folder.glob("*.slf*"))[:most])))


if __name__ == "__main__":
    main()
