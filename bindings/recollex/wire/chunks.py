"""How does a long list travel? In parts before its response, when the caller asks for that."""

from collections.abc import Sequence
from typing import Any


def joined(parts: Sequence[list[Any]], result: Any) -> Any:
    """Return the result of which these parts came before the response.

    >>> joined([[1, 2], [3]], [])
    [1, 2, 3]
    """
    if not parts:
        return result
    items = [item for part in parts for item in part]
    if isinstance(result, list):
        return items + result
    return result.holding(items)  # a list of facts, which says more than they do
