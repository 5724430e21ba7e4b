"""Confusion networks in SRILM's form, one a line of the document: `write_confusion_networks`.

Each position has the word that was chosen and what else was on offer, with their probabilities; `*DELETE*` is
nothing.
"""

from galloon.clients.documents.combined import CombinedDocument, CombinedLine, CombinedWord

_NOTHING = "*DELETE*"


def write_confusion_networks(document: CombinedDocument) -> str:
    """A network a line, named by document, page and line."""
    return "".join(
        _network(line, f"{document.stem}/{number}/{line.id}")
        for number, page in enumerate(document.pages, 1)
        for line in page.lines
        if line.words
    )


def _network(line: CombinedLine, name: str) -> str:
    rows = [f"name {'_'.join(name.split())}", f"numaligns {len(line.words)}", "posterior 1"]
    rows += [f"align {place} {_position(word)}" for place, word in enumerate(line.words)]
    return "\n".join(rows) + "\n"


def _position(word: CombinedWord) -> str:
    offers = [(word.text, word.confidence), *word.alternatives]
    return " ".join(f"{text or _NOTHING} {min(1.0, max(0.0, chance)):.6g}" for text, chance in offers)
