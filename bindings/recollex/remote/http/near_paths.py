"""Which path did a request mean that asks for one that does not exist?"""

import difflib
from collections.abc import Iterable

ALIKE = 0.7
"""How much each word of a path must resemble another's for it to be suggested (difflib's ratio)."""
OTHER_WORDS = {"query": "search", "recall": "search", "remember": "memories", "retain": "memories"}
"""What Python and other programs call a thing -> the word of its path."""
LONGEST = 120
"""The most bytes of a path for which one is suggested: comparing takes the square of the length."""


def near_path(given: str, paths: Iterable[str]) -> str | None:
    """Return the path that a given one resembles most, with the names that it gives.

    >>> near_path("/api/agents/ann/memory", ["/api/agents/{agent_id}/memories", "/api/search"])
    '/api/agents/ann/memories'
    """
    if len(given) > LONGEST:
        return None
    parts = given.strip("/").split("/")
    best = 0.0
    found = None
    for path in paths:
        words = path.strip("/").split("/")
        pairs = list(zip(words, parts, strict=False))
        if len(words) != len(parts) or any(not part and word[0] == "{" for word, part in pairs):
            continue
        alike = [_alike(part, word) for word, part in pairs if word[0] != "{"]
        if min(alike) >= ALIKE and sum(alike) / len(alike) > best:
            best = sum(alike) / len(alike)
            found = "/" + "/".join(part if word[0] == "{" else word for word, part in pairs)
    return found


def _alike(given: str, word: str) -> float:
    """Return how much a word of a path resembles one that there is, from 0 to 1."""
    if OTHER_WORDS.get(given) == word:
        return 1.0
    return difflib.SequenceMatcher(None, given, word).ratio()
