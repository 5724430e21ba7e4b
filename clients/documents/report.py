"""What could not be matched, in one line a document: `told_of`."""

from galloon.clients.documents.matching import MatchedDocument
from galloon.learners.documents.matched import MatchedPage

_POOR = 0.5  # agreement below which a reader should look at the page
_SHOWN = 40  # letters of a line that was left out


def told_of(matched: MatchedDocument, engines: tuple[str, ...]) -> str:
    """What a reader should know of the document, or nothing."""
    remarks = []
    for number, page in enumerate(matched.pages, 1):
        found = _of_page(page)
        if found:
            where = f"page {number}: " if len(matched.pages) > 1 else ""
            remarks.append(where + "; ".join(found))
    missing = [engine for engine in engines if engine not in matched.source.files]
    if missing:
        remarks.insert(0, f"no file of {', '.join(missing)}")
    return f"{matched.source.stem}: {'; '.join(remarks)}" if remarks else ""


def _of_page(page: MatchedPage) -> list[str]:
    found = [f"{engine} is absent ({why})" for engine, why in page.absent.items()]
    found += page.notes
    for engine, texts in page.left_out.items():
        shown = texts[0] if len(texts[0]) <= _SHOWN else texts[0][:_SHOWN] + "..."
        count = "1 line" if len(texts) == 1 else f"{len(texts)} lines"
        found.append(f"{count} of {engine} left out as invented ({shown!r})")
    if not page.lines:
        found.append("no text")
    elif page.confidence < _POOR:
        found.append(f"engines agree on {100 * page.confidence:.0f} % of the letters only")
    return found
