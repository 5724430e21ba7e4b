"""Everything that is known of a combined document as JSON: `write_json`."""

import json
from dataclasses import asdict
from typing import Any

from galloon.clients.documents.combined import CombinedDocument


def write_json(document: CombinedDocument) -> str:
    """One object; what is not known is left out."""
    told = {
        "document": document.stem,
        "pages": [
            {
                **_known({"name": page.name, "width": page.width, "height": page.height}),
                "lines": [
                    {"text": line.text, "confidence": line.confidence, **_known(asdict(line))}
                    for line in page.lines
                ],
            }
            for page in document.pages
        ],
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, value in fields.items():
        if value in (None, "", ()):
            continue
        many = isinstance(value, list | tuple) and value and isinstance(value[0], dict)
        found[name] = [_known(entry) for entry in value] if many else value
    return found
