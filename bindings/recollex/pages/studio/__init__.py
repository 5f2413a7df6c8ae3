"""The studio: a page to look into the memories of agents, over the HTTP API.

The page reads `/api/...` with the visitor's token, and writes nothing. It loads its own files
alone; a content security policy forbids all else, inline scripts included. Texts of memories are
inserted as text. Its graph is the page of `recollex graph`, in a frame.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from recollex.pages.graph_page import frame_page

_FOLDER = Path(__file__).parent / "page"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
_SELF = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FRAME = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
FRAME = "/studio/graph"
"""The path of the graph's frame, whose scripts are in its page."""


def paths() -> Mapping[str, Path]:
    """Return the file of each path of the page.

    >>> paths()["/studio"].name
    'studio.html'
    """
    files = (path for path in _FOLDER.rglob("*") if path.suffix in _TYPES)
    found = {f"/studio/{path.relative_to(_FOLDER).as_posix()}": path for path in files}
    found["/studio"] = found.pop("/studio/studio.html")
    del found["/studio/frame.js"]  # a part of the frame's page
    return MappingProxyType(found)


@cache
def studio_file(path: str) -> tuple[Mapping[str, str], bytes]:
    """Return the headers and the content of a path: one of `paths`, or `FRAME`.

    >>> headers, page = studio_file("/studio")
    >>> page.startswith(b"<!doctype html>")
    True
    """
    if path == FRAME:
        page = frame_page((_FOLDER / "frame.js").read_text("utf-8"))
        return _headers(".html", _FRAME), page.encode()
    file = paths()[path]
    return _headers(file.suffix, _SELF), file.read_bytes()


def _headers(suffix: str, policy: str) -> Mapping[str, str]:
    return MappingProxyType(
        {
            "content-type": _TYPES[suffix],
            "content-security-policy": policy,
            "referrer-policy": "no-referrer",
        }
    )
