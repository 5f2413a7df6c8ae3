"""How does a long list travel? In chunks before its response, if the caller asks for them."""

from collections.abc import Sequence
from typing import Any


def joined(parts: Sequence[list[Any]], result: Any) -> Any:
    """Return the result whose first items came in chunks before the response.

    parts: the chunks, in order. result: that of the response, which has no items.

    >>> joined([[1, 2], [3]], [])
    [1, 2, 3]
    """
    if not parts:
        return result
    items = [item for part in parts for item in part]
    if isinstance(result, list):
        return items + result
    return result.holding(items)  # a FactList, which has fields beside its facts
