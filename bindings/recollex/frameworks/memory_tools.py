"""The four tools by which a model keeps a memory: what they are called, and what they answer."""

from collections.abc import Iterable
from typing import Any

from recollex_engine.domain.prompt_lines import written, written_short

RETAIN = "Remember a statement that will matter later. Returns its id."
RECALL = "Search the memory. Returns memories, best first, a line each: [id] date text."
CORRECT = "Replace the text of a memory that is no longer so, by its id, and say why."
FORGET = "Forget a memory by its id, and say why."
NOTHING = "Nothing is known about that."


def lines(memories: Iterable[Any]) -> str:
    """Return recalled memories as the tool answers them."""
    told = [
        f"[{written_short(each.id)}] {each.event_at:%Y-%m-%d} {written(each.text)}"
        for each in memories
    ]
    return "\n".join(told) or NOTHING
