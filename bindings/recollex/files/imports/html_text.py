"""The words of a page of HTML, a line for each block.

One expression reads each tag, comment and script to its end, or to that of the page where it has
none, as a browser does. So a page takes time linear in its length, however broken it is; the
standard library's parser takes the square.
"""

import re
from collections.abc import Iterator
from html import unescape

_REST = r"(?:[^>=]++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)"
"""What follows the name of a tag: a ">" within a quoted value does not end it."""
_MARK = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rf"|<(?P<raw>script|style)(?=[\s/>]){_REST}.*?(?:</(?P=raw)(?=[\s/>])[^>]*+>|\Z)"
    rf"|<(?P<end>/?)(?P<tag>[a-z][^\s/>]*+){_REST}"
    r"|<[!?/][^>]*+(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BLOCKS = frozenset(("p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "blockquote"))
_HIDDEN = frozenset(("head", "title"))


def text_of_html(page: str) -> str:
    r"""Return the words of a page of HTML.

    >>> text_of_html("<style>p {}</style><p>Tea at <b>four</b>.</p><p>Bring cake.</p>")
    'Tea at four.\nBring cake.'
    """
    lines = (" ".join(line.split()) for line in "".join(_words(page)).splitlines())
    return "\n".join(line for line in lines if line)


def _words(page: str) -> Iterator[str]:
    """Yield the words between tags, and a line feed for each block."""
    hidden = 0
    after = 0
    for mark in _MARK.finditer(page):
        if not hidden:
            yield _said(page[after : mark.start()])
        after = mark.end()
        tag = (mark["tag"] or "").lower()
        if tag in _HIDDEN:
            hidden = max(0, hidden - 1) if mark["end"] else hidden + 1
        elif tag in _BLOCKS and not mark["end"]:
            yield "\n"
    if not hidden:
        yield _said(page[after:])


def _said(written: str) -> str:
    said = unescape(written)
    return " ".join(said.split()) + (" " if said[-1:].isspace() else "")
