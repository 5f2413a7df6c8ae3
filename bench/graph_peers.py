"""How fast does activation spread, beside networkx, igraph and scipy?

Claim: within a budget of 100 memories at most 40 us at 1,000,000 memories and at most 2.5 times
what it takes at 10,000; at least 200 times as fast as best-first spreading in networkx at 100,000.

Command: python -m bench.graph_peers [--rows N ...] [--data FOLDER] [--json] [--out FILE]

Check: before the clock starts, spreading over the explicit graph in networkx, with ties broken by
cosine and newness as in recollex, visits the same memories as recollex, in the same order. Only
memories whose cosines differ by rounding alone may change places.

All start from the five memories nearest to the question, at their similarity, and stop at 100
memories (and at 1,000). The edges are the two entities that each memory names, and its ten
neighbours in time within a day (TEMPR 2.4). recollex finds the edges while it spreads; the rivals
are given them. An entity passes activation to the newest 1,024 memories that name it, and to the
memories that the semantic arm found. networkx runs with ties broken as in recollex (by the cosines
of what the semantic arm found and of an entity's newest 16, then by newness), and with ties broken
by newness alone, which needs no cosines. The rivals' page ranks, 20 rounds at damping 0.85, are
another measure of nearness: `shared` says how many of their hundred recollex found too. recollex's
time is the graph arm's share of a recall, from its trace. Above 200,000 memories, rivals whose
graphs would not fit into memory are left out. One thread each.
"""

import heapq
import math
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recollex
from bench.lib import made_up
from bench.lib.drawing import Plot
from bench.lib.kept_stores import add_arguments, ids, made_up_store
from bench.lib.latency import (
    Bound,
    Page,
    Section,
    System,
    claim,
    finish,
    parse,
    race,
    with_one_thread,
)
from recollex.presets import Preset, ReciprocalRank, Spreading

try:
    import igraph
    import networkx
    from scipy import sparse
except ImportError as error:
    raise SystemExit(f"{error.name} is missing: pip install 'recollex[bench]'") from error

BUDGETS = (100, 1_000)
QUESTIONS = 100
CHECKED = 20
MOST = 200_000
SEEDS, DECAY, THRESHOLD, HUB, FRESH, NEIGHBOURS = 5, 0.8, 0.1, 1_024, 16, 10
FAR = -math.inf
DAY_SECONDS = 86_400
ROUNDS, DAMPING = 20, 0.85
SAME = "networkx, the same ties"
ALL = 10_000_000
ARMS = Preset(
    name="graph",
    arms=("semantic", "graph"),
    fusion=ReciprocalRank(),
    spreading=Spreading(rare_entities=False),
)


def main() -> None:
    with_one_thread()
    parser = parse(__doc__, (10_000, 100_000))
    add_arguments(parser)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for size in arguments.rows:
        with made_up_store(arguments.stores, size) as agent:
            rows += measure(agent, size)
    finish(page(rows), arguments)


def measure(agent: recollex.Agent, size: int) -> list[dict[str, Any]]:
    """Return one row for each system and budget."""
    place_of = {id: place for place, id in enumerate(ids(agent))}
    drawn = [(q, seeds_of(agent, q, place_of)) for q in made_up.questions(size, 3 * QUESTIONS)]
    full = sorted((pair for pair in drawn if pair[1]), key=lambda pair: -len(pair[1]))[:QUESTIONS]
    questions, seeds = [question for question, _ in full], [start for _, start in full]
    peers: list[tuple[str, Callable[[Any, int], list[Any]]]] = []
    if size <= MOST:
        temporal, mentions = edges(size)
        graph = explicit(size, temporal, mentions)
        peers = [
            (SAME, lambda number, budget: ties_too(number, budget)),
            (
                "networkx, newest first",
                lambda number, budget: best_first(graph, seeds[number], budget),
            ),
            ("igraph, page rank", lambda number, budget: ranks.by_igraph(seeds[number], budget)),
            ("scipy, page rank", lambda number, budget: ranks.by_scipy(seeds[number], budget)),
        ]
        vectors, ranks = all_vectors(size), PageRank(size, temporal, mentions)

    def ties_too(number: int, budget: int) -> list[int]:
        query = questions[number].vector

        def cosines(memories: list[int]) -> list[float]:
            found: list[float] = (vectors[memories] @ query).tolist()
            return found

        return best_first(graph, seeds[number], budget, known[budget][number], cosines)

    known = {
        budget: [semantic(agent, question, budget, place_of) for question in questions]
        for budget in BUDGETS
    }
    rows = []
    for budget in BUDGETS:

        def ours(number: int, budget: int = budget) -> recollex.Recall:
            fields = questions[number].fields()
            return agent.recall(**fields, thinking_budget=budget, preset=ARMS, max_tokens=ALL)

        found = [reached(agent, question, budget, place_of) for question in questions]
        if size <= MOST:
            for number in range(min(CHECKED, len(full))):
                expected = ties_too(number, budget)
                assert sorted(found[number]) == sorted(expected), (number, budget)
                pairs = zip(found[number], expected, strict=True)
                assert sum(ours != theirs for ours, theirs in pairs) <= budget / 50, number
        systems = [System("recollex", ours, lambda recall: recall.trace.stages["graph"])]
        systems += [
            System(name, lambda number, ask=ask, most=budget: ask(number, most))
            for name, ask in peers
        ]
        spent = race(systems, list(range(len(full))), seconds=5)
        shared = {"recollex": 1.0}
        for name, ask in peers:
            shares = [
                len(set(ask(n, budget)) & set(found[n])) / max(1, len(found[n]))
                for n in range(min(10, len(full)))
            ]
            shared[name] = float(np.mean(shares))
        rows += [
            {
                "memories": size,
                "budget": budget,
                "system": name,
                "p50 us": times["p50"],
                "p95": times["p95"],
                "p99": times["p99"],
                "p50 / ours": times["p50"] / spent["recollex"]["p50"],
                "shared": shared[name],
            }
            for name, times in spent.items()
        ]
    return rows


