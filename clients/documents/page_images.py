"""The images that pages were read from: `PageImages` finds each page's, `open_image` opens one.

A page's image has the stem of its document, as `page-001.png` of `page-001.tsv`. In a document of several pages it
is the file that an engine names, has the page's number after the stem, as pdftoppm writes (`book-07.png`), or is a
frame of one TIFF.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from galloon.clients.api.errors import FormatError, WrongUsage

if TYPE_CHECKING:
    from PIL.Image import Image

ENDINGS = frozenset(
    {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif", ".jp2", ".ppm", ".pgm", ".pbm"}
)
_NUMBERED = re.compile(r"(.+?)[-_. ]?0*(\d{1,9})")


@dataclass(frozen=True, slots=True)
class PageImage:
    """A file, and which of its images."""

    path: Path
    frame: int = 0


class PageImages:
    """The images of a folder, or one file."""

    def __init__(self, place: Path) -> None:
        found = sorted(place.iterdir()) if place.is_dir() else [place]
        images = [path for path in found if path.suffix.lower() in ENDINGS and path.is_file()]
        if not images:
            raise WrongUsage(f"--images {place}: no images in it (such as .png, .jpg, .tif)")
        self._only = None if place.is_dir() else place
        self._by_stem = {path.stem: path for path in images}

    def of_page(self, stem: str, number: int, pages: int, name: str) -> PageImage | None:
        """The image of a page of a document; `number` counts from 1, `name` is what an engine calls the image."""
        file = self._only or self._by_stem.get(stem)
        if file is not None and pages == 1:
            return PageImage(file)
        if (named := self._by_stem.get(Path(name.replace("\\", "/")).stem)) is not None:
            return PageImage(named)
        for other, path in self._by_stem.items():
            match = _NUMBERED.fullmatch(other)
            if match and match[1] == stem and int(match[2]) == number:
                return PageImage(path)
        return None if file is None else PageImage(file, number - 1)


@contextmanager
def open_image(place: PageImage) -> Iterator["Image"]:
    """The image, opened; whatever is wrong with it is a `FormatError`."""
    try:
        from PIL import Image
    except ImportError as problem:
        raise WrongUsage("page images need Pillow: pip install 'galloon[pdf]'") from problem
    try:
        with Image.open(place.path) as image:
            image.seek(place.frame)
            yield image
    except EOFError as problem:
        raise FormatError(
            str(place.path), None, f"it has no image {place.frame + 1}", "give an image a page"
        ) from problem
    except (OSError, ValueError, Image.DecompressionBombError) as problem:
        raise FormatError(str(place.path), None, f"the image cannot be read: {problem}") from problem
