"""Facts, events and episodes beside the memories of a recall, and one order of them all.

Scores of memories depend on the preset, and those of surfaces do not (see `facts.surface_search`),
so the two lists are joined by their places: after each `MEMORIES_EACH` memories stands the next of
the others. That number was chosen on the development half of LoCoMo's turns with its observations
as facts (bench/tables/facts_beside.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from recollex_engine.domain.prompt_lines import prompt_line
from recollex_engine.domain.prompt_marks import written
from recollex_engine.domain.trust import FULL, LEVELS
from recollex_engine.facts.hits import Hit
from recollex_engine.recall.memory import Memory
from recollex_engine.text.token_counter import TokenCounter

MEMORIES_EACH = 3
"""Memories before each fact, event or episode."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What a recall found beside its memories.

    hits: facts, events and episodes, best first. order: of all that was found, best first, whether
    it is a memory.
    """

    hits: tuple[Hit[Any], ...]
    order: tuple[bool, ...]

    def together(self, memories: Iterable[Hit[Memory]]) -> tuple[Hit[Any], ...]:
        """Return the memories and the others in one order."""
        first = iter(memories)
        second = iter(self.hits)
        return tuple(next(first if memory else second) for memory in self.order)


def fit(
    memories: Sequence[Memory],
    others: Sequence[Hit[Any]],
    most: int,
    limit: int | None,
    counter: TokenCounter,
) -> tuple[list[int], Beside, int]:
    """Return the places of the memories that fit, what is beside them, and the tokens they take.

    What does not fit into the ``most`` tokens that are left is left out, and later ones may fit.
    limit: the most of all. Cost: the tokens of each line.
    """
    order = list(islice(joined(len(memories), len(others)), limit))
    hits = [hit_of(memories[place]) if memory else others[place] for memory, place in order]
    costs = counter.count_many([f"{line}\n" for line in prompt_lines(hits)])
    kept = []
    tokens = 0
    for place, cost in enumerate(costs):
        if tokens + cost <= most:
            kept.append(order[place])
            tokens += cost
    beside = Beside(
        tuple(others[place] for memory, place in kept if not memory),
        tuple(memory for memory, _ in kept),
    )
    return [place for memory, place in kept if memory], beside, tokens


def joined(memories: int, others: int) -> Iterator[tuple[bool, int]]:
    """Yield (whether it is a memory, its place in its own list), in one order.

    >>> [place if memory else -1 - place for memory, place in joined(4, 2)]
    [0, 1, 2, -1, 3, -2]
    """
    first = iter(range(memories))
    second = iter(range(others))
    for _ in range(memories + others):
        yield from ((True, place) for place in islice(first, MEMORIES_EACH))
        yield from ((False, place) for place in islice(second, 1))


def hit_of(memory: Memory) -> Hit[Memory]:
    """Return a memory as a hit."""
    ranks = dict(memory.ranks)
    return Hit(kind="memory", item=memory, text=memory.text, score=memory.score, ranks=ranks)


def prompt_lines(hits: Sequence[Hit[Any]]) -> Iterator[str]:
    """Yield the lines of a prompt; if a memory has a source, all below full trust are marked."""
    marked = any(hit.kind == "memory" and hit.item.source is not None for hit in hits)
    for hit in hits:
        if hit.kind == "memory":
            memory = hit.item
            yield prompt_line(memory.event_at, memory.text, memory.source, memory.trust, marked)
        else:
            trust = getattr(hit.item, "trust", None)
            about = ""
            if marked and trust != LEVELS[FULL]:
                about = "; trust: unknown" if trust is None else f"; trusted as {trust}"
            yield f"[{hit.kind}{about}] {written(hit.text)}"