def seeds_of(
    agent: recollex.Agent, question: made_up.Question, place_of: dict[str, int]
) -> list[tuple[int, float]]:
    """Return the memories from which activation starts, and the activation of each."""
    recall = agent.recall(
        **question.fields(), thinking_budget=SEEDS, preset=ARMS, max_tokens=ALL, explain=True
    )
    held = [
        (m.ranks["semantic"], place_of[m.id], m.scores["semantic"])
        for m in recall
        if "semantic" in m.ranks
    ]
    return [(place, score) for _, place, score in sorted(held) if score >= 0.5]


def reached(
    agent: recollex.Agent, question: made_up.Question, budget: int, place_of: dict[str, int]
) -> list[int]:
    """Return the memories that the graph arm visits, in that order."""
    recall = agent.recall(
        **question.fields(), thinking_budget=budget, preset=ARMS, max_tokens=ALL, explain=True
    )
    held = [(m.ranks["graph"], place_of[m.id]) for m in recall if "graph" in m.ranks]
    return [place for _, place in sorted(held)]


def semantic(
    agent: recollex.Agent, question: made_up.Question, budget: int, place_of: dict[str, int]
) -> dict[int, float]:
    """Return the memories that the semantic arm finds, and their cosines."""
    recall = agent.recall(
        **question.fields(), thinking_budget=budget, preset=ARMS, max_tokens=ALL, explain=True
    )
    return {place_of[m.id]: m.scores["semantic"] for m in recall if "semantic" in m.scores}


def all_vectors(size: int) -> NDArray[np.float32]:
    """Return the vectors as a store keeps them, in half precision."""
    parts = [
        made_up.vectors(number, min(made_up.BATCH, size - first))
        for number, first in enumerate(range(0, size, made_up.BATCH))
    ]
    return np.concatenate(parts).astype(np.float16).astype(np.float32)


Temporal = list[tuple[int, int, float]]
Mentions = list[tuple[int, str]]


def edges(size: int) -> tuple[Temporal, Mentions]:
    """Return (memory, neighbour, weight) in time, and (memory, entity)."""
    step = made_up.SPAN.total_seconds() / size
    temporal: Temporal = []
    for memory in range(size):
        near = [
            (abs(other - memory), other)
            for other in range(memory - NEIGHBOURS, memory + NEIGHBOURS + 1)
            if other != memory and 0 <= other < size and abs(other - memory) * step < DAY_SECONDS
        ]
        for apart, other in sorted(near)[:NEIGHBOURS]:
            temporal.append((memory, other, max(0.3, 1 - apart * step / DAY_SECONDS)))
    mentions: Mentions = []
    memory = 0
    for batch in made_up.batches(size):
        for names in batch.entities:
            mentions += [(memory, name) for name in dict.fromkeys(names)]
            memory += 1
    return temporal, mentions


