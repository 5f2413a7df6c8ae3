"""Packs a subgraph for a question: events, facts and their evidence within a token budget.

MemoTrace ("Retrieval and packing"): the search starts at the memories of a recall, at the facts and
events that a search of their surfaces finds (the retrieval into L1 and L2), and at the names in the
question. It goes by relation (see `neighbourhood`) to the facts that cite those memories, the
events that include the facts, and what they share. Then the nodes that cover most for their tokens
are packed first (see `coverage`), until enough is covered or the budget is spent.

Coverage is the mean of two shares, each relative to what could be covered at all:

- the share of the question's terms, all of equal weight, that are in a packed line;
- the share of the reached nodes, by weight, that are covered: a packed event or fact, and a memory
  that is packed or that a packed fact cites. The weight is that of the path, times 1 + the share of
  the question's terms that are in the node's own line.

A memory that a fact cites is packed with the fact. It is packed alone only if no other node that
covers more fits. At the end, a memory is left out again if no fact loses its proof and the coverage
stays the same.

Budgeted maximum coverage: which parcels cover the most needs for their cost?
A parcel holds items and covers needs. The coverage of a choice is the weight of the needs that it
covers, divided by the weight of the needs that any parcel covers. It is submodular: a need counts
once.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from recollex_engine.clock import from_micros
from recollex_engine.domain.filter import Filter, bounds
from recollex_engine.domain.question import Packing, Question
from recollex_engine.facts.events import AGGREGATES, Episode, edges_to, read_episode
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.surface_search import Found
from recollex_engine.ranking.filters import admitted_memories
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.recall.neighbourhood import (
    EVENT,
    FACT,
    KINDS,
    MEMORY,
    NAME,
    Neighbourhood,
    Node,
    named_entities,
)
from recollex_engine.recall.pack_candidates import Packable
from recollex_engine.recall.subgraph import EPISODES, SECTIONS, Subgraph, episode_line, heading
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.token_counter import TokenCounter


@dataclass(frozen=True, slots=True)
class Parcel:
    """Items that must be packed together, and the needs that they cover, both as numbers.

    spare: whether it is taken only if no other parcel that covers more fits.
    """

    items: tuple[int, ...]
    needs: tuple[int, ...]
    spare: bool = False


@dataclass(frozen=True, slots=True)
class CoverageItem:
    """The cost of one item, and the section that it is in."""

    cost: int
    section: int


@dataclass(frozen=True, slots=True)
class CoverageChoice:
    """The parcels that were taken, in order, and why no more were taken.

    stopped: "coverage" if enough was covered, "budget" if a parcel that covers more did not fit,
    "all" if no parcel covers more.
    """

    parcels: tuple[int, ...]
    coverage: float
    cost: int
    stopped: str


def choose(
    parcels: Sequence[Parcel],
    weights: Sequence[float],
    items: Sequence[CoverageItem],
    headings: Sequence[int],
    budget: int,
    enough: float,
) -> CoverageChoice:
    """Return the parcels taken greedily, until ``enough`` is covered or no useful parcel fits.

    Each step takes the parcel that fits the rest of the budget and has the greatest ratio of new
    weight to new cost. Weight is new if its need is not covered yet; cost is new if its item is not
    paid yet. Ties: the earlier parcel. A parcel without new cost comes before all others; spare
    parcels come last. An item is paid once, and so is the heading of its section,
    ``headings[section]``.

    Cost: O(parcels) a step, plus an update of the parcels that share an item or a need with the
    parcel taken, or of all parcels if it opens a section.

    >>> parcels = [Parcel((0, 1), (0, 1)), Parcel((1,), (1,)), Parcel((2,), (2,))]
    >>> items = [Item(8, 0), Item(2, 0), Item(9, 0)]
    >>> choose(parcels, [1.0, 1.0, 1.0], items, [0], 12, 1.0)
    Choice(parcels=(1, 0), coverage=0.6666666666666666, cost=10, stopped='budget')
    """
    reachable = sorted({need for parcel in parcels for need in parcel.needs})
    whole = sum(weights[need] for need in reachable)
    taken: list[int] = []
    covered: set[int] = set()
    packed: set[int] = set()
    opened: set[int] = set()
    # reached: always summed in one order, so that full coverage is exactly `whole`
    reached = 0.0
    spent = 0
    sharing: dict[tuple[str, int], list[int]] = {}
    for place, parcel in enumerate(parcels):
        for name, numbers in (("item", parcel.items), ("need", parcel.needs)):
            for number in numbers:
                sharing.setdefault((name, number), []).append(place)
    gains = [0.0] * len(parcels)
    costs = [0] * len(parcels)

    def look(place: int) -> None:
        parcel = parcels[place]
        gains[place] = sum(weights[need] for need in parcel.needs if need not in covered)
        new = [item for item in parcel.items if item not in packed]
        sections = {items[item].section for item in new} - opened
        costs[place] = sum(items[item].cost for item in new)
        costs[place] += sum(headings[section] for section in sections)

    for place in range(len(parcels)):
        look(place)
    while whole and reached < enough * whole:
        best = -1
        most = (False, 0.0)
        for place, gain in enumerate(gains):
            if gain > 0 and costs[place] <= budget - spent:
                ratio = gain / costs[place] if costs[place] else math.inf
                offer = not parcels[place].spare, ratio
                if offer > most:
                    best = place
                    most = offer
        if best < 0:
            break
        parcel = parcels[best]
        taken.append(best)
        spent += costs[best]
        sections = {items[item].section for item in parcel.items}
        stale: set[int] = set(range(len(parcels))) if sections - opened else set()
        opened |= sections
        for name, numbers, known in (
            ("item", parcel.items, packed),
            ("need", parcel.needs, covered),
        ):
            for number in numbers:
                if number not in known:
                    known.add(number)
                    stale.update(sharing[name, number])
        reached = sum(weights[need] for need in reachable if need in covered)
        for place in sorted(stale):
            look(place)
    if not whole or reached >= enough * whole:
        stopped = "coverage" if whole else "all"
    else:
        stopped = "budget" if any(gain > 0 for gain in gains) else "all"
    return CoverageChoice(tuple(taken), reached / whole if whole else 1.0, spent, stopped)


def nothing(question: Question, now: int, counter: TokenCounter) -> Subgraph:
    """Return an empty subgraph."""
    world = question.filter.as_world
    return Subgraph(
        query=question.text,
        at=from_micros(now if world is None else world),
        events=(),
        facts=(),
        memories=(),
        episodes=(),
        conflicts={},
        coverage=1.0,
        stopped="all",
        tokens=0,
        max_tokens=question.max_tokens,
        token_counter=counter.name,
        op=0,
    )


def pack(
    view: View,
    facts: FactView,
    ranking: Ranking,
    question: Question,
    packing: Packing,
    analyzer: Analyzer,
    counter: TokenCounter,
    now: int,
    *,
    found: Sequence[Found] = (),
) -> Subgraph:
    """Return the subgraph for ``question``, of at most its ``max_tokens``.

    ``ranking``: the memories of the recall before any budget, best first. ``found``: the facts and
    events that the question's search found, best first. ``facts``: the cut, of
    the same operation as ``view``. The question's filters apply to ``ranking``, and its interval to
    the facts and events that are reached; neither applies to their evidence. The wanted trust
    applies to all of them.

    Ties: nearer nodes first, then events, facts, memories, then the heavier, then the older. Cost:
    the search, and the line of every node: about 50 us a node, for at most 500 nodes and the nodes
    that they need.
    """
    wanted = question.filter
    shown = replace(question, filter=Filter(trust=wanted.trust, as_world=wanted.as_world))
    near = Neighbourhood(
        view,
        facts,
        admitted_memories(view, shown),
        analyzer,
        frozenset(analyzer.query(question.text).terms),
        bounds(question.filter.since, question.filter.until),
        packing.limits,
    )
    seeds: dict[Node, float] = {
        (MEMORY, memory): 1 / rank
        for rank, memory in enumerate(ranking.memories[: packing.seeds].tolist(), 1)
    }
    nodes = ((FACT if each.kind == "fact" else EVENT, each.number) for each in found)
    seeds |= {node: 1 / rank for rank, node in enumerate(nodes, 1) if near.is_asked(node)}
    seeds |= {(NAME, entity): 1.0 for entity in named_entities(facts, analyzer, question.text)}
    at = from_micros(now if facts.world is None else facts.world)
    packable = Packable(near, near.reach(seeds, packing.depth), ranking, at)
    return _Packer(packable, question, packing.coverage, counter).packed()


class _Packer:
    """Packs one subgraph: its candidates, their costs, and the coverage that is enough."""

    def __init__(
        self, packable: Packable, question: Question, enough: float, counter: TokenCounter
    ) -> None:
        self.of = packable
        self.question = question
        self.enough = enough
        self.counter = counter

    def packed(self) -> Subgraph:
        """Return the subgraph."""
        of = self.of
        budget = self.question.max_tokens
        nodes = of.nodes
        number = {node: place for place, node in enumerate(nodes)}
        wanted = sorted(
            (node for node in of.reached if node in number),
            key=lambda node: (
                of.reached[node].distance,
                KINDS.index(node[0]),
                -of.weight(node),
                node[1],
            ),
        )
        cited = {(MEMORY, memory) for fact in of.facts for memory in of.evidence[fact]}
        closures = [of.closure(node) for node in wanted]
        covers = [of.covered(closure) for closure in closures]
        weights = self._needs(covers)
        needs = {need: place for place, need in enumerate(weights)}
        costs = self.counter.count_many([of.line(node) for node in nodes])
        lines = self.counter.count_many([heading(section, of.at) for section in SECTIONS])
        headings = [count + 1 for count in lines]  # plus one for the end of the line
        choice = choose(
            [
                Parcel(
                    tuple(number[node] for node in closure),
                    tuple(sorted(needs[need] for need in cover if need in needs)),
                    node in cited,
                )
                for node, closure, cover in zip(wanted, closures, covers, strict=True)
            ],
            list(weights.values()),
            [
                CoverageItem(cost + 1, KINDS.index(kind))
                for cost, (kind, _) in zip(costs, nodes, strict=True)
            ],
            headings,
            budget,
            self.enough,
        )
        taken = [closures[place] for place in choice.parcels]
        chosen = self._pruned(taken)
        stopped = choice.stopped
        episodes: tuple[Episode, ...] = ()
        if stopped == "budget":
            episodes = self._episodes(chosen, budget - choice.cost - headings[EPISODES])
        while True:
            found = self._subgraph(chosen, episodes, self._share(chosen, weights), stopped)
            if found.tokens <= budget:
                return found
            # Lines were counted one by one; joined, they can take a token more.
            stopped = "budget"
            if episodes:
                episodes = episodes[:-1]
            else:
                taken.pop()
                chosen = self._pruned(taken)

    def _needs(self, covers: Iterable[set[Node | str]]) -> dict[Node | str, float]:
        """Return the weights of the needs; terms and nodes have the same sum."""
        reachable: set[Node | str] = set().union(*covers)
        terms = sorted(need for need in reachable if isinstance(need, str))
        found: dict[Node | str, float] = {term: 1 / len(terms) for term in terms}
        nodes = [node for node in self.of.reached if node in reachable]
        whole = sum(self.of.weight(node) for node in nodes)
        found |= {node: self.of.weight(node) / whole for node in nodes}
        return found

    def _share(self, chosen: list[Node], weights: Mapping[Node | str, float]) -> float:
        covered = self.of.covered(chosen)
        whole = sum(weights.values())
        if not whole:
            return 1.0
        return sum(weight for need, weight in weights.items() if need in covered) / whole

    def _pruned(self, closures: Iterable[tuple[Node, ...]]) -> list[Node]:
        """Return the nodes of closures without memories that no fact and no coverage needs."""
        of = self.of
        chosen = dict.fromkeys(node for closure in closures for node in closure)
        covered = of.covered(chosen)
        cited = [of.evidence[number] for kind, number in chosen if kind == FACT]
        memories = {number for kind, number in chosen if kind == MEMORY}
        for memory in sorted(memories, key=lambda each: (of.weight((MEMORY, each)), -each)):
            rest = memories - {memory}
            if all(memory not in each or rest.intersection(each) for each in cited):
                without = [node for node in chosen if node != (MEMORY, memory)]
                if of.covered(without) == covered:
                    del chosen[MEMORY, memory]
                    memories = rest
        return list(chosen)

    def _episodes(self, chosen: list[Node], left: int) -> tuple[Episode, ...]:
        """Return the episodes of reached events that were not packed, as far as ``left`` allows."""
        of = self.of
        facts = self.of.near.facts
        missing = [key for key in of.events if (EVENT, key) not in chosen]
        keys: dict[int, None] = {}
        for key in sorted(missing, key=lambda key: (-of.weight((EVENT, key)), key)):
            edges = edges_to(facts, "event", key)
            keys |= dict.fromkeys(sorted(e.source for e in edges if e.relation == AGGREGATES))
        found = []
        for key in keys:
            if (episode := read_episode(facts, key)) is not None:
                line = episode_line("P10", episode, dict.fromkeys(episode.events, "E10"))
                cost = self.counter.count(line) + 1
                if cost <= left:
                    found.append(episode)
                    left -= cost
        return tuple(found)

    def _subgraph(
        self, chosen: list[Node], episodes: tuple[Episode, ...], coverage: float, stopped: str
    ) -> Subgraph:
        of = self.of
        events = [number for kind, number in chosen if kind == EVENT]
        facts = dict.fromkeys(fact for event in events for fact in of.facts_of[event])
        facts |= dict.fromkeys(number for kind, number in chosen if kind == FACT)
        memories = {number for kind, number in chosen if kind == MEMORY}
        order = dict.fromkeys(
            memory for fact in facts for memory in of.evidence[fact] if memory in memories
        )
        order |= dict.fromkeys(number for kind, number in chosen if kind == MEMORY)
        found = Subgraph(
            query=self.question.text,
            at=of.at,
            events=tuple(of.events[event] for event in events),
            facts=tuple(of.facts[fact] for fact in facts),
            memories=tuple(of.memories[memory] for memory in order),
            episodes=episodes,
            conflicts={of.facts[fact].id: of.conflicts[fact] for fact in facts},
            coverage=coverage,
            stopped=stopped,
            tokens=0,
            max_tokens=self.question.max_tokens,
            token_counter=self.counter.name,
            op=of.near.facts.op,
        )
        text = found.to_prompt()
        return replace(found, tokens=self.counter.count(text) if text else 0)
