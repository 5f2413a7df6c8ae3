"""Paragraphs of a text that has no ids: each gets one that is made of its document and its words.

So a paragraph keeps its id when others are written before it, and one that is changed is another.
"""

import re
from collections import Counter
from collections.abc import Iterator
from uuid import NAMESPACE_URL, uuid5

_EMPTY_LINE = re.compile(r"\n[ \t]*\n")


def paragraphs(text: str, document: str) -> Iterator[tuple[str, str]]:
    r"""Yield the id and the words of each paragraph of a text.

    >>> [words for _, words in paragraphs("Likes tea.\n\nLives in Oslo.", "notes")]
    ['Likes tea.', 'Lives in Oslo.']
    """
    yield from named((part.strip() for part in _EMPTY_LINE.split(text)), document)


def named(texts: Iterator[str], document: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the words of each text that is not empty."""
    seen: Counter[str] = Counter()
    for words in texts:
        if words:
            seen[words] += 1
            yield str(uuid5(NAMESPACE_URL, f"{seen[words]} {document} {words}")), words