def explicit(size: int, temporal: Temporal, mentions: Mentions) -> Any:
    """Return the graph; an entity's newest memories come first."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_weighted_edges_from(temporal)
    graph.add_edges_from(mentions)
    graph.add_edges_from((name, memory) for memory, name in reversed(mentions))
    return graph


def best_first(
    graph: Any,
    seeds: list[tuple[int, float]],
    budget: int,
    known: dict[int, float] | None = None,
    cosines: Callable[[list[int]], list[float]] | None = None,
) -> list[int]:
    """Return the memories visited, most activated first (TEMPR 3.1.3).

    Ties are broken by cosine: memories in ``known`` by the cosines there, and the newest few of an
    entity by ``cosines``, if given. Then the newer memory comes first.
    """
    adjacent = graph.adj
    visited: dict[int, None] = {}
    entities: set[str] = set()
    heap: list[tuple[float, float, int]] = []
    closeness = known or {}
    known_of: dict[str, list[int]] = {}
    for memory in closeness:
        for other in adjacent[memory]:
            if isinstance(other, str):
                known_of.setdefault(other, []).append(memory)

    def push(activation: np.float32, memory: int, near: float) -> None:
        if memory not in visited:
            heapq.heappush(heap, (-float(activation), -near, -memory))

    for memory, activation in seeds:
        push(np.float32(activation), memory, closeness.get(memory, FAR))
    fading = np.float32(DECAY)
    while heap and len(visited) < budget:
        top, _, named = heapq.heappop(heap)
        memory, activation = -named, np.float32(-top)
        if memory in visited:
            continue
        visited[memory] = None
        for other, edge in adjacent[memory].items():
            if isinstance(other, str):
                passed = activation * fading
                if other in entities or passed <= THRESHOLD:
                    continue
                entities.add(other)
                members = list(islice(adjacent[other], HUB))
                fresh = members[:FRESH] if cosines is not None else []
                near = dict.fromkeys(members, FAR)
                if cosines is not None:
                    near |= dict(zip(fresh, cosines(fresh), strict=True))
                for each in (*members, *known_of.get(other, ())):
                    push(passed, each, closeness.get(each, near.get(each, FAR)))
            else:
                passed = activation * np.float32(edge["weight"]) * fading
                if passed > THRESHOLD:
                    push(passed, other, closeness.get(other, FAR))
    return list(visited)


class PageRank:
    """Personalised page rank over the same edges, in igraph and in scipy."""

    def __init__(self, size: int, temporal: Temporal, mentions: Mentions) -> None:
        names = {name: size + n for n, name in enumerate(dict.fromkeys(n for _, n in mentions))}
        links = [(memory, names[name], 1.0) for memory, name in mentions]
        links += [(name, memory, 1.0) for memory, name, _ in links]
        links += temporal
        self._size, nodes = size, size + len(names)
        source, target, weight = (np.array(part) for part in zip(*links, strict=True))
        self._graph = igraph.Graph(nodes, list(zip(source, target, strict=True)), directed=True)
        self._weights = weight.tolist()
        flow = sparse.csr_matrix((weight, (target, source)), shape=(nodes, nodes))
        out = np.asarray(flow.sum(axis=0)).ravel()
        out[out == 0] = 1
        self._flow = (flow @ sparse.diags(1 / out)).tocsr()

    def _best(self, ranks: NDArray[np.float64], budget: int) -> list[int]:
        ranks = ranks[: self._size]
        best = np.argpartition(ranks, -budget)[-budget:]
        found: list[int] = best[np.argsort(-ranks[best])].tolist()
        return found

    def by_igraph(self, seeds: list[tuple[int, float]], budget: int) -> list[int]:
        start = [memory for memory, _ in seeds]
        ranks = self._graph.personalized_pagerank(
            reset_vertices=start, damping=DAMPING, weights=self._weights
        )
        return self._best(np.array(ranks), budget)

    def by_scipy(self, seeds: list[tuple[int, float]], budget: int) -> list[int]:
        start = np.zeros(self._flow.shape[0])
        start[[memory for memory, _ in seeds]] = 1 / len(seeds)
        ranks = start
        for _ in range(ROUNDS):
            ranks = DAMPING * (self._flow @ ranks) + (1 - DAMPING) * start
        return self._best(ranks, budget)


def page(rows: list[dict[str, Any]]) -> Page:
    own = {(r["memories"], r["budget"]): r["p50 us"] for r in rows if r["system"] == "recollex"}
    million, small = own.get((1_000_000, 100)), own.get((10_000, 100))
    bounds = []
    if million is not None:
        bounds.append(Bound("budget 100 at 1,000,000, p50 us", million, 40))
        if small is not None:
            bounds.append(Bound("1,000,000 / 10,000, p50", million / small, 2.5))
    bounds += [
        Bound(f"{row['system']} / recollex at 100,000, p50", row["p50 / ours"], 200, least=True)
        for row in rows
        if row["memories"] == 100_000 and row["budget"] == 100 and "networkx" in row["system"]
    ]
    sections = [
        Section(
            f"Activation from five memories, budget {budget:,}",
            [row for row in rows if row["budget"] == budget],
            Plot("curves", "memories", "p50 us", "system", "p50, us"),
        )
        for budget in BUDGETS
    ]
    return Page(
        "graph_peers",
        claim(__doc__),
        "python -m bench.graph_peers",
        sections,
        bounds,
        [
            "Checked before timing: best-first spreading over the explicit graph visits the same "
            "memories (up to 200,000 memories).",
            "shared: how much of a rival's list is in recollex's; page rank is another measure.",
        ],
        ("igraph", "networkx", "scipy"),
        {"seeds": SEEDS, "decay": DECAY, "hub": HUB, "questions": QUESTIONS},
    )


if __name__ == "__main__":
    main()
