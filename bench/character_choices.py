"""What Tesseract's second thoughts are worth: lines rendered, degraded, and read with `lstm_choice_mode=2`.

True lines of the bundled sample are set in the fonts that are there, blurred, made grainy and small, and read by
Tesseract with its English and its German model (Debian: tesseract-ocr, tesseract-ocr-deu, fonts-dejavu). Both
readings are combined by characters, with the choices and without, from several starting points of the file.
`python -m bench.character_choices [--keep FOLDER] [--lines N]`; a folder that is there is not read again.
"""

import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import click
import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from bench.markdown import table
from bench.progressive import learned_scores
from galloon.clients.formats.registry import format_named
from galloon.clients.formats.source import open_source
from galloon.clients.replay.baselines import baselines
from galloon.clients.replay.material import Input, Material, read_material, same_experts
from galloon.clients.samples import ocr_sample
from galloon.clients.scores.systems import SystemScores, difference
from galloon.learners.evaluation.error_rate import char_errors, total
from galloon.learners.observation import Utterance
from galloon.learners.text.normalizers import normalizer
from galloon.learners.unit import CHAR

LINES = 450  # of some fifty one model sees none, or two
STARTS = 4
LANGUAGES = ("eng", "deu")
FONTS = Path("/usr/share/fonts/truetype/dejavu")
FACES = ("DejaVuSerif.ttf", "DejaVuSans.ttf", "DejaVuSerifCondensed-Italic.ttf", "DejaVuSansCondensed.ttf")


def true_lines(count: int) -> list[str]:
    """Different lines of the sample, spread over the file."""
    texts = list(dict.fromkeys(entry.target or "" for entry in read_material(ocr_sample()).utterances))
    return [texts[place] for place in np.linspace(0, len(texts) - 1, min(count, len(texts))).astype(int)]


def degraded(text: str, number: int) -> Image.Image:
    """The line as a bad scan: a face and a size by its number, blurred, grainy, pale."""
    draws = np.random.default_rng(number)
    font = ImageFont.truetype(str(FONTS / FACES[number % len(FACES)]), int(draws.integers(17, 22)))
    left, top, right, bottom = font.getbbox(text)
    page = Image.new("L", (int(right - left) + 40, int(bottom - top) + 40), 255)
    ImageDraw.Draw(page).text((20 - left, 20 - top), text, font=font, fill=int(draws.integers(0, 90)))
    page = page.rotate(float(draws.uniform(-0.4, 0.4)), fillcolor=255, resample=Image.Resampling.BICUBIC)
    page = page.filter(ImageFilter.GaussianBlur(float(draws.uniform(0.6, 1.3))))
    grain = draws.normal(0.0, float(draws.uniform(8.0, 28.0)), (page.height, page.width))
    return Image.fromarray(np.clip(np.asarray(page, dtype=np.float64) + grain, 0, 255).astype(np.uint8))


def read_lines(lines: list[str], folder: Path) -> None:
    """An hOCR file a language: a page a line, by one process of Tesseract."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(lines):
        degraded(text, number).save(folder / f"{number:04}.png")
    listing = folder / "lines.txt"
    listing.write_text("".join(f"{folder / f'{number:04}.png'}\n" for number in range(len(lines))))
    for language in LANGUAGES:
        subprocess.run(
            [
                *("tesseract", str(listing), str(folder / language), "-l", language, "--psm", "7"),
                *("--dpi", "120", "-c", "lstm_choice_mode=2", "hocr"),
            ],
            check=True,
            capture_output=True,
            env={"OMP_THREAD_LIMIT": "1", "PATH": "/usr/bin:/bin"},
        )


def material_of(lines: list[str], folder: Path) -> Material:
    """What both models read of each line; lines in which one of them saw no line, or two, are left out."""
    found: dict[int, list] = {number: [] for number in range(len(lines))}
    for language in LANGUAGES:
        read = format_named("hocr").read(open_source(folder / f"{language}.hocr"))
        for name, output in read.outputs.items():
            page = int(name.split("_")[1])  # as Tesseract names lines: line_PAGE_LINE
            found[page - 1].append(replace(output, name=language))
    utterances = [
        Utterance(str(number), tuple(said), text)
        for number, text in enumerate(lines)
        if len(said := found[number]) == len(LANGUAGES)
    ]
    return Material(*same_experts(utterances, LANGUAGES))


def turned(material: Material, start: int) -> Material:
    cut = start * len(material.utterances) // STARTS
    return replace(material, utterances=material.utterances[cut:] + material.utterances[:cut])


def scores(material: Material) -> tuple[SystemScores, float]:
    """From the beginning, and the mean error rate of characters over all starts."""
    played = [learned_scores(turned(material, start), unit="char") for start in range(STARTS)]
    return played[0], float(np.mean([system.cer for system in played]))


def figures(folder: Path, count: int) -> str:
    lines = true_lines(count)
    if not (folder / f"{LANGUAGES[-1]}.hocr").exists():
        read_lines(lines, folder)
    material = material_of(lines, folder)
    plain = replace(material, utterances=same_experts(material.utterances, LANGUAGES, Input.BEST)[0])
    rule = normalizer("basic")
    begun = process_time()
    rows = []
    heard, without = scores(material), scores(plain)
    paired = difference(heard[0], without[0], CHAR)
    oracles = [
        total(
            [
                char_errors(rule(entry.target or ""), getattr(found, oracle) or "")
                for entry, found in zip(
                    material.utterances, baselines(material.utterances, CHAR, rule, seed=0), strict=True
                )
            ]
        ).rate
        for oracle in ("oracle", "oracle_with_alternatives")
    ]
    for name in LANGUAGES:
        said = [next(o.text for o in entry.outputs if o.name == name) for entry in material.utterances]
        errors = [
            char_errors(rule(entry.target or ""), rule(text))
            for entry, text in zip(material.utterances, said, strict=True)
        ]
        rows.append((f"Tesseract, {name}", f"{total(errors).rate:.2f}", "", "", ""))
    rows.append(("without choices", f"{without[0].cer:.2f}", "", f"{without[1]:.2f}", f"{oracles[0]:.2f}"))
    interval = f"{paired.low:+.2f} to {paired.high:+.2f}"
    rows.append(("with choices", f"{heard[0].cer:.2f}", interval, f"{heard[1]:.2f}", f"{oracles[1]:.2f}"))
    heads = ("input", "CER", "95 % of the difference", f"mean of {STARTS} starts", "best character per slot")
    used = process_time() - begun
    return f"{table(heads, rows)}\n\n{len(material.utterances)} lines; {used:.0f} s of processor time"


@click.command()
@click.option("--keep", type=click.Path(path_type=Path), help="Folder for images and readings.")
@click.option("--lines", "count", default=LINES, show_default=True)
def main(keep: Path | None, count: int) -> None:
    """Render, degrade, read, combine."""
    if keep is not None:
        print(figures(keep, count))
        return
    with TemporaryDirectory() as folder:
        print(figures(Path(folder), count))


if __name__ == "__main__":
    main()
