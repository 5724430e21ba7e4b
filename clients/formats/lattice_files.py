"""The lattice that a file holds, whichever lattice format it is in: `read_lattice`."""

from pathlib import Path

from galloon.clients.formats.limits import DEFAULT_LIMITS, ReadLimits
from galloon.clients.formats.sample import sample_of
from galloon.clients.formats.slf import parse_slf, sniff_slf
from galloon.clients.formats.source import open_source
from galloon.learners.observation import Lattice


def read_lattice(path: str | Path, limits: ReadLimits = DEFAULT_LIMITS) -> Lattice:
    """The one lattice of a file, recognised by its content."""
    source = open_source(path, limits)
    if sniff_slf(sample_of(source)):  # by far the most common, and read often: asked first
        return parse_slf(source)[0]
    from galloon.clients.formats.registry import detect  # the registry knows us, through utterances

    found = detect(source).read(source)
    lattices = [output.lattice for output in found.outputs.values() if output.lattice is not None]
    if len(lattices) != 1:
        raise source.error(None, f"{len(lattices)} lattices are in the file, one is needed")
    return lattices[0]
