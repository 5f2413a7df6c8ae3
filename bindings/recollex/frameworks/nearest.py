"""The memories nearest to a query: as many as a framework asks for, matching or not."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from recollex_engine.domain.question import MAX_BUDGET, MAX_LIMIT
from recollex_engine.ranking.presets import DEFAULT

EACH = replace(DEFAULT, diversity=None)
"""The default, in which equal memories are as many results."""
Rest = Callable[[Mapping[str, Any]], bool]
"""Whether metadata meet what `where` cannot say."""


def nearest(
    agent: Any,
    query: str | None,
    count: int,
    *,
    ranked: Mapping[str, Any] | None = None,
    rest: Rest | None = None,
    **wanted: Any,
) -> list[tuple[Any, float | None]]:
    """Return up to ``count`` memories that meet the filters ``wanted``, and their scores.

    First those that a recall finds, best first. They are followed by the others that meet the
    filters, the newest first, without a score: stores of vectors have no threshold either. Without
    a query these are all. ranked: further options of the recall. Cost: that of one recall, and of a
    list where the recall finds too few.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> ids = alice.retain_many(["Bob drinks tea.", "Ann rows."], tags=["x"])
    >>> [memory.text for memory, score in nearest(alice, "tea", 2, tags=["x"])]
    ['Bob drinks tea.', 'Ann rows.']
    """
    if count < 1:
        return []
    found: list[tuple[Any, float | None]] = []
    if query and not query.isspace():
        options = {"preset": EACH, **(ranked or {}), **wanted}
        found = [(each, each.score) for each in _recall(agent, query, count, rest, options)]
    if len(found) < count:
        met = {memory.id for memory, _ in found}
        newest = _recall(agent, "", count + len(met), rest, wanted)
        found += [(each, None) for each in newest if each.id not in met]
    return found[:count]


def _recall(
    agent: Any, query: str, count: int, rest: Rest | None, options: Mapping[str, Any]
) -> Any:
    """Return up to ``count`` memories that meet ``rest`` too."""
    limit = min(count, MAX_LIMIT)
    while True:
        budget = max(100, min(limit, MAX_BUDGET))
        found = agent.recall(query, limit=limit, max_tokens=None, thinking_budget=budget, **options)
        kept = found if rest is None else [each for each in found if rest(each.metadata)]
        if len(kept) >= count or len(found) < limit or limit == MAX_LIMIT:
            return kept[:count]
        limit = min(4 * limit, MAX_LIMIT)
