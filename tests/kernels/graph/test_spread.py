import heapq
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.graph.spread import NONE, spread
from recollex_kernels.vectors.codes import cosines
from tests.kernels.inputs import frozen, read_only

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

HOUR = 3_600_000_000
ENTITIES = 5


def offsets(lists):
    return frozen(np.cumsum([0] + [len(x) for x in lists]), np.uint64)


def thread(keys, heads):
    """The chains of ``keys``: the entry before each with the same key, and the last of each key."""
    previous, head = np.empty(len(keys), np.uint32), np.full(heads, NONE, np.uint32)
    for i, key in enumerate(keys):
        previous[i], head[key] = head[key], i
    return previous, head


def flat(lists, dtype):
    return frozen([x for one in lists for x in one], dtype)


class World:
    """A small random store with ties in every weight, time and cosine."""

    def __init__(self, seed, size, many=False):
        rng = np.random.default_rng(seed)
        self.size = size
        some = range(size)
        self.entities = [
            sorted(set(rng.integers(0, ENTITIES, rng.integers(0, 3)).tolist())) for _ in some
        ]
        self.weights = frozen(rng.choice([1.0, 0.5, 0.05], ENTITIES, p=[0.5, 0.4, 0.1]), np.float32)
        self.links = [
            sorted(set(rng.integers(0, m, rng.integers(0, 3)).tolist())) if m else [] for m in some
        ]
        self.link_weights = [
            rng.choice([0.7, 0.9, 0.06, 1.01], len(own)).tolist() for own in self.links
        ]
        self.event_at = frozen(rng.integers(0, 4 if many else 60, size) * HOUR, np.int64)
        passages = rng.integers(1, 3, size)
        self.first_row = frozen(np.concatenate(([0], np.cumsum(passages))), np.uint32)
        vectors = (rng.integers(-2, 3, (passages.sum(), 8)) / 4).astype(np.float16)
        self.vectors = read_only(vectors.view(np.uint16))
        self.query = read_only((rng.integers(-2, 3, 8) / 4).astype(np.float32))
        self.allowed = frozen(rng.integers(0, 6, size) > 0, np.uint8)
        self.known = []  # memories whose cosines are told
        self.rng = rng

    def know(self, view):
        """Tell the cosines of some of the first ``view`` memories, in any order."""
        self.known = self.rng.permutation(view)[: self.rng.integers(0, view + 1)].tolist()

    def cosine(self, memory):
        rows = np.arange(self.first_row[memory], self.first_row[memory + 1], dtype=np.uint32)
        out = np.empty(len(rows), np.float32)
        cosines(self.vectors, rows, self.query, out)
        return float(out.max())

    def near_in_time(self, memory, view, window, limit, hub):
        order = sorted(range(view), key=lambda m: (self.event_at[m], m))
        at = order.index(memory)
        sides = []
        for side in (order[:at][::-1], order[at + 1 :]):
            inside = [m for m in side if abs(self.event_at[m] - self.event_at[memory]) < window]
            sides.append([m for m in inside[:hub] if self.allowed[m]])
        ranked = sorted(
            (abs(int(self.event_at[m] - self.event_at[memory])), m, side, place)
            for side, members in enumerate(sides)
            for place, m in enumerate(members)
        )
        taken, counts = [], [0, 0]
        while ranked and len(taken) < limit:
            closest = [x for x in ranked if x[0] == ranked[0][0]]
            heads = [
                min((x for x in closest if x[2] == s), key=lambda x: x[3], default=None)
                for s in (0, 1)
            ]
            if heads[0] and heads[1]:
                chosen = heads[0] if counts[0] < counts[1] else heads[1]
            else:
                chosen = heads[0] or heads[1]
            ranked.remove(chosen)
            counts[chosen[2]] += 1
            taken.append((chosen[1], chosen[0]))
        return taken

    def neighbours(self, memory, view, o):
        """Every (neighbour, weight, whether its cosine counts), eagerly, from the definition."""
        for e in self.entities[memory]:
            members = [m for m in range(view) if e in self.entities[m]]
            newest = members[::-1][: o["hub"]]
            fresh = newest[: o["fresh"]]
            for m in {*newest, *(m for m in members if m in self.known)}:
                yield m, self.weights[e], m in fresh
        for m, w in zip(self.links[memory], self.link_weights[memory], strict=True):
            yield m, np.float32(w), False
        incoming = [
            (m, w)
            for m in range(view)
            for target, w in zip(self.links[m], self.link_weights[m], strict=True)
            if target == memory
        ]
        for m, w in incoming[::-1][: o["hub"]]:
            yield m, np.float32(w), False
        for m, dt in self.near_in_time(memory, view, o["window_us"], o["neighbours"], o["hub"]):
            yield m, max(np.float32(0.3), np.float32(1.0 - dt / o["window_us"])), False

    def eager(self, seeds, activations, view, o):
        cosine = {m: self.cosine(m) for m in range(view)}
        known = {m: cosine[m] if m in self.known else -math.inf for m in range(view)}
        heap = [(-np.float32(a), -known[m], -m) for m, a in zip(seeds, activations, strict=True)]
        heapq.heapify(heap)
        visited = {}
        while heap and len(visited) < o["budget"]:
            activation, _, memory = heapq.heappop(heap)
            activation, memory = -activation, -memory
            if memory in visited or not self.allowed[memory] or cosine[memory] < o["min_cosine"]:
                continue
            visited[memory] = float(activation)
            for m, weight, fresh in self.neighbours(memory, view, o):
                passed = activation * min(weight, np.float32(1)) * np.float32(o["decay"])
                if weight >= np.float32(o["min_weight"]) and passed > np.float32(o["threshold"]):
                    near = cosine[m] if fresh else known[m]
                    heapq.heappush(heap, (-passed, -near, -m))
        return list(visited), list(visited.values())

    def lazy(self, seeds, activations, view, o, epoch, scratch, without=()):
        mention_entity = flat(self.entities, np.uint32)
        mention_memory = flat([[m] * len(x) for m, x in enumerate(self.entities)], np.uint32)
        mention_previous, entity_head = thread(mention_entity, ENTITIES)
        link_target = flat(self.links, np.uint32)
        link_source = flat([[m] * len(x) for m, x in enumerate(self.links)], np.uint32)
        link_previous, link_head = thread(link_target, self.size)
        order = np.lexsort((np.arange(self.size), self.event_at))
        rank = np.empty(self.size, np.uint32)
        rank[order] = np.arange(self.size)
        none = frozen([], np.uint32)
        nowhere = frozen([], np.uint64)
        memories, reached = spread(
            (frozen(seeds, np.uint32), frozen(activations, np.float32)),
            (
                frozen(self.known, np.uint32),
                frozen([self.cosine(m) for m in self.known], np.float32),
            ),
            (
                nowhere if "entities" in without else offsets(self.entities),
                *(mention_entity, mention_memory, mention_previous, entity_head),
            ),
            self.weights,
            (
                nowhere if "links" in without else offsets(self.links),
                *(link_target, flat(self.link_weights, np.float32), link_source, link_previous),
                none if "links" in without else link_head,
            ),
            (frozen(order, np.uint32), frozen(rank, np.uint32), self.event_at),
            (self.first_row, self.vectors, self.query),
            self.allowed,
            view,
            tuple(o[name] for name in ("decay", "threshold", "min_weight", "min_cosine")),
            tuple(o[name] for name in ("window_us", "neighbours", "hub", "fresh")),
            o["budget"],
            (epoch, *scratch),
        )
        return memories.tolist(), reached.tolist()


