"""The table of formats: `FORMATS`, `format_named`, `detect`, and `read_file` which uses them.

A format is a name, the patterns its files are usually named by, a function that recognises its own by their
first bytes, and a reader. The order matters: the first that recognises a file reads it, plain text comes
last.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from galloon.clients.api.errors import FormatError
from galloon.clients.formats import (
    alto,
    aws_transcribe,
    azure_speech,
    ctm,
    fst_text,
    google_speech,
    hocr,
    kaldi_lattice,
    nbest,
    openfst_binary,
    page_xml,
    plain_text,
    slf,
    subtitles,
    tesseract_tsv,
    utterances,
    vosk,
    whisper,
)
from galloon.clients.formats.encoding import check_encoding, decode
from galloon.clients.formats.limits import DEFAULT_LIMITS, ReadLimits
from galloon.clients.formats.result import ReadResult
from galloon.clients.formats.sample import Sample, sample_of, sample_of_file
from galloon.clients.formats.source import Source, open_source


@dataclass(frozen=True, slots=True)
class Format:
    """One row of the table."""

    name: str
    title: str
    patterns: tuple[str, ...]
    sniff: Callable[[Sample], bool]
    read: Callable[[Source], ReadResult]


FORMATS: tuple[Format, ...] = (
    Format(
        openfst_binary.NAME,
        "OpenFst binary lattice",
        ("*.fst",),
        openfst_binary.sniff_openfst_binary,
        openfst_binary.read_openfst_binary,
    ),
    Format(
        utterances.NAME,
        "galloon's utterance file, JSON lines",
        ("*.jsonl", "*.jsonl.gz"),
        utterances.sniff_utterances,
        utterances.read_utterance_outputs,
    ),
    Format(hocr.NAME, "hOCR", ("*.hocr", "*.html"), hocr.sniff_hocr, hocr.read_hocr),
    Format(alto.NAME, "ALTO XML", ("*.xml", "*.alto"), alto.sniff_alto, alto.read_alto),
    Format(page_xml.NAME, "PAGE XML", ("*.xml", "*.page"), page_xml.sniff_page_xml, page_xml.read_page_xml),
    Format(
        tesseract_tsv.NAME,
        "Tesseract's TSV",
        ("*.tsv",),
        tesseract_tsv.sniff_tesseract_tsv,
        tesseract_tsv.read_tesseract_tsv,
    ),
    Format(slf.NAME, "HTK lattice (SLF)", ("*.slf", "*.lat", "*.slf.gz"), slf.sniff_slf, slf.read_slf),
    Format(
        kaldi_lattice.NAME,
        "Kaldi lattices as text (ark,t)",
        ("*.ark", "*.lats"),
        kaldi_lattice.sniff_kaldi_lattices,
        kaldi_lattice.read_kaldi_lattices,
    ),
    Format(
        whisper.NAME,
        "Whisper, faster-whisper, WhisperX JSON",
        ("*.json",),
        whisper.sniff_whisper,
        whisper.read_whisper,
    ),
    Format(
        azure_speech.NAME,
        "Azure speech JSON",
        ("*.json",),
        azure_speech.sniff_azure_speech,
        azure_speech.read_azure_speech,
    ),
    Format(
        aws_transcribe.NAME,
        "Amazon Transcribe JSON",
        ("*.json",),
        aws_transcribe.sniff_aws_transcribe,
        aws_transcribe.read_aws_transcribe,
    ),
    Format(
        google_speech.NAME,
        "Google Speech-to-Text JSON",
        ("*.json",),
        google_speech.sniff_google_speech,
        google_speech.read_google_speech,
    ),
    Format(vosk.NAME, "Vosk JSON", ("*.json",), vosk.sniff_vosk, vosk.read_vosk),
    Format(subtitles.VTT, "WebVTT subtitles", ("*.vtt",), subtitles.sniff_vtt, subtitles.read_vtt),
    Format(subtitles.SRT, "SubRip subtitles", ("*.srt",), subtitles.sniff_srt, subtitles.read_srt),
    Format(ctm.NAME, "CTM, time-marked words", ("*.ctm",), ctm.sniff_ctm, ctm.read_ctm),
    Format(
        fst_text.NAME,
        "OpenFst lattice as text",
        ("*.fst.txt", "*.txt"),
        fst_text.sniff_openfst_text,
        fst_text.read_openfst_text,
    ),
    Format(
        nbest.NAME,
        "n-best list, a scored text a line",
        ("*.nbest", "*.txt"),
        nbest.sniff_nbest,
        nbest.read_nbest,
    ),
    Format(
        plain_text.NAME,
        "plain text, a line a line",
        ("*.txt",),
        plain_text.sniff_plain_text,
        plain_text.read_plain_text,
    ),
)


# Formats of single lines with ids, alternatives or lattices; all others hold pages or recordings.
_LINES = (utterances, nbest, slf, kaldi_lattice, fst_text, openfst_binary)
DOCUMENT_FORMATS = frozenset(entry.name for entry in FORMATS) - {module.NAME for module in _LINES}


def format_named(name: str) -> Format:
    for entry in FORMATS:
        if entry.name == name:
            return entry
    raise KeyError(f"no format is called {name!r}; there are {', '.join(entry.name for entry in FORMATS)}")


def format_of(sample: Sample) -> Format | None:
    """The first format that recognises the beginning of a file."""
    return next((entry for entry in FORMATS if entry.sniff(sample)), None)


def detect(source: Source) -> Format:
    """The first format that recognises the file by its content."""
    sample = sample_of(source)
    found = format_of(sample)
    if found is not None:
        return found
    if b"\0" not in sample.data:
        decode(source.data, source.name)
    check_encoding(sample.data, source.name)
    raise FormatError(source.name, None, "no known format", "name it with --from if you know it")


def detect_file(path: Path) -> str | None:
    """The name of a file's format, by its beginning alone; None if no format knows it."""
    sample = sample_of_file(path)
    return next((entry.name for entry in FORMATS if entry.sniff(sample)), None)


def read_file(
    path: str | Path,
    format_name: str | None = None,
    *,
    limits: ReadLimits = DEFAULT_LIMITS,
    symbols: Mapping[str, str] | None = None,
) -> ReadResult:
    """Read a file of engine outputs in the named format, or the one that its content shows."""
    source = open_source(path, limits)
    source.symbols = symbols
    chosen = detect(source) if format_name is None else format_named(format_name)
    return chosen.read(source)
