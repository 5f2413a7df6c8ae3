"""The studio: a page to look into the memories of agents, over the HTTP API.

The page reads `/api/...` with the visitor's token, and writes nothing. It loads its own files
alone; a content security policy forbids all else, inline scripts included. Texts of memories are
inserted as text. Its graph is in a frame, so that its names and styles are its own.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

_FOLDER = Path(__file__).parent / "page"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
)
FRAME = "/studio/graph/frame.html"
"""The path of the graph's frame, which the page alone may show."""


@cache
def paths() -> Mapping[str, Path]:
    """Return the file of each path of the page.

    >>> paths()["/studio"].name
    'studio.html'
    """
    files = (path for path in _FOLDER.rglob("*") if path.suffix in _TYPES)
    found = {f"/studio/{path.relative_to(_FOLDER).as_posix()}": path for path in files}
    found["/studio"] = found.pop("/studio/studio.html")
    return MappingProxyType(found)


@cache
def studio_file(path: str) -> tuple[Mapping[str, str], bytes]:
    """Return the headers and the content of one of `paths`.

    >>> headers, page = studio_file("/studio")
    >>> page.startswith(b"<!doctype html>")
    True
    """
    file = paths()[path]
    headers = {
        "content-type": _TYPES[file.suffix],
        "content-security-policy": _POLICY + ("'self'" if path == FRAME else "'none'"),
        "referrer-policy": "no-referrer",
    }
    return headers, file.read_bytes()
