"""CTM, the time-marked words of NIST's scoring tools: `write_ctm`."""

from galloon.clients.documents.combined import CombinedDocument


def write_ctm(document: CombinedDocument) -> str:
    """A row per word; one without times of its own has those of its line."""
    rows = []
    for page in document.pages:
        name = "_".join((page.name or document.stem).split()) or "_"
        for line in page.lines:
            for word in line.words:
                start = word.start if word.start is not None else line.start or 0.0
                end = word.end if word.end is not None else line.end or start
                channel = "_".join(line.channel.split()) or "1"
                length = max(0.0, end - start)
                rows.append(f"{name} {channel} {start:.3f} {length:.3f} {word.text} {word.confidence:.4f}\n")
    return "".join(rows)
