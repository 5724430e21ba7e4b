"""Manifests of NVIDIA NeMo with what was recognised, JSON lines: `read_nemo`.

Each line is an utterance: `audio_filepath`, `duration`, `pred_text`, and `offset` where it is a part of a
recording. A manifest without `pred_text` holds true texts, not an engine's output, and is refused.
"""

import re
from pathlib import PurePosixPath

from galloon.clients.formats.result import Lines, Place, ReadResult
from galloon.clients.formats.safe_json import load_json_sequence
from galloon.clients.formats.sample import Sample
from galloon.clients.formats.source import Source
from galloon.clients.formats.words import split_text
from galloon.learners.observation import ExpertOutput

NAME = "nemo"


def sniff_nemo(sample: Sample) -> bool:
    return sample.is_json and bool(
        re.search(r'"audio_filepath"\s*:', sample.text) and re.search(r'"(pred_text|text)"\s*:', sample.text)
    )


def read_nemo(source: Source) -> ReadResult:
    """Each utterance under the stem of its recording."""
    lines = Lines(source, timed=True)
    for entry in load_json_sequence(source):
        if "pred_text" not in entry:
            raise source.error(
                None,
                f"{entry.path}: no pred_text, so no engine speaks here",
                "use the manifest that transcribing wrote",
            )
        file = entry["audio_filepath"].text() or ""
        words = split_text(entry["pred_text"].text() or "", source)
        start, length = entry["offset"].number(), entry["duration"].number()
        end = None if start is None or length is None else start + length
        name = PurePosixPath(file.replace("\\", "/")).stem or str(len(lines))
        place = Place(start=start, end=end, speaker=entry["speaker"].name(""))
        lines.add(name, ExpertOutput(source.stem, words), place=place)
    return lines.result(NAME)
