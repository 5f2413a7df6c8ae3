"""The page of the API for a browser: RapiDoc draws `/openapi.json`, and its forms call endpoints.

It shows what is checked, and loads nothing from elsewhere; a content security policy forbids that,
and forbids other pages to frame it.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
_FILES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "/docs": (
        "page.html",
        {
            "content-type": "text/html; charset=utf-8",
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; "
            "script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'",
        },
    ),
    "/docs/rapidoc-min.js": (
        "vendor/rapidoc-min.js.gz",
        {"content-type": "text/javascript; charset=utf-8", "content-encoding": "gzip"},
    ),
}
PATHS = tuple(_FILES)


@cache
def api_file(path: str) -> tuple[Mapping[str, str], bytes]:
    """Return the headers and the content of one of `PATHS`.

    >>> headers, page = api_file("/docs")
    >>> page.startswith(b"<!doctype html>")
    True
    """
    name, headers = _FILES[path]
    return headers, (_FOLDER / name).read_bytes()
