"""Facts, events and episodes beside the memories of a recall, and one order of them all.

All have a score of one scale: that of the weights of `Contextual`, or that which a fusion of lists
gives to both in the same lists. So each stands before the memories that score less.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Any

import numpy as np

from recollex_engine.domain.prompt_lines import prompt_line
from recollex_engine.domain.prompt_marks import written
from recollex_engine.domain.trust import FULL, LEVELS
from recollex_engine.facts.hits import Hit
from recollex_engine.facts.surface_search import Found
from recollex_engine.ranking.arms import ArmList
from recollex_engine.ranking.fusion import Fused
from recollex_engine.recall.memory import Memory, said_on
from recollex_engine.text.token_counter import TokenCounter


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
    scores: Sequence[float],
    others: Sequence[Hit[Any]],
    most: int,
    limit: int | None,
    counter: TokenCounter,
) -> tuple[list[int], Beside, int]:
    """Return the places of the memories that fit, what is beside them, and the tokens they take.

    What does not fit into the ``most`` tokens that are left is left out, and later ones may fit.
    scores: of the memories, on the scale of the others. limit: the most of all. Cost: the tokens of
    each line.
    """
    order = list(islice(joined(scores, [hit.score for hit in others]), limit))
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


def joined(memories: Sequence[float], others: Sequence[float]) -> Iterator[tuple[bool, int]]:
    """Yield (whether it is a memory, its place in its own list), in one order, by score.

    Each list keeps its order, whatever ordered it: another is before the first memory after which
    none scores as much.

    >>> [place if memory else -1 - place for memory, place in joined([3, 1, 2], [2.5, 2, 1])]
    [0, -1, 1, 2, -2, -3]
    """
    best = [*accumulate(reversed(memories), max)][::-1]
    place = 0
    for other, score in enumerate(others):
        while place < len(best) and best[place] >= score:
            yield True, place
            place += 1
        yield False, other
    yield from ((True, rest) for rest in range(place, len(best)))


def among_lists(
    found: Sequence[Found],
    lists: Mapping[str, ArmList],
    arms: Sequence[str],
    fuse: Callable[[Mapping[str, ArmList]], Fused],
    most: float,
    floor: float,
) -> tuple[list[Found], dict[int, float]]:
    """Return what was found, best first, and memory -> its score: as in lists of both.

    The lists are those of the keyword and the semantic arm, where facts have a place too. lists:
    arm -> its memories. arms: those of the preset. most: the sum of the idf of the question's words
    among the memories. floor: the least cosine of the semantic list.
    """
    first = 1 + max((int(each.memories.max(initial=0)) for each in lists.values()), default=0)
    together = {}
    for name, scale, least in (("keyword", most or 1.0, 0.0), ("semantic", 1.0, floor)):
        if name not in arms:
            continue
        held = lists.get(name, ArmList.empty())
        places = [place for place, each in enumerate(found) if each.own.get(name, -2) >= least]
        own = np.array([found[place].own[name] for place in places], np.float32)
        numbers = np.concatenate((held.memories, first + np.array(places, np.uint32)))
        scores = np.concatenate((held.scores / np.float32(scale), own))
        order = np.lexsort((numbers, -scores))
        rows = np.empty(0, np.uint32)
        together[name] = ArmList(numbers[order].astype(np.uint32), scores[order], rows)
    fused = fuse(together)
    scored = dict(zip(fused.memories.tolist(), fused.scores.tolist(), strict=True))
    ranked = [
        replace(each, score=scored[first + place])
        for place, each in enumerate(found)
        if first + place in scored
    ]
    return sorted(ranked, key=lambda each: -each.score), scored


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
            yield prompt_line(said_on(memory), memory.text, memory.source, memory.trust, marked)
        else:
            trust = getattr(hit.item, "trust", None)
            about = ""
            if marked and trust != LEVELS[FULL]:
                about = "; trust: unknown" if trust is None else f"; trusted as {trust}"
            yield f"[{hit.kind}{about}] {written(hit.text)}"
