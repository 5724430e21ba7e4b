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
    abbyy,
    alto,
    assemblyai,
    aws_textract,
    aws_transcribe,
    azure_read,
    azure_speech,
    confusion_network,
    ctm,
    deepgram,
    docling,
    easyocr,
    elevenlabs,
    fst_text,
    google_document_ai,
    google_speech,
    google_vision,
    hocr,
    kaldi_lattice,
    markdown,
    mineru,
    mistral_ocr,
    nbest,
    nemo,
    olmocr,
    openfst_binary,
    paddleocr,
    page_xml,
    plain_text,
    seglst,
    slf,
    speechmatics,
    stm,
    subtitles,
    surya,
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
    Format(abbyy.NAME, "ABBYY FineReader XML", ("*.xml",), abbyy.sniff_abbyy, abbyy.read_abbyy),
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
        google_vision.NAME,
        "Google Cloud Vision JSON",
        ("*.json",),
        google_vision.sniff_google_vision,
        google_vision.read_google_vision,
    ),
    Format(
        google_document_ai.NAME,
        "Google Document AI JSON",
        ("*.json",),
        google_document_ai.sniff_document_ai,
        google_document_ai.read_document_ai,
    ),
    Format(
        aws_textract.NAME,
        "Amazon Textract JSON",
        ("*.json",),
        aws_textract.sniff_aws_textract,
        aws_textract.read_aws_textract,
    ),
    Format(
        azure_read.NAME,
        "Azure Read, Document Intelligence and Image Analysis JSON",
        ("*.json",),
        azure_read.sniff_azure_read,
        azure_read.read_azure_read,
    ),
    Format(
        mistral_ocr.NAME,
        "Mistral OCR JSON",
        ("*.json",),
        mistral_ocr.sniff_mistral_ocr,
        mistral_ocr.read_mistral_ocr,
    ),
    Format(docling.NAME, "Docling JSON", ("*.json",), docling.sniff_docling, docling.read_docling),
    Format(olmocr.NAME, "olmOCR, JSON lines", ("*.jsonl",), olmocr.sniff_olmocr, olmocr.read_olmocr),
    Format(surya.NAME, "Surya results.json", ("*.json",), surya.sniff_surya, surya.read_surya),
    Format(
        paddleocr.NAME, "PaddleOCR JSON", ("*.json",), paddleocr.sniff_paddleocr, paddleocr.read_paddleocr
    ),
    Format(
        easyocr.NAME, "EasyOCR and RapidOCR JSON", ("*.json",), easyocr.sniff_easyocr, easyocr.read_easyocr
    ),
    Format(
        mineru.NAME,
        "MinerU middle.json and content_list.json",
        ("*.json",),
        mineru.sniff_mineru,
        mineru.read_mineru,
    ),
    Format(deepgram.NAME, "Deepgram JSON", ("*.json",), deepgram.sniff_deepgram, deepgram.read_deepgram),
    Format(
        assemblyai.NAME,
        "AssemblyAI JSON",
        ("*.json",),
        assemblyai.sniff_assemblyai,
        assemblyai.read_assemblyai,
    ),
    Format(
        elevenlabs.NAME,
        "ElevenLabs Scribe JSON",
        ("*.json",),
        elevenlabs.sniff_elevenlabs,
        elevenlabs.read_elevenlabs,
    ),
    Format(
        speechmatics.NAME,
        "Speechmatics json-v2",
        ("*.json",),
        speechmatics.sniff_speechmatics,
        speechmatics.read_speechmatics,
    ),
    Format(seglst.NAME, "SegLST JSON", ("*.json",), seglst.sniff_seglst, seglst.read_seglst),
    Format(
        nemo.NAME,
        "NeMo manifests with pred_text, JSON lines",
        ("*.json", "*.jsonl"),
        nemo.sniff_nemo,
        nemo.read_nemo,
    ),
    Format(
        confusion_network.NAME,
        "confusion networks of SRILM and Kaldi",
        ("*.mesh", "*.sau"),
        confusion_network.sniff_confusion_networks,
        confusion_network.read_confusion_networks,
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
    Format(stm.NAME, "STM, segments with speakers", ("*.stm",), stm.sniff_stm, stm.read_stm),
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
    Format(markdown.NAME, "Markdown", ("*.md",), markdown.sniff_markdown, markdown.read_markdown),
    Format(
        plain_text.NAME,
        "plain text, a line a line",
        ("*.txt",),
        plain_text.sniff_plain_text,
        plain_text.read_plain_text,
    ),
)


# Formats of single lines with ids, alternatives or lattices; all others hold pages or recordings.
_LINES = (utterances, nbest, nemo, confusion_network, slf, kaldi_lattice, fst_text, openfst_binary)
DOCUMENT_FORMATS = frozenset(entry.name for entry in FORMATS) - {module.NAME for module in _LINES}

# Recognisers of speech do not agree in capitals and marks, which nobody has heard.
_SPEECH = (
    *(assemblyai, aws_transcribe, azure_speech, ctm, deepgram, elevenlabs, google_speech, seglst),
    *(speechmatics, stm, vosk, whisper),
)
SPEECH_FORMATS = {module.NAME for module in _SPEECH} | {subtitles.SRT, subtitles.VTT}


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
