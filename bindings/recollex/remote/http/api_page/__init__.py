"""The page of the API for a browser: every endpoint, with a form that calls it.

The page draws `/openapi.json`, so it says what is checked. It loads nothing from elsewhere; a
content security policy forbids that, and forbids other pages to frame it.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'",
    }
)
_FOLDER = Path(__file__).parent
_FILES = {"style": "page.css", "examples": "examples.js", "page": "page.js"}


@cache
def api_page() -> bytes:
    """Return the page.

    >>> api_page().startswith(b"<!doctype html>")
    True
    """
    parts = {name: (_FOLDER / file).read_text("utf-8") for name, file in _FILES.items()}
    template = (_FOLDER / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]].rstrip("\n"), template).encode()
