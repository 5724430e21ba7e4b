"""Plain text, a line a line, with a form feed between pages: `write_text`."""

from galloon.clients.documents.combined import CombinedDocument


def write_text(document: CombinedDocument) -> str:
    """The document's text."""
    return "\f".join("".join(f"{line.text}\n" for line in page.lines) for page in document.pages)
