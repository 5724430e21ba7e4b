"""Real engine outputs with their true texts, bundled so that everything can be tried without other files.

`ocr_sample()` is 1,777 lines of text seen by seven OCR engines, `asr_sample()` 396 utterances heard by five
recognisers, twenty of them with word lattices of two recognisers each. Both are utterance files (gzipped JSON
lines) that `galloon.clients.formats.utterances.read_utterances` reads as they are. The texts (Moby-Dick,
State of the Union addresses up to 1905, King James Bible) are in the public domain.
"""

from importlib.resources import files
from pathlib import Path


def ocr_sample() -> Path:
    """Text lines rendered and degraded in nine ways, read by seven engines; times are pixels."""
    return _bundled("ocr.jsonl.gz")


def asr_sample() -> Path:
    """Synthetic speech in eighteen voices and noises, heard by five recognisers; times are seconds."""
    return _bundled("asr.jsonl.gz")


def _bundled(name: str) -> Path:
    # The package is always installed as files (never imported from a zip), because the readers need paths:
    # an utterance file names its lattices relative to its own folder.
    path = Path(str(files(__package__).joinpath(name)))
    if not path.exists():
        raise FileNotFoundError(f"the bundled sample {path} is missing: reinstall galloon")
    return path