options = st.fixed_dictionaries(
    {
        "decay": st.sampled_from([0.8, 0.7, 1.0]),
        "threshold": st.sampled_from([0.1, 0.3]),
        "min_weight": st.just(0.1),
        "window_us": st.sampled_from([24 * HOUR, 3 * HOUR]),
        "neighbours": st.sampled_from([0, 1, 3, 10]),
        "hub": st.sampled_from([1, 2, 5, 1024]),
        "fresh": st.sampled_from([0, 1, 3, 1024]),
        "min_cosine": st.sampled_from([-math.inf, 0.0]),
        "budget": st.sampled_from([0, 1, 5, 100]),
    }
)


@given(st.integers(0, 10**6), st.integers(1, 40), st.booleans(), options, st.data())
def test_lazy_spreading_equals_eager_best_first(seed, size, many, o, data):
    world = World(seed, size, many)
    view = data.draw(st.integers(1, size))
    world.know(view)
    seeds = world.rng.integers(0, view, 5).tolist()
    activations = world.rng.choice([0.9, 0.7, 0.5, 0.0], 5).tolist()
    scratch = np.zeros(size, np.uint32), np.zeros(ENTITIES, np.uint32)
    expected = world.eager(seeds, activations, view, o)
    for epoch in (1, 2 + size):  # the second query reuses the first one's scratch
        assert world.lazy(seeds, activations, view, o, epoch, scratch) == expected


@given(st.integers(0, 10**6), st.integers(1, 40), options)
def test_only_time_links_are_walked_without_the_others(seed, size, o):
    world = World(seed, size)
    o = o | {"decay": 0.7, "min_cosine": 0.1}
    world.know(size)
    scratch = np.zeros(size, np.uint32), np.zeros(ENTITIES, np.uint32)
    found = world.lazy([0, size - 1], [0.9, 0.4], size, o, 7, scratch, ("entities", "links"))
    world.entities = [[] for _ in range(size)]
    world.links = world.link_weights = world.entities
    assert found == world.eager([0, size - 1], [0.9, 0.4], size, o)


def test_lazy_spreading_equals_eager_best_first_when_the_heap_grows():
    o = {"decay": 0.8, "threshold": 0.1, "min_weight": 0.1, "window_us": 24 * HOUR}
    o |= {"neighbours": 10, "hub": 1024, "fresh": 9, "min_cosine": -math.inf, "budget": 500}
    world = World(3, 600)
    world.know(600)
    scratch = np.zeros(600, np.uint32), np.zeros(ENTITIES, np.uint32)
    expected = world.eager([5, 80, 300], [0.9, 0.8, 0.7], 600, o)
    assert len(expected[0]) > 400
    assert world.lazy([5, 80, 300], [0.9, 0.8, 0.7], 600, o, 1, scratch) == expected
