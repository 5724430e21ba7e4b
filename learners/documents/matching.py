"""Pages or recordings of several engines in, matched lines out: `match`."""

from collections.abc import Mapping

from galloon.learners.documents.document import Page
from galloon.learners.documents.matched import MatchedPage, Unmatchable
from galloon.learners.documents.page_matching import match_page
from galloon.learners.documents.recording_matching import match_recording


def match(pages: Mapping[str, Page], order_from: str | None = None) -> MatchedPage:
    """Bring together what engines made of the same page or recording.

    `order_from` names the engine whose reading order is taken; else the one that most speaks for. Raises
    `Unmatchable` where an engine speaks of another document.
    """
    heard = next((engine for engine, page in pages.items() if page.timed and page.word_count), None)
    seen = next((engine for engine, page in pages.items() if page.has_boxes), None)
    if heard is not None and seen is not None:
        raise Unmatchable(heard, f"it is of a recording, and {seen} is of a page")
    if heard is not None or any(page.timed for page in pages.values()):
        return match_recording(pages)
    return match_page(pages, order_from)
