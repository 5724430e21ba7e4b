"""The static files of the page, read once: `load_files` gives what to answer at each path.

Only files that were there at the start are served, by name; no path of a request ever reaches the disk.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib.resources import files

from aiohttp import web

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def load_files() -> Mapping[str, Callable[[web.Request], web.Response]]:
    found = {}
    for entry in files("galloon.daemon.http.page.static").iterdir():
        kind = TYPES.get(entry.name[entry.name.rfind(".") :])
        if kind is not None:
            path = "/" if entry.name == "index.html" else f"/static/{entry.name}"
            found[path] = _answer(entry.read_bytes(), kind)
    return found


def _answer(body: bytes, kind: str) -> Callable[[web.Request], web.Response]:
    """Browsers ask each time, and are told in a few bytes that nothing changed."""
    tag = f'"{sha256(body).hexdigest()[:20]}"'
    headers = {"Cache-Control": "no-cache", "ETag": tag}

    def answer(request: web.Request) -> web.Response:
        if request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)

    return answer
